//! `describe`: all about one thing, for people.

use std::fmt::Write;

use clap::Args;
use jiff::Timestamp;
use proto::runtimecloud::v1::{Event, GetRequest, ListEventsRequest, Worker};
use serde_json::{Map, Value, json};

use crate::cli::{
    Action,
    client::Filter,
    commands::{events, get::show_tokens},
    connection::{Connect, Session},
    failure::Failure,
    kinds::{self, Declared, Kind, Resource},
    output::{Output, stdout_width, table},
    text,
};

const EVENTS_SHOWN: u32 = 10;

/// Show all about one thing: what was asked, what is, why, and what happened
#[derive(Debug, Args)]
pub struct Describe {
    /// What kind of thing it is
    #[arg(value_parser = Kind::parse)]
    kind: Kind,

    /// Its name or id; the name of a pool or a lease is `ENVIRONMENT/NAME`
    key: String,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Describe {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let output = self.output;
        match self.kind {
            Kind::Declared(kind) => describe(&session, output, (kind, &self.key)).await,
            Kind::Worker => describe_worker(&session, output, self.key).await,
            Kind::Token => {
                let key = Some(self.key);
                show_tokens(&session, output, (key, &Filter::default())).await
            }
        }
    }
}

/// Everything that is told about a resource.
pub struct Picture {
    pub resource: Resource,
    /// Of a pool.
    pub workers: Vec<Worker>,
    /// The last ones.
    pub events: Vec<Event>,
}

async fn describe(
    session: &Session,
    output: Output,
    (kind, key): (Declared, &str),
) -> Result<(), Failure> {
    let failure = session.failure(format!("describe {kind} `{key}`"));
    let resource = session.get(kind, key).await.map_err(&failure)?;
    let workers = if kind == Declared::WorkerPool {
        let filter = Filter { parent: resource.metadata.id.clone(), ..Filter::default() };
        session.list_workers(&filter).await.map_err(&failure)?
    } else {
        Vec::new()
    };
    let events = last_events(session, &resource.metadata.id).await.map_err(&failure)?;
    let picture = Picture { resource, workers, events };
    if output.is_json() {
        return Ok(output.json(&picture.json())?);
    }
    Ok(output.line(picture.text(Timestamp::now(), stdout_width()).trim_end())?)
}

async fn describe_worker(session: &Session, output: Output, key: String) -> Result<(), Failure> {
    let failure = session.failure(format!("describe worker `{key}`"));
    let worker = session.workers().get(GetRequest { key }).await.map_err(failure)?.into_inner();
    let json = kinds::worker::json(&worker);
    if output.is_json() {
        return Ok(output.json(&json)?);
    }
    let mut text = String::new();
    print_map(&mut text, json.as_object().unwrap_or(&Map::new()), 0);
    Ok(output.line(text.trim_end())?)
}

async fn last_events(session: &Session, id: &str) -> Result<Vec<Event>, tonic::Status> {
    let request = ListEventsRequest {
        subject_id: id.to_owned(),
        newest_first: true,
        page_size: EVENTS_SHOWN,
        ..ListEventsRequest::default()
    };
    let mut last = session.events().list(request).await?.into_inner().events;
    last.reverse();
    Ok(last)
}

impl Picture {
    pub fn json(&self) -> Value {
        let mut object = self.resource.json();
        if self.resource.kind == Declared::WorkerPool {
            object["workers"] = self.workers.iter().map(kinds::worker::json).collect();
        }
        object["events"] = self.events.iter().map(events::to_json).collect();
        object
    }

    pub fn text(&self, now: Timestamp, width: Option<u16>) -> String {
        let Resource { kind, key, metadata, spec, observed, .. } = &self.resource;
        let time = |time: Option<&prost_types::Timestamp>| {
            let age = text::age(time, now);
            format!("{} ({age} ago)", text::time(time).as_str().unwrap_or("-"))
        };
        let mut head = vec![
            ("Kind", kind.code().to_owned()),
            ("Name", key.clone()),
            ("Id", metadata.id.clone()),
            ("Labels", text::pairs(&labels(&self.resource), "=")),
            ("Generation", metadata.generation.to_string()),
            ("Revision", metadata.revision.to_string()),
            ("Created", time(metadata.created_at.as_ref())),
            ("Updated", time(metadata.updated_at.as_ref())),
        ];
        if let Some(since) = &metadata.deleting_since {
            head.push(("Deleting", time(Some(since))));
        }
        let mut text = String::new();
        for (name, value) in head {
            line(&mut text, &format!("{:<12}{}", format!("{name}:"), text::harmless(&value)));
        }
        line(&mut text, "\nAsked for:");
        print_map(&mut text, spec, 1);
        line(&mut text, "\nObserved:");
        print_map(&mut text, observed, 1);
        self.conditions(&mut text, now, width);
        self.workers(&mut text, now, width);
        line(&mut text, "\nLast events:");
        if self.events.is_empty() {
            line(&mut text, "  none");
        }
        for event in &self.events {
            line(&mut text, &events::to_line(event, width));
        }
        text
    }

    fn conditions(&self, text: &mut String, now: Timestamp, width: Option<u16>) {
        line(text, "\nConditions:");
        let rows = self.resource.conditions.iter().map(|condition| {
            let age = text::age(condition.changed_at.as_ref(), now);
            vec![
                condition.r#type.clone(),
                text::status(condition.status()).to_owned(),
                condition.reason.clone(),
                age,
                condition.message.clone(),
            ]
        });
        text.push_str(&table(
            &["TYPE", "HOLDS", "REASON", "SINCE", "MESSAGE"],
            rows.collect(),
            width,
        ));
    }

    fn workers(&self, text: &mut String, now: Timestamp, width: Option<u16>) {
        if self.resource.kind != Declared::WorkerPool {
            return;
        }
        line(text, "\nWorkers:");
        let rows = self.workers.iter().map(|worker| kinds::worker::row(worker, now)).collect();
        text.push_str(&table(kinds::worker::HEADERS, rows, width));
        for worker in self.workers.iter().filter(|worker| !worker.message.is_empty()) {
            line(text, &format!("{}: {}", worker.id, text::harmless(&worker.message)));
        }
    }
}

fn labels(resource: &Resource) -> Map<String, Value> {
    resource.metadata.labels.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Fields one below the other, those of an object further in.
fn print_map(text: &mut String, map: &Map<String, Value>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, value) in map {
        let printed = match value {
            Value::Object(inner) if !inner.is_empty() => {
                if let Some(chosen) = choice(inner) {
                    line(text, &format!("{indent}{name}: {chosen}"));
                    continue;
                }
                line(text, &format!("{indent}{name}:"));
                print_map(text, inner, depth + 1);
                continue;
            }
            Value::Object(_) => "none".to_owned(),
            Value::Null => "-".to_owned(),
            Value::String(string) => text::harmless(string),
            other => other.to_string(),
        };
        // Writing to a string can not fail.
        let _always = writeln!(text, "{indent}{name}: {printed}");
    }
}

/// What is chosen by an object of the form `{ process = {} }`.
fn choice(object: &Map<String, Value>) -> Option<&str> {
    match object.iter().next() {
        Some((chosen, Value::Object(inner))) if object.len() == 1 && inner.is_empty() => {
            Some(chosen)
        }
        _ => None,
    }
}
