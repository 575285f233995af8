//! A worker as data sources show it. Pure.

use proto::runtimecloud::v1 as api;

use super::observed;
use crate::{
    framework::{Attribute, Type, Value},
    resources::{self, attributes::text_or_null},
};

/// The phases that a worker can be in.
pub(super) const PHASES: [&str; 7] =
    ["pending", "starting", "running", "backoff", "stopping", "stopped", "lost"];

/// What is shown of a worker.
pub(super) fn attributes() -> [Attribute; 13] {
    [
        Attribute::string("id", "Its id.").computed(),
        Attribute::string("worker_pool", "Its pool, as `ENVIRONMENT/NAME`.").computed(),
        Attribute::string("capacity_target", "Name of the target that it is placed on.").computed(),
        Attribute::string(
            "phase",
            "`pending`, `starting`, `running`, `backoff`, `stopping`, `stopped` or `lost`.",
        )
        .computed(),
        Attribute::bool("ready", "Whether it is ready.").computed(),
        Attribute::string("reason", "Why it is in this phase, in one word.").computed(),
        Attribute::string("message", "Why it is in this phase, in a sentence.").computed(),
        observed::count("restarts", "How often its process was started again."),
        observed::count("pid", "Its process's id; null when none runs."),
        Attribute::value(
            "ports",
            Type::map(Type::Number),
            "Ports by name, on the target's machine.",
        )
        .computed(),
        observed::count("pool_generation", "The generation of the pool that it was made for."),
        observed::time("created_at", "When it was made, as RFC 3339 writes it."),
        observed::time("started_at", "When its process was started; null when none was."),
    ]
}

/// The value of [`attributes`].
pub(super) fn value(worker: &api::Worker) -> Value {
    Value::object([
        ("id", worker.id.as_str().into()),
        ("worker_pool", text_or_null(&worker.worker_pool)),
        ("capacity_target", text_or_null(&worker.capacity_target)),
        ("phase", resources::phase(worker).into()),
        ("ready", worker.ready.into()),
        ("reason", text_or_null(&worker.reason)),
        ("message", text_or_null(&worker.message)),
        ("restarts", worker.restarts.into()),
        ("pid", Some(worker.pid).filter(|pid| *pid != 0).into()),
        ("ports", worker.ports.clone().into()),
        ("pool_generation", worker.pool_generation.into()),
        ("created_at", observed::time_value(worker.created_at.as_ref())),
        ("started_at", observed::time_value(worker.started_at.as_ref())),
    ])
}
