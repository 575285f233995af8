//! `events`: what happened, and what happens.

use std::time::Duration;

use clap::Args;
use proto::runtimecloud::v1::{Event, WatchEventsRequest};
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::cli::{
    Action,
    connection::Connect,
    failure::{Exit, Failure},
    note,
    output::{Output, stdout_width},
    text,
};

const RECONNECT_MIN: Duration = Duration::from_millis(100);
const RECONNECT_MAX: Duration = Duration::from_secs(5);

/// Show what happened, oldest first
///
/// With `--output json` each event is one object on a line of its own. To go on after an interruption,
/// give the last position that you have kept with `--after`.
#[derive(Debug, Args)]
pub struct Events {
    /// Go on with each new event; after a broken connection, with the next one
    #[arg(long, short = 'f')]
    follow: bool,

    /// Only events after this position
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    after: u64,

    /// Only events of this type, such as `WorkerPoolStateChanged`
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,

    /// Only events about the thing with this id
    #[arg(long, value_name = "ID")]
    subject: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Events {
    async fn run(mut self) -> Result<(), Failure> {
        let mut pause = RECONNECT_MIN;
        let mut is_told = false;
        let mut was_connected = false;
        loop {
            let position = self.after;
            let Err(failure) = self.watch(&mut was_connected).await else { return Ok(()) };
            let is_lost = failure.exit == Exit::Unreachable;
            if failure.is_silent || !is_lost || !self.follow || !was_connected {
                return Err(failure);
            }
            if self.after > position {
                (pause, is_told) = (RECONNECT_MIN, false);
            }
            if !is_told {
                note(&format!("{}; trying again", failure.message));
                is_told = true;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RECONNECT_MAX);
        }
    }
}

impl Events {
    /// Prints events until the stream ends, and remembers the last position.
    async fn watch(&mut self, was_connected: &mut bool) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure("watch events");
        let request = WatchEventsRequest {
            after: self.after,
            follow: self.follow,
            types: self.types.clone(),
            subject_id: self.subject.clone().unwrap_or_default(),
        };
        let mut events = session.events().watch(request).await.map_err(&failure)?.into_inner();
        *was_connected = true;
        loop {
            match events.message().await {
                Ok(Some(event)) => {
                    // It comes again after a lost connection whose last words were lost too.
                    if event.position > self.after {
                        self.print(&event)?;
                        self.after = event.position;
                    }
                }
                Ok(None) if self.follow => {
                    let message = format!("the host at {} ended the stream", session.endpoint);
                    return Err(Failure::new(Exit::Unreachable, message));
                }
                Ok(None) => return Ok(()),
                Err(status) if is_lost(&status) => {
                    let message = format!("lost the connection to {}", session.endpoint);
                    return Err(Failure::new(Exit::Unreachable, message));
                }
                Err(status) => return Err(failure(status)),
            }
        }
    }

    fn print(&self, event: &Event) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(self.output.json_line(&to_json(event))?);
        }
        Ok(self.output.line(&to_line(event, stdout_width()))?)
    }
}

/// The connection broke, or the host is going down.
fn is_lost(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
        || matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown)
}

pub fn to_json(event: &Event) -> Value {
    let data = serde_json::from_str(&event.data_json).unwrap_or(Value::Null);
    json!({
        "position": event.position,
        "id": event.id,
        "type": event.r#type,
        "time": text::time(event.time.as_ref()),
        "subject": {
            "kind": event.subject_kind,
            "id": event.subject_id,
            "name": event.subject_name,
        },
        "generation": event.generation,
        "actor": event.actor,
        "data": data,
    })
}

/// One line; cut where the terminal ends.
pub fn to_line(event: &Event, width: Option<u16>) -> String {
    let time = text::time(event.time.as_ref());
    let time = time.as_str().unwrap_or("-");
    let seconds = time.split('.').next().unwrap_or(time).trim_end_matches('Z');
    let data = match serde_json::from_str(&event.data_json) {
        Ok(Value::Object(data)) if !data.is_empty() => text::pairs(&data, "="),
        _ => String::new(),
    };
    let line = format!(
        "{:>7}  {seconds}Z  {:<24} {} {}  {}  {data}",
        event.position, event.r#type, event.subject_kind, event.subject_name, event.actor
    );
    let line = text::harmless(line.trim_end());
    match width {
        Some(width) => line.chars().take(usize::from(width)).collect(),
        None => line,
    }
}
