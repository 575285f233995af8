//! Decides what to do next, from what is asked, what was decided before, and what drivers report.
//!
//! Invariants, each tested:
//! - Pure: the same world, time and ids give the same plan.
//! - The plan of a settled world is empty.
//! - A plan leaves nothing to choose: it names each worker, its target and what it runs.
//! - A worker is never started without a stored row, and never forgotten before it has stopped.

mod journal;
mod operation;
mod pool;
mod strays;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

pub(crate) use self::journal::{decide, record};
use crate::{
    capacity::placement::Load,
    ids::{CapacityTargetId, IdSource, PlanId, WorkerId, WorkerPoolId},
    observed::Observed,
    operations::model::Operation,
    pools::worker::Worker,
    records::Records,
};

/// All that a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    pub records: &'a Records,
    pub observed: &'a Observed,
}

/// What was decided, in the order in which it is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub id: PlanId,
    pub actions: Vec<Action>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Store the worker, then have its driver run it.
    Add(Arc<Worker>),
    /// Store how far an operation is.
    Advance(Arc<Operation>),
    /// Have a worker run that was decided before and is not there, or no longer.
    Ensure(Arc<Worker>),
    /// Store the worker, then have its driver stop and start its process once for its order.
    Restart(Arc<Worker>),
    /// Store the worker with the order to stop, then tell its driver.
    Retire { worker: Arc<Worker>, why: RetireReason },
    /// Store what an operation no longer wants of the worker.
    Dismiss(Arc<Worker>),
    /// Tell the driver again of a worker that shall stop.
    Stop(Arc<Worker>),
    /// Remove what is left of a stopped worker, then its row.
    Forget(Arc<Worker>),
    /// Remove the row of a pool whose last worker is gone.
    RemovePool(WorkerPoolId),
    /// A driver has a worker that nobody decided: stop it, or remove it when it has stopped.
    Evict { target: CapacityTargetId, worker: WorkerId, stopped: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetireReason {
    Drained,
    /// It runs what the pool said earlier.
    Outdated,
    PoolDeleted,
    /// Somebody asked for another in its place.
    Replaced,
    ScaledDown,
    /// Its driver was told to stop it, which can not be undone.
    Stopped,
}

impl RetireReason {
    pub fn code(self) -> &'static str {
        match self {
            Self::Drained => "Drained",
            Self::Outdated => "Outdated",
            Self::PoolDeleted => "PoolDeleted",
            Self::Replaced => "Replaced",
            Self::ScaledDown => "ScaledDown",
            Self::Stopped => "Stopped",
        }
    }
}

/// What a plan waits for: the answer to "why did nothing happen?".
#[must_use = "an unread report helps nobody"]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanReport {
    pub waiting: BTreeMap<WorkerPoolId, Vec<Waiting>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub reason: WaitReason,
    /// Of the pool's intent when it was planned.
    pub generation: u64,
    /// A sentence for people.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitReason {
    NoTarget,
    NoCapacity,
    TargetUnreachable,
    ActionFailed,
    OperationLimit,
    RolloutLimit,
}

impl WaitReason {
    /// Whether it goes on as soon as others are done.
    pub fn is_a_turn(self) -> bool {
        matches!(self, Self::OperationLimit | Self::RolloutLimit)
    }

    pub fn code(self) -> &'static str {
        match self {
            Self::NoTarget => "NoTarget",
            Self::NoCapacity => "NoCapacity",
            Self::TargetUnreachable => "TargetUnreachable",
            Self::ActionFailed => "ActionFailed",
            Self::OperationLimit => "OperationLimit",
            Self::RolloutLimit => "RolloutLimit",
        }
    }
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipts {
    pub plan: PlanId,
    /// Accepted by their drivers.
    pub started: Vec<WorkerId>,
    pub forgotten: Vec<WorkerId>,
    /// By worker: what went wrong, for the first time or in a new way.
    pub failed: BTreeMap<WorkerId, String>,
}

impl Receipts {
    pub fn is_empty(&self) -> bool {
        self.started.is_empty() && self.forgotten.is_empty() && self.failed.is_empty()
    }
}

/// Decides what to do next.
pub fn plan(world: World<'_>, now: Timestamp, ids: &dyn IdSource) -> (Plan, PlanReport) {
    let mut draft = Draft {
        world,
        now,
        ids,
        load: None,
        plan: Plan { id: PlanId::new(ids), actions: Vec::new() },
        report: PlanReport::default(),
    };
    for pool in world.records.worker_pools.values() {
        pool::plan(&mut draft, pool);
    }
    strays::plan(&mut draft);
    (draft.plan, draft.report)
}

/// A plan in the making.
struct Draft<'a> {
    world: World<'a>,
    now: Timestamp,
    ids: &'a dyn IdSource,
    /// Counted when the first worker is placed, and kept up to date from then on.
    load: Option<Load<'a>>,
    plan: Plan,
    report: PlanReport,
}

impl<'a> Draft<'a> {
    fn act(&mut self, action: Action) {
        self.plan.actions.push(action);
    }

    fn wait(&mut self, pool: WorkerPoolId, reason: WaitReason, message: impl Into<String>) {
        let generation =
            self.world.records.worker_pools.get(&pool).map_or(0, |pool| pool.meta.generation);
        let waiting = Waiting { reason, generation, message: message.into() };
        let all = self.report.waiting.entry(pool).or_default();
        if !all.contains(&waiting) {
            all.push(waiting);
            all.sort_by_key(|waiting| waiting.reason);
        }
    }

    fn load(&mut self) -> &mut Load<'a> {
        let World { records, observed } = self.world;
        self.load.get_or_insert_with(|| Load::new(records, observed))
    }
}
