//! The step of one worker pool: who leaves, who stays, who is missing.

use std::sync::Arc;

use super::{
    Action, Draft, RetireReason, WaitReason,
    operation::{self, Operations},
};
use crate::{
    capacity::placement::Misfit,
    drivers::{SeenPhase, SeenWorker},
    environments::model::Environment,
    ids::WorkerId,
    pools::{
        model::WorkerPool,
        template::WorkerTemplate,
        worker::{Decided, Worker},
    },
};

/// A worker of the pool beside what its driver says of it.
pub(super) struct Member<'a> {
    pub(super) worker: &'a Arc<Worker>,
    pub(super) sight: Sight<'a>,
    is_current: bool,
}

pub(super) enum Sight<'a> {
    /// The driver does not answer: nothing may be concluded.
    Blind,
    Absent,
    Seen(&'a SeenWorker),
}

impl Member<'_> {
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.sight, Sight::Seen(seen) if seen.ready)
    }

    fn phase(&self) -> Option<SeenPhase> {
        match self.sight {
            Sight::Seen(seen) => Some(seen.phase),
            Sight::Absent | Sight::Blind => None,
        }
    }

    /// Who is given up first has the least.
    fn worth(&self) -> Worth {
        Worth {
            is_current: self.is_current,
            is_to_stay: !self.worker.task.is_some_and(|task| task.is_farewell()),
            is_ready: self.is_ready(),
            youth: std::cmp::Reverse(self.worker.id),
        }
    }
}

/// The order of the fields is the policy: outdated workers go first, then those that shall be drained
/// or replaced anyway, then unready, then young ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    is_current: bool,
    is_to_stay: bool,
    is_ready: bool,
    youth: std::cmp::Reverse<WorkerId>,
}

pub(super) fn plan(draft: &mut Draft<'_>, pool: &WorkerPool) {
    let Some(environment) = draft.world.records.environments.get(&pool.environment) else { return };
    let template = pool.template(environment);
    let members = members(draft, pool, &template);
    let (staying, leaving): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.worker.runs());
    let mut work = Operations::of(draft, pool, &leaving);
    for member in &leaving {
        see_off(draft, member);
    }
    if pool.meta.deleting_since.is_some() {
        give_up_all(draft, &staying);
        work.lose_pool();
        work.store(draft);
        if staying.is_empty() && leaving.is_empty() {
            draft.act(Action::RemovePool(pool.id));
        }
        return;
    }
    let staying = retire(draft, pool, &mut work, staying);
    let staying = operation::advance(draft, pool, &mut work, staying);
    for member in &staying {
        keep(draft, member);
    }
    let missing = (pool.spec.size as usize).saturating_sub(staying.len() + work.draining);
    add(draft, &Order { pool, environment, template }, &mut work, missing);
    work.store(draft);
}

fn members<'a>(draft: &Draft<'a>, pool: &WorkerPool, template: &WorkerTemplate) -> Vec<Member<'a>> {
    let observed = draft.world.observed;
    let member = |worker: &'a Arc<Worker>| Member {
        worker,
        sight: match observed.workers_on(worker.target).map(|seen| seen.get(&worker.id)) {
            None => Sight::Blind,
            Some(None) => Sight::Absent,
            Some(Some(seen)) => Sight::Seen(seen),
        },
        is_current: worker.template == *template,
    };
    draft.world.records.workers_of(pool.id).map(member).collect()
}

/// A worker that shall stop: tell its driver until it has, then remove it.
fn see_off(draft: &mut Draft<'_>, member: &Member<'_>) {
    let worker = Arc::clone(member.worker);
    let action = match member.sight {
        Sight::Blind => return wait_for_target(draft, &worker),
        Sight::Absent => Action::Forget(worker),
        Sight::Seen(seen) => match seen.phase {
            SeenPhase::Stopped => Action::Forget(worker),
            SeenPhase::Stopping => return,
            SeenPhase::Starting | SeenPhase::Running | SeenPhase::Backoff | SeenPhase::Lost => {
                Action::Stop(worker)
            }
        },
    };
    attempt(draft, member.worker, action);
}

/// A worker that shall run: start it if it is not there, and again if that was ordered.
fn keep(draft: &mut Draft<'_>, member: &Member<'_>) {
    match member.sight {
        Sight::Blind => wait_for_target(draft, member.worker),
        Sight::Absent | Sight::Seen(SeenWorker { phase: SeenPhase::Lost, .. }) => {
            attempt(draft, member.worker, Action::Ensure(Arc::clone(member.worker)));
        }
        Sight::Seen(seen) if seen.restart < member.worker.restart => {
            attempt(draft, member.worker, Action::Restart(Arc::clone(member.worker)));
        }
        Sight::Seen(_) => {}
    }
}

/// Acts, unless the last attempt failed and the pause after it is not over. A failure is reported
/// until an attempt succeeds.
fn attempt(draft: &mut Draft<'_>, worker: &Worker, action: Action) {
    let failure = draft.world.observed.failures.get(&worker.id);
    if let Some(failure) = failure {
        let message = format!("worker `{}`: {}", worker.id, failure.message);
        draft.wait(worker.pool, WaitReason::ActionFailed, message);
    }
    if failure.is_none_or(|failure| failure.is_due(draft.now)) {
        draft.act(action);
    }
}

fn wait_for_target(draft: &mut Draft<'_>, worker: &Worker) {
    let target = draft.world.records.capacity_targets.get(&worker.target);
    let name = target.map_or("", |target| &target.meta.name);
    let why = match draft.world.observed.targets.get(&worker.target).map(|it| &it.workers) {
        Some(Err(error)) => error.as_str(),
        Some(Ok(_)) | None => "not observed yet",
    };
    let message = format!("capacity target `{name}` does not answer: {why}");
    draft.wait(worker.pool, WaitReason::TargetUnreachable, message);
}

fn give_up_all(draft: &mut Draft<'_>, staying: &[Member<'_>]) {
    for member in staying {
        let worker = Worker { grace: None, ..Worker::clone(member.worker) };
        draft.act(Action::Retire { worker: worker.into(), why: RetireReason::PoolDeleted });
    }
}

/// Gives up those that the pool no longer wants, and answers the rest.
fn retire<'a>(
    draft: &mut Draft<'_>,
    pool: &WorkerPool,
    work: &mut Operations,
    mut staying: Vec<Member<'a>>,
) -> Vec<Member<'a>> {
    let mut give_up = |draft: &mut Draft<'_>, member: &Member<'_>, why| {
        draft.act(Action::Retire { worker: work.let_go(member.worker), why });
    };
    staying.retain(|member| {
        let ends = matches!(member.phase(), Some(SeenPhase::Stopping | SeenPhase::Stopped));
        if ends {
            give_up(draft, member, RetireReason::Stopped);
        }
        !ends
    });
    staying.sort_by_key(Member::worth);
    let surplus = staying.len().saturating_sub(pool.spec.size as usize);
    for member in staying.drain(..surplus) {
        give_up(draft, &member, RetireReason::ScaledDown);
    }
    let outdated = outdated_to_go(draft, pool, &staying);
    for member in staying.drain(..outdated) {
        give_up(draft, &member, RetireReason::Outdated);
    }
    staying
}

/// How many of the first members go now because they are outdated: all that are not ready, and of
/// the ready ones as many as may be missing.
fn outdated_to_go(draft: &mut Draft<'_>, pool: &WorkerPool, by_worth: &[Member<'_>]) -> usize {
    let outdated = || by_worth.iter().take_while(|member| !member.is_current);
    let unready = outdated().filter(|member| !member.is_ready()).count();
    let outdated = outdated().count();
    let ready = by_worth.iter().filter(|member| member.is_ready()).count();
    let needed = pool.spec.size.saturating_sub(pool.max_unavailable()) as usize;
    let go = outdated.min(unready + ready.saturating_sub(needed));
    if go < outdated {
        let message = format!(
            "still to be replaced: {}; at most {} may be missing at a time",
            outdated - go,
            pool.max_unavailable()
        );
        draft.wait(pool.id, WaitReason::RolloutLimit, message);
    }
    go
}

/// What a new worker is made from.
struct Order<'a> {
    pool: &'a WorkerPool,
    environment: &'a Environment,
    template: WorkerTemplate,
}

fn add(draft: &mut Draft<'_>, order: &Order<'_>, work: &mut Operations, missing: usize) {
    let Order { pool, environment, template } = order;
    for placed in 0..missing {
        let target = match draft.load().place(environment, pool.id, &template.shape) {
            Ok(target) => target,
            Err(misfit) => return wait_for_place(draft, order, misfit, missing - placed),
        };
        let worker = Worker {
            id: WorkerId::new(draft.ids),
            pool: pool.id,
            target,
            plan: draft.plan.id,
            pool_generation: pool.meta.generation,
            template: template.clone(),
            decided: Decided::Run,
            created_at: draft.now,
            launched: false,
            reported: None,
            task: work.successor(),
            restart: 0,
            grace: None,
        };
        draft.load().count(&worker);
        draft.act(Action::Add(Arc::new(worker)));
    }
    work.settle_debts();
}

fn wait_for_place(draft: &mut Draft<'_>, order: &Order<'_>, misfit: Misfit, missing: usize) {
    let (reason, why) = match misfit {
        Misfit::NoTarget => (
            WaitReason::NoTarget,
            "no capacity target matches the environment's selector, answers and is not cordoned",
        ),
        Misfit::NoCapacity => {
            (WaitReason::NoCapacity, "no capacity target that matches has room for one more")
        }
    };
    draft.wait(order.pool.id, reason, format!("not placed: {missing}, because {why}"));
}
