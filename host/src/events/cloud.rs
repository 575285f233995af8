//! An event as a CloudEvent 1.0 in its JSON form: what leaves the host by other ways than gRPC.
//!
//! Invariant: the same event gives the same bytes, whenever and however it is sent.

use serde::Serialize;
use serde_json::Value;

use super::LoggedEvent;
use crate::ids::HostId;

/// The media type of [`json`].
pub const MEDIA_TYPE: &str = "application/cloudevents+json";

#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    subject: String,
    time: String,
    datacontenttype: &'static str,
    /// The position in the log, so that texts sort as numbers do.
    sequence: String,
    partitionkey: &'a str,
    actor: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i32>,
    subjectname: &'a str,
    data: Value,
}

/// The type of an event for the world, such as `dev.runtimecloud.QuotaChanged.v1`.
pub fn type_name(event: &LoggedEvent) -> String {
    format!("dev.runtimecloud.{}.v1", event.type_name)
}

pub fn json(event: &LoggedEvent, host: HostId) -> Result<String, serde_json::Error> {
    serde_json::to_string(&CloudEvent {
        specversion: "1.0",
        id: event.id.to_string(),
        source: format!("//{host}"),
        r#type: type_name(event),
        subject: format!("{}/{}", event.subject_kind, event.subject_id),
        time: event.time.to_string(),
        datacontenttype: "application/json",
        sequence: format!("{:020}", event.position),
        partitionkey: &event.subject_id,
        actor: &event.actor,
        // The attribute's type ends there.
        generation: i32::try_from(event.generation).ok().filter(|it| *it > 0),
        subjectname: &event.subject_name,
        data: serde_json::from_str(&event.data)?,
    })
}
