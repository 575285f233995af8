//! Shared parts of messages, to and from plain data.

use std::time::Duration;

use jiff::Timestamp;
use proto::runtimecloud::v1;

use super::View;
use crate::{
    conditions::{self, Condition, Status},
    pools::template::Amounts,
    resource::Meta,
    violations::Violations,
};

pub fn timestamp(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}

pub fn read_timestamp(
    field: &str,
    time: &prost_types::Timestamp,
    found: &mut Violations,
) -> Option<Timestamp> {
    let read = Timestamp::new(time.seconds, time.nanos).ok();
    if read.is_none() || !(0..1_000_000_000).contains(&time.nanos) {
        found.add(field, "it is not a time between the years -9999 and 9999");
        return None;
    }
    read
}

pub fn duration(duration: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}

/// A duration of zero or more; what is absent stays absent.
pub fn read_duration(
    field: &str,
    duration: Option<&prost_types::Duration>,
    found: &mut Violations,
) -> Option<Duration> {
    let duration = duration?;
    let seconds = u64::try_from(duration.seconds);
    let nanos = u32::try_from(duration.nanos);
    match (seconds, nanos) {
        (Ok(seconds), Ok(nanos)) if nanos < 1_000_000_000 => Some(Duration::new(seconds, nanos)),
        _ => {
            found.add(field, "it is negative or malformed: give a duration of zero or more");
            None
        }
    }
}

pub fn amounts(amounts: &Amounts) -> v1::Amounts {
    v1::Amounts { amounts: amounts.clone() }
}

pub fn read_amounts(amounts: Option<v1::Amounts>) -> Amounts {
    amounts.map(|amounts| amounts.amounts).unwrap_or_default()
}

/// Empty means absent.
pub fn text(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The specification, or a fault at its field.
pub fn spec<T: Default>(spec: Option<T>, found: &mut Violations) -> T {
    if spec.is_none() {
        found.add("spec", "it is missing: give a specification");
    }
    spec.unwrap_or_default()
}

pub fn metadata(id: String, meta: &Meta) -> v1::Metadata {
    v1::Metadata {
        id,
        name: meta.name.clone(),
        generation: meta.generation,
        revision: meta.revision,
        labels: meta.labels.clone(),
        created_at: Some(timestamp(meta.created_at)),
        updated_at: Some(timestamp(meta.updated_at)),
        deleting_since: meta.deleting_since.map(timestamp),
    }
}

/// What is said of a resource, with the times on record.
pub fn conditions(
    view: &View,
    (id, generation): (&str, u64),
    said: &[Condition],
) -> Vec<v1::Condition> {
    let recorded = view.records.conditions.get(id);
    let condition = |it: &Condition| v1::Condition {
        r#type: it.name.to_owned(),
        status: match it.status {
            Status::True => v1::ConditionStatus::True,
            Status::False => v1::ConditionStatus::False,
            Status::Unknown => v1::ConditionStatus::Unknown,
        }
        .into(),
        reason: it.reason.clone(),
        message: it.message.clone(),
        changed_at: Some(timestamp(conditions::changed_at(recorded, it, view.now))),
        observed_generation: generation,
    };
    said.iter().map(condition).collect()
}
