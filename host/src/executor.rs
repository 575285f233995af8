//! Does what a plan says: one idempotent call of a driver per action, and no choice left to make.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, future::BoxFuture, stream};

use crate::{
    causes::with_causes,
    drivers::{CapacityDriver, DriverError, RestartOrder},
    ids::{CapacityTargetId, WorkerId},
    places::Places,
    planner::{Action, Plan},
    pools::worker::Worker,
    records::Records,
};

/// Driver calls that are under way at once.
const CALLS_AT_ONCE: usize = 32;

/// What became of each worker that a plan names.
#[derive(Debug, Default)]
pub struct Outcome {
    pub started: Vec<WorkerId>,
    pub forgotten: Vec<WorkerId>,
    /// Told to stop or to start again, or evicted.
    pub stopped: Vec<WorkerId>,
    pub failed: Vec<(WorkerId, String)>,
}

/// Where the call goes.
struct Call<'a> {
    target: CapacityTargetId,
    worker: WorkerId,
    verb: Verb<'a>,
}

#[derive(Clone, Copy)]
enum Verb<'a> {
    Ensure(&'a Worker),
    Restart(RestartOrder),
    Stop(Option<Duration>),
    Forget,
}

/// Carries a plan out; `records` are those that the plan's decisions are stored in.
pub async fn execute(plan: &Plan, records: &Records, places: &Places) -> Outcome {
    let mut calls: Vec<BoxFuture<'_, _>> = Vec::new();
    for call in plan.actions.iter().filter_map(call) {
        calls.push(Box::pin(async move {
            let result = perform(&call, records, places).await;
            (call.worker, call.verb, result)
        }));
    }
    let mut done = stream::iter(calls).buffer_unordered(CALLS_AT_ONCE);
    let mut outcome = Outcome::default();
    while let Some((worker, verb, result)) = done.next().await {
        match (result, verb) {
            (Ok(()), Verb::Ensure(_)) => outcome.started.push(worker),
            (Ok(()), Verb::Forget) => outcome.forgotten.push(worker),
            (Ok(()), Verb::Restart(_) | Verb::Stop(_)) => outcome.stopped.push(worker),
            (Err(error), _) => outcome.failed.push((worker, with_causes(&error))),
        }
    }
    outcome
}

fn call(action: &Action) -> Option<Call<'_>> {
    let (worker, verb) = match action {
        Action::Add(worker) | Action::Ensure(worker) => (worker, Verb::Ensure(worker)),
        Action::Restart(worker) => {
            let order = RestartOrder { number: worker.restart, grace: worker.grace };
            (worker, Verb::Restart(order))
        }
        Action::Retire { worker, .. } | Action::Stop(worker) => (worker, Verb::Stop(worker.grace)),
        Action::Forget(worker) => (worker, Verb::Forget),
        Action::Evict { target, worker, stopped } => {
            let verb = if *stopped { Verb::Forget } else { Verb::Stop(None) };
            return Some(Call { target: *target, worker: *worker, verb });
        }
        Action::Advance(_) | Action::Dismiss(_) | Action::RemovePool(_) => return None,
    };
    Some(Call { target: worker.target, worker: worker.id, verb })
}

async fn perform(call: &Call<'_>, records: &Records, places: &Places) -> Result<(), DriverError> {
    // A target can not go while workers are on it.
    let Some(target) = records.capacity_targets.get(&call.target) else { return Ok(()) };
    let driver: Arc<dyn CapacityDriver> = places.driver(target)?;
    match call.verb {
        Verb::Ensure(worker) => driver.ensure(worker.id, &worker.template).await,
        Verb::Restart(order) => driver.restart(call.worker, order).await,
        Verb::Stop(grace) => driver.stop(call.worker, grace).await,
        Verb::Forget => driver.forget(call.worker).await,
    }
}
