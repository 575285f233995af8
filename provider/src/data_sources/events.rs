//! `runtimecloud_events`: what happened, from a position of the log on.

use futures_util::future::BoxFuture as Answer;
use proto::runtimecloud::v1::{self as api, events_client::EventsClient};
use tonic::{Request, Response, Status, transport::Channel};

use super::observed;
use crate::{
    client::Client,
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Nesting, Reported, Schema, Type,
        Validator, Value,
    },
    resources::{attributes::text_or_null, managed::report},
};

pub(super) struct Events;

/// How many are read unless told otherwise, and at most.
const LIMIT: u32 = 100;
const LIMIT_MAX: u32 = 1000;

impl DataSource<Client> for Events {
    fn type_name(&self) -> &'static str {
        "runtimecloud_events"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            "What happened on the host, oldest first, from a position of its log on. To go on later, \
             give `last_position` as the next `after`.",
        )
        .attributes([
            Attribute::string("subject_id", "Only events about the resource of this id.")
                .check(Validator::length(1..=128)),
            Attribute::value(
                "types",
                Type::set(Type::String),
                "Only events of these types, such as `WorkerReady`; all if left out.",
            ),
            Attribute::number("after", "Only events after this position; from the first if left out.")
                .check(Validator::Integer)
                .check(Validator::range(0..=u64::MAX)),
            Attribute::number("limit", "At most so many, up to 1000; 100 if left out.")
                .check(Validator::Integer)
                .check(Validator::range(1..=LIMIT_MAX)),
            Attribute::number(
                "last_position",
                "The position of the last event found; `after` when there is none.",
            )
            .computed(),
            Attribute::nested("events", Nesting::List, "What was found, oldest first.", event())
                .computed(),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let after = config.get("after").as_u64().unwrap_or(0);
            let message = api::WatchEventsRequest {
                after,
                follow: false,
                types: config.get("types").strings(),
                subject_id: config.text("subject_id").to_owned(),
            };
            let most = config.get("limit").as_u32().unwrap_or(LIMIT).min(LIMIT_MAX);
            let wanted = (message, most as usize);
            let events = client
                .ask("read the events", context, wanted, first_events)
                .await
                .map_err(|error| report(&error, &self.schema().attributes, diagnostics))?;
            let last = events.last().map_or(after, |event| event.position);
            Ok(Value::object([
                ("last_position", last.into()),
                ("events", Value::list(events.iter().map(event_value))),
            ]))
        })
    }
}

/// The first events of a stream; the rest is not read.
fn first_events(
    channel: Channel,
    request: Request<(api::WatchEventsRequest, usize)>,
) -> Answer<'static, Result<Response<Vec<api::Event>>, Status>> {
    Box::pin(async move {
        let (metadata, extensions, (message, most)) = request.into_parts();
        let request = Request::from_parts(metadata, extensions, message);
        let mut stream = EventsClient::new(channel).watch(request).await?.into_inner();
        let mut events = Vec::new();
        while events.len() < most
            && let Some(event) = stream.message().await?
        {
            events.push(event);
        }
        Ok(Response::new(events))
    })
}

fn event() -> [Attribute; 10] {
    let text = |name, description| Attribute::string(name, description).computed();
    [
        observed::count("position", "Its place in the log; grows with each event."),
        text("id", "Its id."),
        text("type", "What happened, such as `WorkerReady`."),
        observed::time("time", "When, as RFC 3339 writes it."),
        text("subject_kind", "What kind of thing it happened to."),
        text("subject_id", "That thing's id."),
        text("subject_name", "That thing's name."),
        observed::count("generation", "The generation of its intent; null where there is none."),
        text("actor", "Who caused it: the name of a token, or `host`."),
        text("data", "What else is known of it, as JSON; read it with `jsondecode`."),
    ]
}

fn event_value(event: &api::Event) -> Value {
    Value::object([
        ("position", event.position.into()),
        ("id", event.id.as_str().into()),
        ("type", event.r#type.as_str().into()),
        ("time", observed::time_value(event.time.as_ref())),
        ("subject_kind", text_or_null(&event.subject_kind)),
        ("subject_id", text_or_null(&event.subject_id)),
        ("subject_name", text_or_null(&event.subject_name)),
        ("generation", Some(event.generation).filter(|it| *it != 0).into()),
        ("actor", text_or_null(&event.actor)),
        ("data", text_or_null(&event.data_json)),
    ])
}
