//! `events`: what happened, and what happens.

use std::{collections::BTreeMap, time::Duration};

use clap::Args;
use jiff::Timestamp;
use proto::runtimecloud::v1::{Event, ListEventsRequest, ListEventsResponse, WatchEventsRequest};
use serde_json::{Map, Value, json};
use tonic::Code;

use crate::cli::{
    Action,
    connection::{Connect, Session},
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

    /// Only the last ones, so many of them
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,

    /// Only events since a time, or of the last length of time, such as `2h`
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Timestamp>,

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
        if self.last.is_some() || self.since.is_some() {
            self.list().await?;
            if !self.follow {
                return Ok(());
            }
        }
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

/// A time, or how long ago it was.
fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let ago = proto::duration::parse(text)
        .map_err(|why| format!("{why}, or a time such as `2030-01-31T12:00:00Z`"))?;
    Timestamp::now().checked_sub(ago).map_err(|_| "it is too long ago".to_owned())
}

impl Events {
    /// Prints what is in the log already, and remembers how far that was.
    async fn list(&mut self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        if let Some(last) = self.last {
            let events = self.last_events(&session, last).await?;
            return events.iter().try_for_each(|event| self.print(event));
        }
        let mut request = ListEventsRequest { newest_first: false, ..self.request() };
        let mut position = None;
        loop {
            let page = self.page(&session, request.clone()).await?;
            page.events.iter().try_for_each(|event| self.print(event))?;
            // What came while the pages were read is followed, even if it was on one of them.
            let last = page.events.last().map(|event| event.position);
            position = position.max(last).or(Some(page.position));
            if page.next_page_token.is_empty() {
                self.after = position.unwrap_or(self.after);
                return Ok(());
            }
            request.page_token = page.next_page_token;
        }
    }

    fn request(&self) -> ListEventsRequest {
        let since = self.since.map(|time| prost_types::Timestamp {
            seconds: time.as_second(),
            nanos: time.subsec_nanosecond(),
        });
        ListEventsRequest {
            after: self.after,
            types: self.types.clone(),
            subject_id: self.subject.clone().unwrap_or_default(),
            since,
            newest_first: true,
            page_size: 0,
            page_token: String::new(),
        }
    }

    /// The last events, oldest first.
    async fn last_events(&mut self, session: &Session, last: u32) -> Result<Vec<Event>, Failure> {
        let last = last as usize;
        let mut request = self.request();
        let (mut events, mut position) = (Vec::new(), None);
        while events.len() < last {
            request.page_size = u32::try_from(last - events.len()).unwrap_or(u32::MAX);
            let page = self.page(session, request.clone()).await?;
            position = position.or(Some(page.position));
            events.extend(page.events);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        // What came while the pages were read is followed.
        self.after = position.unwrap_or(self.after);
        events.reverse();
        Ok(events)
    }

    async fn page(
        &self,
        session: &Session,
        request: ListEventsRequest,
    ) -> Result<ListEventsResponse, Failure> {
        let answer = session.events().list(request).await;
        answer.map_err(session.failure("list events")).map(tonic::Response::into_inner)
    }

    /// Prints events until the stream ends, and remembers the last position.
    async fn watch(&mut self, was_connected: &mut bool) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure("watch events");
        let request = WatchEventsRequest {
            after: self.after,
            follow: self.follow,
            types: self.types.clone(),
            subject_id: self.subject.clone().unwrap_or_default(),
            bookmarks: false,
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
                Err(status) => {
                    let is_cut = matches!(status.code(), Code::Cancelled | Code::Unknown);
                    let failure = failure(status);
                    if is_cut || failure.exit == Exit::Unreachable {
                        let message = format!("lost the connection to {}", session.endpoint);
                        return Err(Failure::new(Exit::Unreachable, message));
                    }
                    return Err(failure);
                }
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
        Ok(Value::Object(data)) => summary(&data),
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

/// What an event says, short: long values by what matters of them, the rest by their number.
fn summary(data: &Map<String, Value>) -> String {
    let said = data.iter().filter_map(|(name, value)| match value {
        Value::Null => None,
        Value::String(text) => Some(format!("{name}={text}")),
        Value::Bool(_) | Value::Number(_) => Some(format!("{name}={value}")),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => Some(format!("{name}={}", items.len())),
        Value::Object(entries) if entries.is_empty() => None,
        Value::Object(entries) => Some(summary_of_entries(name, entries)),
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Conditions by name, workers by the number in each phase, anything else by its number.
fn summary_of_entries(name: &str, entries: &Map<String, Value>) -> String {
    let word = |value: &Value, field: &str| value.get(field)?.as_str().map(str::to_owned);
    let conditions = entries.iter().map(|(name, value)| {
        Some(format!("{name}={}({})", word(value, "status")?, word(value, "reason")?))
    });
    if let Some(conditions) = conditions.collect::<Option<Vec<_>>>() {
        return conditions.join(" ");
    }
    let mut phases = BTreeMap::new();
    for value in entries.values() {
        let phase = if value.is_null() { Some("gone".to_owned()) } else { word(value, "phase") };
        let Some(phase) = phase else { return format!("{name}={}", entries.len()) };
        *phases.entry(phase).or_insert(0_u32) += 1;
    }
    let phases: Vec<_> = phases.iter().map(|(phase, count)| format!("{count} {phase}")).collect();
    format!("{name}={}", phases.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(data: &Value) -> String {
        let event = Event {
            position: 7,
            r#type: "ObservedStateChanged".to_owned(),
            time: Some(prost_types::Timestamp { seconds: 1_800_000_000, nanos: 5 }),
            subject_kind: "worker_pool".to_owned(),
            subject_name: "dev/web".to_owned(),
            actor: "host".to_owned(),
            data_json: data.to_string(),
            ..Event::default()
        };
        to_line(&event, None)
    }

    #[test]
    fn an_event_is_one_line() {
        let data = json!({
            "conditions": {"Ready": {"status": "true", "reason": "AllWorkersReady", "message": "…"}},
            "workers": {"a": {"phase": "running"}, "b": {"phase": "running"}, "c": null},
            "size": 3, "start": [1, 2], "stop": {}, "others": {"a": "why"},
            "note": "a\u{1b}[2J", "none": null,
        });
        let begin =
            "      7  2027-01-15T08:00:00Z  ObservedStateChanged     worker_pool dev/web  host";
        let said = "Ready=true(AllWorkersReady) note=a\u{fffd}[2J others=1 size=3 start=2 \
                    workers=1 gone, 2 running";
        assert_eq!(line(&data), format!("{begin}  {said}"));
        assert_eq!(line(&json!("no object")), begin);
    }

    #[test]
    fn a_line_ends_where_the_terminal_does() {
        let event =
            Event { data_json: json!({"a": "b".repeat(300)}).to_string(), ..Event::default() };
        assert_eq!(to_line(&event, Some(40)).chars().count(), 40);
        assert!(to_line(&event, None).chars().count() > 300);
    }
}
