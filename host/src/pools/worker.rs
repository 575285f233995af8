//! A worker as it was decided: what it runs, where, and whether it shall still run.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::template::WorkerTemplate;
use crate::{
    drivers::{SeenPhase, SeenWorker},
    ids::{CapacityTargetId, PlanId, WorkerId, WorkerPoolId},
    operations::model::Task,
};

/// Its row is stored before the driver hears of it, and removed after the driver has forgotten it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    pub id: WorkerId,
    pub pool: WorkerPoolId,
    pub target: CapacityTargetId,
    /// The plan that it comes from.
    pub plan: PlanId,
    /// The generation of the pool that it was made for.
    pub pool_generation: u64,
    pub template: WorkerTemplate,
    pub decided: Decided,
    pub created_at: Timestamp,
    /// A driver has accepted it.
    pub launched: bool,
    /// What was reported of it last in the event log.
    pub reported: Option<Reported>,
    /// What an operation wants of it.
    #[serde(default)]
    pub task: Option<Task>,
    /// Counts the orders to restart it.
    #[serde(default)]
    pub restart: u64,
    /// How long it may take to end; absent: as its template says.
    #[serde(default)]
    pub grace: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    Run,
    Stop,
}

/// The part of an observation that is worth an event when it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    pub phase: Phase,
    pub ready: bool,
    pub reason: String,
}

/// Where a worker stands, in the words of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Decided, and not yet seen by a driver.
    Pending,
    Starting,
    Running,
    Backoff,
    Stopping,
    Stopped,
    Lost,
}

impl Phase {
    pub fn of(seen: SeenPhase) -> Self {
        match seen {
            SeenPhase::Starting => Self::Starting,
            SeenPhase::Running => Self::Running,
            SeenPhase::Backoff => Self::Backoff,
            SeenPhase::Stopping => Self::Stopping,
            SeenPhase::Stopped => Self::Stopped,
            SeenPhase::Lost => Self::Lost,
        }
    }
}

impl Reported {
    pub fn of(seen: &SeenWorker) -> Self {
        Self { phase: Phase::of(seen.phase), ready: seen.ready, reason: seen.reason.clone() }
    }
}

impl Worker {
    pub fn runs(&self) -> bool {
        self.decided == Decided::Run
    }

    pub fn retired(self: &Arc<Self>) -> Self {
        Self { decided: Decided::Stop, ..Self::clone(self) }
    }
}
