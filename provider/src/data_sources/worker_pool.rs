//! `runtimecloud_worker_pool`: how many workers are ready, and each worker.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    client::{Client, Noun as _},
    framework::{Attribute, BoxFuture, Context, Diagnostics, Nesting, Reported, Type, Value},
    resources::{self, attributes::text_or_null, managed::report},
};

pub(super) struct WorkerPool;

impl Look for WorkerPool {
    type Kind = resources::WorkerPool;
    const KIND: resources::WorkerPool = resources::WorkerPool;
    const DESCRIPTION: &'static str = "A worker pool: what it runs, how many of its workers are \
        ready now, and each of them with its ports.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            observed::count("worker_count", "How many workers there are."),
            observed::count("ready_worker_count", "Of those, how many are ready."),
            observed::count(
                "current_worker_count",
                "Of the ready ones, how many run what the pool says at present.",
            ),
            workers(),
        ]
    }

    fn conditions<'a>(&self, pool: &'a api::WorkerPool) -> &'a [api::Condition] {
        pool.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, pool: &api::WorkerPool) -> Vec<(&'static str, Value)> {
        let observed = pool.observed.clone().unwrap_or_default();
        vec![
            ("worker_count", observed.workers.into()),
            ("ready_worker_count", observed.ready_workers.into()),
            ("current_worker_count", observed.current_workers.into()),
        ]
    }

    fn more<'a>(
        &'a self,
        context: &'a Context<Client>,
        pool: &'a api::WorkerPool,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Vec<(&'static str, Value)>, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            match client.workers(&pool.metadata().id, context).await {
                Ok(workers) => Ok(vec![("workers", Value::list(workers.iter().map(worker)))]),
                Err(error) => Err(report(&error, &[], diagnostics)),
            }
        })
    }
}

fn workers() -> Attribute {
    Attribute::nested(
        "workers",
        Nesting::List,
        "Its workers, by id.",
        [
            Attribute::string("id", "Its id.").computed(),
            Attribute::string("capacity_target", "Name of the target that it is placed on.")
                .computed(),
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
        ],
    )
    .computed()
}

fn worker(worker: &api::Worker) -> Value {
    Value::object([
        ("id", worker.id.as_str().into()),
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
