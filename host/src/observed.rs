//! What the drivers reported last, and how old that is. Never stored: a host that starts looks again.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;

use crate::{
    drivers::{DriverCondition, SeenWorker},
    ids::{CapacityTargetId, WorkerId, WorkerPoolId},
    planner::Waiting,
    records::Records,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    pub targets: BTreeMap<CapacityTargetId, ObservedTarget>,
    /// Workers that could not be started, stopped or forgotten at the last attempt.
    pub failures: BTreeMap<WorkerId, Failure>,
    /// What the last plan waited for.
    pub waiting: BTreeMap<WorkerPoolId, Vec<Waiting>>,
}

/// A target as its driver described it.
#[derive(Debug, Clone)]
pub struct ObservedTarget {
    pub observed_at: Timestamp,
    /// All workers there; or why the driver could not say.
    pub workers: Result<BTreeMap<WorkerId, SeenWorker>, String>,
    pub conditions: Vec<DriverCondition>,
}

/// Equal when they say the same, whenever they say it.
impl PartialEq for ObservedTarget {
    fn eq(&self, other: &Self) -> bool {
        self.workers == other.workers && self.conditions == other.conditions
    }
}

impl Eq for ObservedTarget {}

/// An action on a worker that its driver could not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub attempts: u32,
    /// Not to be tried again before.
    pub retry_at: Timestamp,
}

impl Failure {
    /// The next failure of the same worker: the pause doubles from 1 s to 60 s.
    pub fn after(before: Option<&Self>, message: String, now: Timestamp) -> Self {
        let attempts = before.map_or(1, |before| before.attempts.saturating_add(1));
        let pause = Duration::from_secs((1 << (attempts - 1).min(6)).min(60));
        Self { message, attempts, retry_at: now.saturating_add(pause).unwrap_or(now) }
    }
}

impl Observed {
    /// All workers on a target; `None` when its driver did not answer.
    pub fn workers_on(&self, target: CapacityTargetId) -> Option<&BTreeMap<WorkerId, SeenWorker>> {
        self.targets.get(&target).and_then(|target| target.workers.as_ref().ok())
    }

    pub fn worker(&self, target: CapacityTargetId, id: WorkerId) -> Option<&SeenWorker> {
        self.workers_on(target).and_then(|workers| workers.get(&id))
    }

    /// Drops failures of workers that neither the records nor a driver knows any more.
    pub fn drop_gone(&mut self, records: &Records) {
        let targets = &self.targets;
        let is_seen = |worker: &WorkerId| {
            targets.values().flat_map(|it| &it.workers).any(|seen| seen.contains_key(worker))
        };
        self.failures.retain(|id, _| records.workers.contains_key(id) || is_seen(id));
    }

    /// When the youngest report came in.
    pub fn newest(&self) -> Option<Timestamp> {
        self.targets.values().map(|target| target.observed_at).max()
    }
}
