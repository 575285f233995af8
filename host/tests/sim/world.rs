//! The heart of the host without the rest: records, a driver that is a table, and a clock that
//! stands still until it is moved. Ids count from 1.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use host::{
    admission::{self, Answer, Command, Context, Decision, Refusal},
    clock::{Clock, FakeClock},
    drivers::{SeenPhase, SeenWorker},
    events::{Event, Subject},
    ids::{CapacityTargetId, IdSource, WorkerId},
    observed::{Observed, ObservedTarget},
    planner::{Action, Plan, PlanReport, Receipts, WaitReason},
    pools::worker::Worker,
    records::Records,
    violations::Violations,
};
use uuid::Uuid;

#[derive(Debug, Default)]
pub(crate) struct CountingIds(AtomicU64);

impl IdSource for CountingIds {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1))
    }
}

pub(crate) struct World {
    pub(crate) records: Records,
    pub(crate) events: Vec<(Subject, Event)>,
    pub(crate) clock: FakeClock,
    pub(crate) ids: CountingIds,
    /// What the drivers have.
    pub(crate) seen: BTreeMap<CapacityTargetId, BTreeMap<WorkerId, SeenWorker>>,
    /// Targets whose driver does not answer.
    pub(crate) mute: BTreeSet<CapacityTargetId>,
    /// Targets whose driver refuses to start anything.
    pub(crate) refusing: BTreeSet<CapacityTargetId>,
    pub(crate) observed: Observed,
}

/// A command of this name never starts.
pub(crate) const BROKEN: &str = "broken";

impl World {
    pub(crate) fn new() -> Self {
        Self {
            records: Records::default(),
            events: Vec::new(),
            clock: FakeClock::new("2026-01-01T00:00:00Z".parse().unwrap()),
            ids: CountingIds::default(),
            seen: BTreeMap::new(),
            mute: BTreeSet::new(),
            refusing: BTreeSet::new(),
            observed: Observed::default(),
        }
    }

    pub(crate) fn decide(&self, command: &Command) -> Result<Decision, Refusal> {
        let cx = Context { records: &self.records, now: self.clock.now(), ids: &self.ids };
        admission::decide(&cx, command, Violations::default())
    }

    pub(crate) fn commit(&mut self, command: &Command) -> Result<Answer, Refusal> {
        let decision = self.decide(command)?;
        self.records = self.records.with(&decision.changes);
        self.events.extend(decision.events);
        Ok(decision.answer)
    }

    /// Takes in what the drivers report.
    pub(crate) fn observe(&mut self) {
        let observed_at = self.clock.now();
        let look = |id: &CapacityTargetId| {
            let workers = if self.mute.contains(id) {
                Err("it is mute".to_owned())
            } else {
                Ok(self.seen.get(id).cloned().unwrap_or_default())
            };
            (*id, ObservedTarget { observed_at, workers, conditions: Vec::new() })
        };
        self.observed.targets = self.records.capacity_targets.keys().map(look).collect();
        self.observed.drop_old(&self.records, self.clock.now());
    }

    /// Observes and plans, and stores what was decided.
    pub(crate) fn plan(&mut self) -> (Plan, PlanReport) {
        self.observe();
        let command = Command::Plan(Arc::new(self.observed.clone()));
        match self.commit(&command) {
            Ok(Answer::Planned(planned)) => *planned,
            other => panic!("a plan was answered by {other:?}"),
        }
    }

    /// One round as the host makes it.
    pub(crate) fn round(&mut self) -> (Plan, PlanReport) {
        let (plan, report) = self.plan();
        let mut receipts = Receipts {
            plan: plan.id,
            started: Vec::new(),
            forgotten: Vec::new(),
            failed: BTreeMap::new(),
        };
        for action in &plan.actions {
            self.act(action, &mut receipts);
        }
        self.observed.waiting.clone_from(&report.waiting);
        if !receipts.is_empty() {
            self.commit(&Command::Receipts(receipts)).unwrap();
        }
        (plan, report)
    }

    fn act(&mut self, action: &Action, receipts: &mut Receipts) {
        match action {
            Action::Add(worker) => self.ensure(worker, receipts),
            Action::Ensure(worker) => {
                self.ensure(worker, receipts);
                if receipts.started.contains(&worker.id) {
                    self.observed.relaunched(worker.id, self.clock.now());
                }
            }
            Action::Retire { worker, .. } | Action::Stop(worker) => {
                self.stop(worker.target, worker.id);
            }
            Action::Forget(worker) => {
                self.forget(worker.target, worker.id);
                receipts.forgotten.push(worker.id);
            }
            Action::Evict { target, worker, stopped: true } => self.forget(*target, *worker),
            Action::Evict { target, worker, stopped: false } => self.stop(*target, *worker),
            Action::Restart(worker) => self.restart(worker),
            Action::Advance(_) | Action::Dismiss(_) | Action::RemovePool(_) => {}
        }
    }

    fn ensure(&mut self, worker: &Worker, receipts: &mut Receipts) {
        if self.refusing.contains(&worker.target) {
            let message = "it refuses".to_owned();
            if self.observed.failed(worker.id, message.clone(), self.clock.now()) {
                receipts.failed.insert(worker.id, message);
            }
            return;
        }
        let seen = self.seen.entry(worker.target).or_default();
        let entry = seen.entry(worker.id).or_insert_with(|| starting(worker.id));
        if entry.phase == SeenPhase::Lost {
            *entry = SeenWorker { restart: worker.restart, ..starting(worker.id) };
        }
        receipts.started.push(worker.id);
    }

    fn restart(&mut self, worker: &Worker) {
        if let Some(seen) = self.seen.entry(worker.target).or_default().get_mut(&worker.id)
            && !matches!(seen.phase, SeenPhase::Stopping | SeenPhase::Stopped | SeenPhase::Lost)
            && seen.restart < worker.restart
        {
            seen.phase = SeenPhase::Starting;
            seen.ready = false;
            seen.restart = worker.restart;
        }
    }

    fn stop(&mut self, target: CapacityTargetId, worker: WorkerId) {
        if let Some(seen) = self.seen.entry(target).or_default().get_mut(&worker)
            && seen.phase != SeenPhase::Stopped
        {
            seen.phase = SeenPhase::Stopping;
            seen.ready = false;
        }
    }

    fn forget(&mut self, target: CapacityTargetId, worker: WorkerId) {
        let seen = self.seen.entry(target).or_default().remove(&worker);
        assert!(
            seen.is_none_or(|seen| seen.phase == SeenPhase::Stopped),
            "{worker} was forgotten while it ran"
        );
    }

    /// A second passes: what starts runs, what stops has stopped.
    pub(crate) fn tick(&mut self) {
        self.clock.advance(Duration::from_secs(1).try_into().unwrap());
        for seen in self.seen.values_mut().flat_map(BTreeMap::values_mut) {
            let worker = self.records.workers.get(&seen.id);
            let is_broken = worker.is_some_and(|it| it.template.command[0] == BROKEN);
            match seen.phase {
                SeenPhase::Starting if is_broken => {
                    seen.phase = SeenPhase::Backoff;
                    seen.reason = "CommandNotFound".to_owned();
                    seen.message = format!("there is no program `{BROKEN}`");
                }
                SeenPhase::Starting => {
                    seen.phase = SeenPhase::Running;
                    seen.ready = true;
                }
                SeenPhase::Stopping => seen.phase = SeenPhase::Stopped,
                _ => {}
            }
        }
    }

    /// Rounds and seconds until nothing is left to do; the actions of each round.
    pub(crate) fn settle(&mut self) -> Vec<Vec<Action>> {
        let mut rounds = Vec::new();
        for _ in 0..1000 {
            let (plan, report) = self.round();
            let pauses = report.waiting.values().flatten();
            let pauses = pauses.into_iter().any(|it| it.reason == WaitReason::ActionFailed);
            let busy = pauses || self.is_busy();
            self.tick();
            if plan.actions.is_empty() && !busy {
                return rounds;
            }
            if !plan.actions.is_empty() {
                rounds.push(plan.actions);
            }
        }
        panic!("the world did not settle in 1000 rounds");
    }

    fn is_busy(&self) -> bool {
        let phases = self.seen.values().flat_map(BTreeMap::values).map(|seen| seen.phase);
        phases.into_iter().any(|it| matches!(it, SeenPhase::Starting | SeenPhase::Stopping))
    }

    /// All that the drivers have, whatever the target.
    pub(crate) fn running(&self) -> impl Iterator<Item = &SeenWorker> {
        self.seen.values().flat_map(BTreeMap::values)
    }

    pub(crate) fn seen_mut(&mut self, worker: WorkerId) -> &mut SeenWorker {
        let all = self.seen.values_mut().flat_map(BTreeMap::values_mut);
        all.into_iter().find(|seen| seen.id == worker).expect("no driver has this worker")
    }
}

pub(crate) fn starting(id: WorkerId) -> SeenWorker {
    SeenWorker {
        id,
        phase: SeenPhase::Starting,
        ready: false,
        reason: String::new(),
        message: String::new(),
        restarts: 0,
        restart: 0,
        pid: None,
        ports: BTreeMap::new(),
        started_at: None,
    }
}
