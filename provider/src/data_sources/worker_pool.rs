//! `runtimecloud_worker_pool`: how many workers are ready, and each worker.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed, worker};
use crate::{
    client::{Client, Noun as _},
    framework::{Attribute, BoxFuture, Context, Diagnostics, Nesting, Reported, Value},
    resources::{self, managed::report},
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
        ]
    }

    fn attributes_of_one(&self) -> Vec<Attribute> {
        let workers = worker::attributes();
        vec![Attribute::nested("workers", Nesting::List, "Its workers, by id.", workers).computed()]
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

    fn values_of_one<'a>(
        &'a self,
        context: &'a Context<Client>,
        pool: &'a api::WorkerPool,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Vec<(&'static str, Value)>, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            match client.workers(&pool.metadata().id, context).await {
                Ok(workers) => {
                    Ok(vec![("workers", Value::list(workers.iter().map(worker::value)))])
                }
                Err(error) => Err(report(&error, &[], diagnostics)),
            }
        })
    }
}
