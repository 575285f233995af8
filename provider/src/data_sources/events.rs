//! `runtimecloud_events`: what happened, a part of the log.

use futures_util::future::BoxFuture as Answer;
use proto::runtimecloud::v1::{self as api, events_client::EventsClient};
use tonic::{Request, Response, Status, transport::Channel};

use super::observed;
use crate::{
    client::{Client, noun::PAGE_BYTES_MAX},
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Nesting, Reported, Schema, Type,
        Validator, Value,
    },
    resources::{
        attributes::{self, text_or_null},
        managed::report,
    },
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
            "What happened on the host, from either end of its log. To go on later, give \
             `last_position` as the next `after`. The host keeps events for a while only; what was \
             asked for after a position that is gone is an error.",
        )
        .attributes([
            Attribute::string("subject_id", "Only events about the resource of this id.")
                .check(Validator::length(1..=128)),
            Attribute::value(
                "types",
                Type::set(Type::String),
                "Only events of these types, such as `WorkerPoolStateChanged`; all if left out.",
            ),
            Attribute::number(
                "after",
                "Only events after this position; from the first if left out.",
            )
            .check(Validator::Integer)
            .check(Validator::range(0..=u64::MAX)),
            attributes::instant(
                "since",
                "Only events of this time or later, as RFC 3339 writes it, such as \
                 `2030-01-01T00:00:00Z`.",
            ),
            Attribute::bool(
                "newest_first",
                "Whether to begin with the last event. Otherwise with the first.",
            ),
            Attribute::number("limit", "At most so many, up to 1000; 100 if left out.")
                .check(Validator::Integer)
                .check(Validator::range(1..=LIMIT_MAX)),
            Attribute::number(
                "last_position",
                "The highest position of what was found; `after` when nothing was.",
            )
            .computed(),
            Attribute::nested(
                "events",
                Nesting::List,
                "What was found, in the order asked for.",
                event(),
            )
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
            let mut left = config.get("limit").as_u32().unwrap_or(LIMIT).min(LIMIT_MAX);
            let mut message = api::ListEventsRequest {
                after,
                types: config.get("types").strings(),
                subject_id: config.text("subject_id").to_owned(),
                since: attributes::instant_to_api(config.get("since")),
                newest_first: config.get("newest_first").as_bool().unwrap_or(false),
                page_size: left,
                page_token: String::new(),
            };
            let mut events = Vec::new();
            while left > 0 {
                message.page_size = left;
                let page = client
                    .ask("read the events", context, message.clone(), list)
                    .await
                    .map_err(|error| report(&error, &self.schema().attributes, diagnostics))?;
                left = left.saturating_sub(u32::try_from(page.events.len()).unwrap_or(u32::MAX));
                events.extend(page.events);
                if page.next_page_token.is_empty() {
                    break;
                }
                message.page_token = page.next_page_token;
            }
            let last = events.iter().map(|event| event.position).max().unwrap_or(after);
            Ok(Value::object([
                ("last_position", last.into()),
                ("events", Value::list(events.iter().map(event_value))),
            ]))
        })
    }
}

fn list(
    channel: Channel,
    request: Request<api::ListEventsRequest>,
) -> Answer<'static, Result<Response<api::ListEventsResponse>, Status>> {
    Box::pin(async move {
        EventsClient::new(channel).max_decoding_message_size(PAGE_BYTES_MAX).list(request).await
    })
}

fn event() -> [Attribute; 10] {
    let text = |name, description| Attribute::string(name, description).computed();
    [
        observed::count("position", "Its place in the log; grows with each event."),
        text("id", "Its id."),
        text("type", "What happened, such as `WorkerPoolStateChanged`."),
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
