//! What is true of a worker pool, from intent, decided workers and the last observation.

use super::{model::WorkerPool, worker::Worker};
use crate::{
    conditions::{Condition, Status},
    drivers::{SeenPhase, SeenWorker},
    observed::Observed,
    planner::{WaitReason, Waiting},
    records::Records,
};

/// Counts of a pool's workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// That shall run.
    pub workers: u32,
    pub ready: u32,
    /// Ready, and running what the pool says at present.
    pub current: u32,
    /// That shall stop and are not gone yet.
    pub leaving: u32,
}

pub fn tally(pool: &WorkerPool, records: &Records, observed: &Observed) -> Tally {
    let template = records.template(pool);
    let mut tally = Tally::default();
    for worker in records.workers_of(pool.id) {
        if !worker.runs() {
            tally.leaving += 1;
            continue;
        }
        tally.workers += 1;
        if observed.worker(worker.target, worker.id).is_some_and(|seen| seen.ready) {
            tally.ready += 1;
            tally.current += u32::from(template.as_ref() == Some(&worker.template));
        }
    }
    tally
}

pub fn is_ready(pool: &WorkerPool, records: &Records, observed: &Observed) -> bool {
    is_all_ready(pool, tally(pool, records, observed))
}

fn is_all_ready(pool: &WorkerPool, tally: Tally) -> bool {
    pool.meta.deleting_since.is_none()
        && tally.leaving == 0
        && tally.workers == pool.spec.size
        && tally.current == pool.spec.size
}

/// `Ready` and `Progressing`.
pub fn conditions(pool: &WorkerPool, records: &Records, observed: &Observed) -> Vec<Condition> {
    let (size, tally) = (pool.spec.size, tally(pool, records, observed));
    let Tally { workers, ready, current, leaving } = tally;
    if is_all_ready(pool, tally) {
        let message = format!("{size} of {size} workers are ready");
        return vec![
            Condition::new("Ready", Status::True, "AllWorkersReady", message),
            Condition::new("Progressing", Status::False, "Settled", "nothing is left to do"),
        ];
    }
    let Cause { reason, message: why, is_stuck } = cause(pool, records, observed);
    let mut message = format!("{current} of {size} workers are ready");
    if ready > current {
        message += &format!(", {} of an earlier generation", ready - current);
    }
    if leaving > 0 {
        message += &format!(", {leaving} stopping");
    }
    if workers < size && why.is_empty() {
        message += &format!(", {} not placed", size - workers);
    }
    if !why.is_empty() {
        message += &format!("; {why}");
    }
    let progressing = if is_stuck { Status::False } else { Status::True };
    vec![
        Condition::new("Ready", Status::False, reason.clone(), message.clone()),
        Condition::new("Progressing", progressing, reason, message),
    ]
}

/// Why a pool is not ready.
struct Cause {
    reason: String,
    message: String,
    /// Until somebody or something else changes.
    is_stuck: bool,
}

impl Cause {
    fn new(reason: &str, message: &str, is_stuck: bool) -> Self {
        Self { reason: reason.to_owned(), message: message.to_owned(), is_stuck }
    }
}

/// The most telling cause. Nothing that was said of an earlier intent counts as stuck.
fn cause(pool: &WorkerPool, records: &Records, observed: &Observed) -> Cause {
    if pool.meta.deleting_since.is_some() {
        return Cause::new("Deleting", "it is being deleted", false);
    }
    let waiting = observed.waiting.get(&pool.id).into_iter().flatten();
    let present = waiting.filter(|waiting| waiting.generation == pool.meta.generation);
    let (rolling, blocked): (Vec<_>, Vec<_>) =
        present.partition(|waiting| waiting.reason.is_a_turn());
    if let Some(Waiting { reason, message, .. }) = blocked.first() {
        // A worker that leaves makes room, whosever it is.
        let makes_room = *reason == WaitReason::NoCapacity
            && records.workers.values().any(|worker| !worker.runs());
        return Cause::new(reason.code(), message, !makes_room);
    }
    if let Some((worker, seen)) = most_troubled(pool, records, observed) {
        let colon = if seen.message.is_empty() { "" } else { ": " };
        let message = format!("worker `{}`{colon}{}", worker.id, seen.message);
        return Cause::new(&seen.reason, &message, seen.phase == SeenPhase::Backoff);
    }
    match rolling.first() {
        Some(Waiting { reason, message, .. }) => Cause::new(reason.code(), message, false),
        None => Cause::new("WorkersChanging", "", false),
    }
}

/// The worker of the present intent that gives the best reason for not being ready: one that waits
/// for another start before one that runs, that before one that starts, then the oldest.
fn most_troubled<'a>(
    pool: &WorkerPool,
    records: &'a Records,
    observed: &'a Observed,
) -> Option<(&'a Worker, &'a SeenWorker)> {
    let template = records.template(pool)?;
    records
        .workers_of(pool.id)
        .filter(|worker| worker.runs() && worker.template == template)
        .filter_map(|worker| Some((&**worker, observed.worker(worker.target, worker.id)?)))
        .filter(|(_, seen)| !seen.ready && !seen.reason.is_empty())
        .min_by_key(|(worker, seen)| {
            (seen.phase != SeenPhase::Backoff, seen.phase == SeenPhase::Starting, worker.id)
        })
}
