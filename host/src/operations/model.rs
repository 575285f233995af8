//! A worker operation: which workers of a pool shall be drained, restarted or replaced, and how far it is.
//!
//! 1. Once accepted, each of its workers carries a [`Task`] that waits for its turn.
//! 2. The planner begins as many as may be missing, and counts those that are done.
//! 3. Workers leave it early when they go for another reason, when somebody lets go of them, or when a
//!    later operation takes them over. They are skipped.
//! 4. It ends when every worker is counted, at the latest with its deadline.
//!
//! Holds: each of its workers is in one of the counts, waits, or is under way; an operation that has
//! ended changes no more.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ids::{OperationId, WorkerPoolId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub id: OperationId,
    pub pool: WorkerPoolId,
    pub spec: OperationSpec,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub total: u32,
    pub done: u32,
    pub failed: u32,
    pub skipped: u32,
    /// Workers that were taken away to be replaced, and whose successors are not placed yet.
    pub owed: u32,
    pub fate: Option<Fate>,
    pub ended_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSpec {
    pub verb: OperationVerb,
    /// Absent: as many at a time as the pool lets be missing.
    pub parallel: Option<u32>,
    /// So many workers stay ready.
    pub min_ready: u32,
    /// Absent: as the worker's template says.
    pub grace: Option<Duration>,
    pub deadline: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationVerb {
    /// Cordoned at once; stopped, and only then replaced.
    Drain,
    /// The process is stopped and started again; id and place stay.
    Restart,
    /// Stopped, and replaced at the same time.
    Replace,
}

impl OperationVerb {
    pub fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Restart => "restart",
            Self::Replace => "replace",
        }
    }
}

/// Why an operation ends otherwise than by being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Cancelled,
    Expired,
    PoolDeleted,
    Superseded(OperationId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    UnderWay,
    Done,
    Failed,
    Cancelled,
    Superseded,
}

/// What an operation wants of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub operation: OperationId,
    pub verb: OperationVerb,
    pub step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// For its turn.
    Waiting,
    /// It is being stopped or restarted.
    UnderWay,
    /// It takes the place of one that was replaced, and is not ready yet.
    Successor,
}

impl Task {
    pub fn waits(&self) -> bool {
        self.step == Step::Waiting
    }

    /// Whether the worker leaves in the end.
    pub fn is_farewell(&self) -> bool {
        match (self.verb, self.step) {
            (OperationVerb::Drain, _) => true,
            (OperationVerb::Replace, step) => step != Step::Successor,
            (OperationVerb::Restart, _) => false,
        }
    }
}

impl Operation {
    pub fn begun(id: OperationId, pool: WorkerPoolId, spec: OperationSpec, now: Timestamp) -> Self {
        let deadline = SignedDuration::try_from(spec.deadline).unwrap_or(SignedDuration::MAX);
        Self {
            id,
            pool,
            spec,
            created_at: now,
            expires_at: now.saturating_add(deadline).unwrap_or(Timestamp::MAX),
            total: 0,
            done: 0,
            failed: 0,
            skipped: 0,
            owed: 0,
            fate: None,
            ended_at: None,
        }
    }

    pub fn task(&self, step: Step) -> Task {
        Task { operation: self.id, verb: self.spec.verb, step }
    }

    /// Neither counted nor waiting, if so many wait.
    pub fn under_way(&self, waiting: u32) -> u32 {
        self.total.saturating_sub(self.done + self.failed + self.skipped + waiting)
    }

    pub fn state(&self) -> OperationState {
        match (self.ended_at, self.fate) {
            (None, _) => OperationState::UnderWay,
            (Some(_), None) => OperationState::Done,
            (Some(_), Some(Fate::Expired)) => OperationState::Failed,
            (Some(_), Some(Fate::Cancelled | Fate::PoolDeleted)) => OperationState::Cancelled,
            (Some(_), Some(Fate::Superseded(_))) => OperationState::Superseded,
        }
    }

    /// A worker of it leaves the pool, or is taken over, for a reason of somebody else's. The task that
    /// it keeps on its way out: one that is drained counts when it is gone.
    pub fn let_go(&mut self, task: Task) -> Option<Task> {
        match (task.verb, task.step) {
            (OperationVerb::Drain, _) => return Some(Task { step: Step::UnderWay, ..task }),
            (OperationVerb::Replace, _) => self.done += 1,
            (OperationVerb::Restart, _) => self.skipped += 1,
        }
        None
    }

    /// A worker of it goes over to a later operation, which does all that this one would.
    pub fn hand_over(&mut self, task: Task, to: OperationId) {
        match task.step {
            Step::Successor => self.done += 1,
            Step::Waiting | Step::UnderWay => {
                self.skipped += 1;
                self.fate = Some(Fate::Superseded(to));
            }
        }
    }

    /// Ends it now: so many have waited in vain, and what was under way has failed.
    pub fn expire(&mut self, waiting: u32) {
        self.failed += self.under_way(waiting);
        self.skipped += waiting;
        self.owed = 0;
        self.fate = Some(Fate::Expired);
    }

    /// Ends it now, because its pool ends.
    pub fn lose_pool(&mut self) {
        self.skipped += self.under_way(0);
        self.owed = 0;
        self.fate = Some(Fate::PoolDeleted);
    }

    /// Ends it if every worker is counted. True if that is news.
    pub fn close(&mut self, now: Timestamp) -> bool {
        let is_over = self.ended_at.is_none() && self.under_way(0) == 0;
        if is_over {
            self.ended_at = Some(now);
        }
        is_over
    }
}
