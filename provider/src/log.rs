//! The log: one JSON object a line on standard error, in the form the CLI reads.
//!
//! `TF_LOG_PROVIDER_<NAME>`, else `TF_LOG_PROVIDER`, else `TF_LOG` gives the level; without any there
//! is no log. Log types, paths and numbers; never a value of a configuration or state.

use crate::handshake::Environment;
use serde_json::{Map, Value as Json};
use std::{
    fmt,
    io::{self, Write},
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};
use tracing_subscriber::{
    Layer, Registry,
    filter::Targets,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// Lines are cut here: the CLI reads up to 64 KiB.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// Starts logging for the provider called `name`, at the level that the environment asks for.
pub fn start(name: &str, environment: Environment<'_>) {
    let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
    let asked = [own.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]
        .iter()
        .filter_map(|name| environment(name))
        .find(|level| !level.is_empty());
    let level = asked.map_or(LevelFilter::OFF, |level| parse_level(&level));
    if level == LevelFilter::OFF {
        return;
    }
    // Libraries write down what passes through them, tokens included: only their troubles are logged.
    let ours = env!("CARGO_CRATE_NAME");
    let filter = Targets::new().with_target(ours, level).with_default(level.min(LevelFilter::WARN));
    let layer = Lines { name: name.to_owned() }.with_filter(filter);
    // Fails only where logging has been started before, in tests.
    let _already = tracing::subscriber::set_global_default(Registry::default().with(layer));
}

/// Puts panics into the log, where there would be text that the CLI can't read.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(caller = place, "panic: {message}");
    }));
}

fn parse_level(level: &str) -> LevelFilter {
    match level.to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "DEBUG" => LevelFilter::DEBUG,
        "INFO" => LevelFilter::INFO,
        "WARN" => LevelFilter::WARN,
        "ERROR" => LevelFilter::ERROR,
        // JSON asks for everything, and so do the CLIs when they don't know the level.
        _ => LevelFilter::TRACE,
    }
}

struct Lines {
    name: String,
}

/// The fields of a span, kept for the events within it.
struct Fields(Map<String, Json>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(
        &self,
        attributes: &span::Attributes<'_>,
        id: &span::Id,
        context: Context<'_, S>,
    ) {
        let mut fields = Map::new();
        attributes.record(&mut Collect(&mut fields));
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Fields(fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Map::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(Fields(fields)) = span.extensions().get() {
                line.extend(fields.clone());
            }
        }
        event.record(&mut Collect(&mut line));
        let message = match line.remove("message") {
            Some(Json::String(message)) => cut(message),
            _ => String::new(),
        };
        let now = jiff::Timestamp::now();
        line.insert("@level".to_owned(), level_name(*event.metadata().level()).into());
        line.insert("@message".to_owned(), message.into());
        line.insert("@timestamp".to_owned(), format!("{now:.6}").into());
        line.insert("@module".to_owned(), self.name.clone().into());
        let mut text = Json::Object(line).to_string();
        text.push('\n');
        // With nobody left to read it, a log line has nowhere to go.
        let _unread = io::stderr().lock().write_all(text.as_bytes());
    }
}

struct Collect<'a>(&'a mut Map<String, Json>);

impl Visit for Collect<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if !value.is_empty() {
            self.0.insert(field.name().to_owned(), value.into());
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").into());
    }
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::TRACE => "trace",
        Level::DEBUG => "debug",
        Level::INFO => "info",
        Level::WARN => "warn",
        Level::ERROR => "error",
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX));
    }
    text
}
