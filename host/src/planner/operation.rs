//! The step of the operations on a pool's workers: whose turn it is, who is done.
//!
//! - Unready workers go first: nobody misses them. Ready ones go only while enough others are ready.
//! - A worker whose driver does not answer is not begun.
//! - Operations of one pool share what may be missing; the oldest is served first.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Action, Draft, RetireReason, WaitReason,
    pool::{Member, Sight},
};
use crate::{
    drivers::SeenWorker,
    ids::{OperationId, WorkerId},
    operations::model::{Fate, Operation, OperationVerb, Step, Task},
    pools::{model::WorkerPool, worker::Worker},
};

/// The operations under way in one pool, as this plan leaves them.
pub(super) struct Operations {
    all: Vec<Operation>,
    changed: BTreeSet<OperationId>,
    /// Workers on their way out whose places stay empty until they are gone.
    pub(super) draining: usize,
}

impl Operations {
    pub(super) fn of(draft: &Draft<'_>, pool: &WorkerPool, leaving: &[Member<'_>]) -> Self {
        let all = draft.world.records.operations_under_way_in(pool.id);
        let draining = leaving.iter().filter(|member| is_drain(member.worker.task)).count();
        let all = all.map(|it| Operation::clone(it)).collect();
        Self { all, changed: BTreeSet::new(), draining }
    }

    fn change(&mut self, task: Task) -> Option<&mut Operation> {
        let operation = self.all.iter_mut().find(|it| it.id == task.operation)?;
        self.changed.insert(operation.id);
        Some(operation)
    }

    /// A worker that goes for a reason of somebody else's, as it goes.
    pub(super) fn let_go(&mut self, worker: &Arc<Worker>) -> Arc<Worker> {
        let go = |task| self.change(task).and_then(|operation| operation.let_go(task));
        let task = worker.task.and_then(go);
        self.draining += usize::from(is_drain(task));
        // A grace that it was restarted with has nothing to do with this.
        Arc::new(Worker { task, grace: None, ..Worker::clone(worker) })
    }

    /// What is wanted of a new worker: that it takes the place of one that was replaced, if one was.
    pub(super) fn successor(&mut self) -> Option<Task> {
        let operation = self.all.iter_mut().find(|operation| operation.owed > 0)?;
        operation.owed -= 1;
        self.changed.insert(operation.id);
        Some(operation.task(Step::Successor))
    }

    /// The pool has all workers that it wants: who was to be replaced needs no successor.
    pub(super) fn settle_debts(&mut self) {
        for operation in self.all.iter_mut().filter(|operation| operation.owed > 0) {
            operation.done += operation.owed;
            operation.owed = 0;
            self.changed.insert(operation.id);
        }
    }

    /// All end with their pool.
    pub(super) fn lose_pool(&mut self) {
        for operation in &mut self.all {
            operation.lose_pool();
            self.changed.insert(operation.id);
        }
    }

    pub(super) fn store(self, draft: &mut Draft<'_>) {
        for operation in self.all {
            // Nothing is left of one whose time is over, and nothing may be left of another.
            if self.changed.contains(&operation.id) || operation.under_way(0) == 0 {
                draft.act(Action::Advance(operation.into()));
            }
        }
    }
}

/// Takes those off that are done or whose time is over, and begins others. Those that stay.
pub(super) fn advance<'a>(
    draft: &mut Draft<'_>,
    pool: &WorkerPool,
    work: &mut Operations,
    mut staying: Vec<Member<'a>>,
) -> Vec<Member<'a>> {
    if work.all.is_empty() {
        return staying;
    }
    for operation in work.all.iter_mut().filter(|operation| operation.expires_at <= draft.now) {
        operation.expire(count(waiting(&staying, operation.id)));
    }
    for member in &staying {
        dismiss(draft, work, member);
    }
    let Operations { all, changed, draining } = work;
    let mut ready = staying.iter().filter(|member| member.is_ready()).count();
    for operation in all.iter_mut().filter(|operation| operation.fate != Some(Fate::Expired)) {
        let begun = begin(draft, pool, operation, (&staying, &mut ready));
        if begun.is_empty() {
            continue;
        }
        changed.insert(operation.id);
        match operation.spec.verb {
            OperationVerb::Restart => continue,
            OperationVerb::Drain => *draining += begun.len(),
            OperationVerb::Replace => operation.owed += count(begun.iter()),
        }
        staying.retain(|member| !begun.contains(&member.worker.id));
    }
    staying
}

fn is_drain(task: Option<Task>) -> bool {
    task.is_some_and(|task| task.verb == OperationVerb::Drain)
}

fn count<T>(all: impl Iterator<Item = T>) -> u32 {
    u32::try_from(all.count()).unwrap_or(u32::MAX)
}

fn waiting<'m, 'a>(
    members: &'m [Member<'a>],
    operation: OperationId,
) -> impl Iterator<Item = &'m Member<'a>> {
    members.iter().filter(move |member| {
        member.worker.task.is_some_and(|task| task.operation == operation && task.waits())
    })
}

/// Takes the task from a worker that has done it, or whose operation is over.
fn dismiss(draft: &mut Draft<'_>, work: &mut Operations, member: &Member<'_>) {
    let Some(task) = member.worker.task else { return };
    let is_back = match member.sight {
        Sight::Seen(SeenWorker { ready, restart, .. }) => {
            *ready && *restart >= member.worker.restart
        }
        Sight::Absent | Sight::Blind => false,
    };
    let operation = work.all.iter().find(|operation| operation.id == task.operation);
    if operation.is_some_and(|operation| operation.fate != Some(Fate::Expired)) {
        if task.waits() || !is_back {
            return;
        }
        work.change(task).into_iter().for_each(|operation| operation.done += 1);
    }
    let worker = Worker { task: None, ..Worker::clone(member.worker) };
    draft.act(Action::Dismiss(worker.into()));
}

/// Begins as many as may be missing; who they are.
fn begin(
    draft: &mut Draft<'_>,
    pool: &WorkerPool,
    operation: &Operation,
    (staying, ready): (&[Member<'_>], &mut usize),
) -> BTreeSet<WorkerId> {
    let spec = &operation.spec;
    let mut waiting: Vec<_> = waiting(staying, operation.id).collect();
    let limit = spec.parallel.unwrap_or(pool.max_unavailable()).max(1);
    let needed = pool.spec.size.saturating_sub(limit).max(spec.min_ready);
    let mut under_way = operation.under_way(count(waiting.iter()));
    let left = waiting.len();
    waiting.sort_by_key(|member| (member.is_ready(), member.worker.id));
    let mut begun = BTreeSet::new();
    for member in waiting {
        if under_way >= limit || (member.is_ready() && *ready <= needed as usize) {
            break;
        }
        if matches!(member.sight, Sight::Blind) {
            continue;
        }
        under_way += 1;
        *ready -= usize::from(member.is_ready());
        begun.insert(member.worker.id);
        draft.act(turn(operation, member.worker));
    }
    if begun.len() < left {
        let message = format!(
            "workers that wait to be {}: {}; at most {limit} may be missing at a time, and at least \
             {needed} stay ready",
            match spec.verb {
                OperationVerb::Drain => "drained",
                OperationVerb::Restart => "restarted",
                OperationVerb::Replace => "replaced",
            },
            left - begun.len(),
        );
        draft.wait(pool.id, WaitReason::OperationLimit, message);
    }
    begun
}

/// What is done to a worker whose turn it is.
fn turn(operation: &Operation, worker: &Arc<Worker>) -> Action {
    let mut worker = Worker {
        task: Some(operation.task(Step::UnderWay)),
        grace: operation.spec.grace,
        ..Worker::clone(worker)
    };
    match operation.spec.verb {
        OperationVerb::Drain => {
            Action::Retire { worker: worker.into(), why: RetireReason::Drained }
        }
        OperationVerb::Replace => {
            Action::Retire { worker: worker.into(), why: RetireReason::Replaced }
        }
        OperationVerb::Restart => {
            worker.restart += 1;
            Action::Restart(worker.into())
        }
    }
}
