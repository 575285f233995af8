//! What the drivers reported last, and how old that is. Never stored: a host that starts looks again.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::{
    drivers::{DriverCondition, SeenWorker},
    ids::{CapacityTargetId, WorkerId, WorkerPoolId},
    planner::Waiting,
    records::Records,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    pub targets: BTreeMap<CapacityTargetId, ObservedTarget>,
    /// Workers on which the last action failed, or that had to be started again.
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

/// Why an action on a worker is not to be tried again at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub attempts: u32,
    /// Not to be tried again before.
    pub retry_at: Timestamp,
}

const PAUSE_MAX: SignedDuration = SignedDuration::from_secs(60);
const FAILURES_KEPT: SignedDuration = SignedDuration::from_mins(2);

impl Failure {
    /// The next failure of the same worker: the pause doubles from 1 s to 60 s.
    fn after(before: Option<&Self>, message: String, now: Timestamp) -> Self {
        let attempts = before.map_or(1, |before| before.attempts.saturating_add(1));
        let pause = SignedDuration::from_secs(1 << (attempts - 1).min(6)).min(PAUSE_MAX);
        Self { message, attempts, retry_at: now.saturating_add(pause).unwrap_or(now) }
    }

    /// Whether the pause is over. One that is longer than any of ours was begun by a clock that has
    /// been set back since.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let left = self.retry_at.duration_since(now);
        left <= SignedDuration::ZERO || left > PAUSE_MAX
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

    /// Keeps in mind that an action on a worker failed. True when that is news.
    pub fn failed(&mut self, worker: WorkerId, message: String, now: Timestamp) -> bool {
        let before = self.failures.get(&worker);
        let is_news = before.is_none_or(|before| before.message != message);
        let failure = Failure::after(before, message, now);
        self.failures.insert(worker, failure);
        is_news
    }

    /// Keeps in mind that a lost worker was started, or told to stop, again, lest one that is lost
    /// again and again is tried without a pause.
    pub fn relaunched(&mut self, worker: WorkerId, now: Timestamp) {
        self.failed(worker, "it was lost soon after it was started again".to_owned(), now);
    }

    /// Drops what is no longer of interest: failures of workers that neither the records nor a
    /// driver knows, and those that nobody tried to mend for long.
    pub fn drop_old(&mut self, records: &Records, now: Timestamp) {
        let targets = &self.targets;
        let is_seen = |worker: &WorkerId| {
            targets.values().flat_map(|it| &it.workers).any(|seen| seen.contains_key(worker))
        };
        self.failures.retain(|id, failure| {
            let is_recent = now.duration_since(failure.retry_at) < FAILURES_KEPT;
            is_recent && (records.workers.contains_key(id) || is_seen(id))
        });
    }

    /// When the youngest report came in.
    pub fn newest(&self) -> Option<Timestamp> {
        self.targets.values().map(|target| target.observed_at).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_also_when_the_clock_is_set_back() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let mut failure = Failure::after(None, "full".to_owned(), now);
        for _ in 0..10 {
            failure = Failure::after(Some(&failure), "full".to_owned(), now);
        }
        for (seconds, is_due) in [(0, false), (59, false), (60, true), (-1, true), (-86_400, true)]
        {
            let then = now + SignedDuration::from_secs(seconds);
            assert_eq!(failure.is_due(then), is_due, "{seconds}");
        }
    }
}
