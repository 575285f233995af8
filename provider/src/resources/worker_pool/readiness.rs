//! When a worker counts as ready: the `readiness` attribute.

use proto::runtimecloud::v1::{self as api, readiness::Check};

use crate::{
    framework::{Attribute, Validator, Value},
    resources::attributes::{PAUSE, command, text_or_null, time, time_from_api, time_to_api},
};

pub(super) fn attribute() -> Attribute {
    Attribute::object(
        "readiness",
        "When a worker counts as ready, and when no longer: exactly one of `http`, `tcp` and \
         `command`. If left out, a worker is ready as soon as its process runs.",
        [
            Attribute::object(
                "http",
                "A GET is answered with a status of 200 to 399.",
                [
                    port(),
                    Attribute::string("path", "What is asked for. `/` if left out.")
                        .default("/")
                        .check(Validator::pattern(
                            "a path that begins with `/`, of printable ASCII without spaces",
                            is_path,
                        )),
                ],
            ),
            Attribute::object("tcp", "A connection is accepted.", [port()]),
            command(
                "A program and its arguments, run beside the worker with its variables, exits \
                 with 0.",
            ),
            time("interval", "Time between two checks. `1s` if left out.")
                .default("1s")
                .check(PAUSE),
            time("timeout", "How long one check may take. `1s` if left out.")
                .default("1s")
                .check(PAUSE),
            Attribute::number(
                "failure_threshold",
                "Failed checks in a row after which a ready worker is not ready. `3` if left out.",
            )
            .default(3_u32)
            .check(Validator::Integer)
            .check(Validator::range(1_u32..=1_000)),
        ],
    )
    .check(Validator::ExactlyOneOf(&["http", "tcp", "command"]))
}

pub(super) fn spec(value: &Value) -> Option<api::Readiness> {
    if !value.is_set() {
        return None;
    }
    let (http, tcp, command) = (value.get("http"), value.get("tcp"), value.get("command"));
    let check = if http.is_set() {
        let (port, path) = (http.text("port").to_owned(), http.text("path").to_owned());
        Some(Check::Http(api::HttpCheck { port, path }))
    } else if tcp.is_set() {
        Some(Check::Tcp(api::TcpCheck { port: tcp.text("port").to_owned() }))
    } else {
        Some(Check::Command(api::CommandCheck { command: command.strings() }))
    };
    Some(api::Readiness {
        check,
        interval: time_to_api(value.get("interval")),
        timeout: time_to_api(value.get("timeout")),
        failure_threshold: value.get("failure_threshold").as_u32().unwrap_or_default(),
    })
}

pub(super) fn value(readiness: Option<&api::Readiness>) -> Value {
    let Some(readiness) = readiness else { return Value::Null };
    let (mut http, mut tcp, mut command) = (Value::Null, Value::Null, Value::Null);
    match readiness.check.clone() {
        Some(Check::Http(check)) => {
            http =
                Value::object([("port", check.port.into()), ("path", text_or_null(&check.path))]);
        }
        Some(Check::Tcp(check)) => tcp = Value::object([("port", check.port.into())]),
        Some(Check::Command(check)) => command = check.command.into(),
        None => {}
    }
    Value::object([
        ("http", http),
        ("tcp", tcp),
        ("command", command),
        ("interval", time_from_api(readiness.interval.as_ref())),
        ("timeout", time_from_api(readiness.timeout.as_ref())),
        ("failure_threshold", readiness.failure_threshold.into()),
    ])
}

fn port() -> Attribute {
    Attribute::string("port", "Name of one of the worker's `ports`.").required()
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= 2048 && text.bytes().all(|b| b.is_ascii_graphic())
}
