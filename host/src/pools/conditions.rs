//! What is true of a worker pool, from intent, decided workers and the last observation.

use super::{
    model::WorkerPool,
    worker::{Phase, Worker},
};
use crate::{
    conditions::{Condition, Status},
    drivers::SeenWorker,
    observed::Observed,
    planner::WaitReason,
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
    let tally = tally(pool, records, observed);
    pool.meta.deleting_since.is_none()
        && tally.leaving == 0
        && tally.workers == pool.spec.size
        && tally.current == pool.spec.size
}

/// `Ready` and `Progressing`.
pub fn conditions(pool: &WorkerPool, records: &Records, observed: &Observed) -> Vec<Condition> {
    let (size, Tally { workers, ready, current, leaving }) =
        (pool.spec.size, tally(pool, records, observed));
    if is_ready(pool, records, observed) {
        let message = format!("{size} of {size} workers are ready");
        return vec![
            Condition::new("Ready", Status::True, "AllWorkersReady", message),
            Condition::new("Progressing", Status::False, "Settled", "nothing is left to do"),
        ];
    }
    let (reason, why, stuck) = cause(pool, records, observed);
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
        message += &format!(": {why}");
    }
    let progressing = if stuck { Status::False } else { Status::True };
    vec![
        Condition::new("Ready", Status::False, reason.clone(), message.clone()),
        Condition::new("Progressing", progressing, reason, message),
    ]
}

/// The most telling cause of not being ready: reason, sentence, and whether it is stuck until
/// somebody or something else changes.
fn cause(pool: &WorkerPool, records: &Records, observed: &Observed) -> (String, String, bool) {
    if pool.meta.deleting_since.is_some() {
        return ("Deleting".to_owned(), "it is being deleted".to_owned(), false);
    }
    let waiting = observed.waiting.get(&pool.id).into_iter().flatten();
    let (blocked, rolling): (Vec<_>, Vec<_>) =
        waiting.partition(|waiting| waiting.reason != WaitReason::RolloutLimit);
    if let Some(waiting) = blocked.first() {
        return (waiting.reason.code().to_owned(), waiting.message.clone(), true);
    }
    let unready = |worker: &&std::sync::Arc<Worker>| {
        worker.runs() && !observed.worker(worker.target, worker.id).is_some_and(|seen| seen.ready)
    };
    let seen = |worker: &std::sync::Arc<Worker>| {
        observed.worker(worker.target, worker.id).cloned().map(|seen| (worker.id, seen))
    };
    let mut troubled: Vec<(_, SeenWorker)> = records
        .workers_of(pool.id)
        .filter(unready)
        .filter_map(seen)
        .filter(|(_, seen)| !seen.reason.is_empty() && Phase::of(seen.phase) != Phase::Starting)
        .collect();
    troubled.sort_by_key(|(id, seen)| (Phase::of(seen.phase) != Phase::Backoff, *id));
    if let Some((id, seen)) = troubled.into_iter().next() {
        let stuck = Phase::of(seen.phase) == Phase::Backoff;
        return (seen.reason, format!("worker `{id}`: {}", seen.message), stuck);
    }
    match rolling.first() {
        Some(waiting) => (waiting.reason.code().to_owned(), waiting.message.clone(), false),
        None => ("WorkersChanging".to_owned(), String::new(), false),
    }
}
