//! Turns a plan, what was observed and what became of a plan into rows and events.

use std::{collections::BTreeMap, sync::Arc};

use super::{Action, Plan, Receipts, World, plan};
use crate::{
    admission::{Answer, Context, Decision, Declared, declare::report_quotas},
    capacity::room,
    capacity::target,
    conditions::{self, Condition},
    environments::model as environments,
    events::{
        ConditionNow, Event, ObservedStateChanged, ProvisioningApplied, ProvisioningFailed,
        ProvisioningPlanned, Subject,
    },
    ids::{OperationId, PlanId, WorkerId, WorkerPoolId},
    observed::Observed,
    operations::model::{Operation, OperationVerb},
    pools::{
        conditions as pools,
        worker::{Reported, Worker},
    },
    records::{Change, Record, Records},
};

/// Plans within the transaction, so that what is decided fits the very records it is stored in.
pub(crate) fn decide(cx: &Context<'_>, observed: &Arc<Observed>) -> Decision {
    let world = World { records: cx.records, observed };
    let (plan, report) = plan(world, cx.now, cx.ids);
    let mut journal = Journal::new(cx);
    journal.planned(&plan, observed);
    journal.observed(observed);
    let after = cx.records.with(&journal.changes());
    journal.conditions(&after, observed);
    let mut decision = journal.into_decision(Answer::Planned(Box::new((plan, report))));
    if decision.changes.iter().any(|change| matches!(change, Change::Remove(_))) {
        let concerned = room::concerned(cx.records, &after, &decision.changes);
        report_quotas(cx, &after, (&concerned, &mut decision));
    }
    decision
}

/// Records what became of a plan.
pub(crate) fn record(cx: &Context<'_>, receipts: &Receipts) -> Decision {
    let mut journal = Journal::new(cx);
    let mut applied: BTreeMap<WorkerPoolId, ProvisioningApplied> = BTreeMap::new();
    let nothing =
        || ProvisioningApplied { plan: receipts.plan, started: Vec::new(), removed: Vec::new() };
    for id in &receipts.started {
        let Some(worker) = cx.records.workers.get(id) else { continue };
        applied.entry(worker.pool).or_insert_with(nothing).started.push(*id);
        journal.worker(worker).launched = true;
    }
    let mut drained: BTreeMap<OperationId, Operation> = BTreeMap::new();
    for id in &receipts.forgotten {
        let Some(worker) = cx.records.workers.get(id) else { continue };
        if let Some(operation) = drained_by(cx.records, worker) {
            let now = || Operation::clone(operation);
            drained.entry(operation.id).or_insert_with(now).done += 1;
        }
        applied.entry(worker.pool).or_insert_with(nothing).removed.push(*id);
        journal.changes.push(Change::Remove(Record::Worker(Arc::clone(worker))));
    }
    let mut failed: BTreeMap<WorkerPoolId, BTreeMap<WorkerId, String>> = BTreeMap::new();
    for (id, message) in &receipts.failed {
        let Some(worker) = cx.records.workers.get(id) else { continue };
        failed.entry(worker.pool).or_default().insert(*id, message.clone());
    }
    for (pool, event) in applied {
        journal.tell(pool, Event::ProvisioningApplied(event));
    }
    for (pool, workers) in failed {
        let event = ProvisioningFailed { plan: receipts.plan, workers };
        journal.tell(pool, Event::ProvisioningFailed(event));
    }
    for operation in drained.into_values() {
        journal.advance(operation);
    }
    journal.into_decision(Answer::Done)
}

/// The operation under way that has drained a worker that is gone.
fn drained_by<'a>(records: &'a Records, worker: &Worker) -> Option<&'a Arc<Operation>> {
    let task = worker.task.filter(|task| task.verb == OperationVerb::Drain)?;
    records.operations.get(&task.operation).filter(|operation| operation.ended_at.is_none())
}

/// Changes and events in the making. A worker that changes for several reasons is stored once.
struct Journal<'a> {
    cx: &'a Context<'a>,
    workers: BTreeMap<WorkerId, Worker>,
    changes: Vec<Change>,
    events: Vec<(Subject, Event)>,
}

impl<'a> Journal<'a> {
    fn new(cx: &'a Context<'a>) -> Self {
        Self { cx, workers: BTreeMap::new(), changes: Vec::new(), events: Vec::new() }
    }

    /// The worker as it will be stored.
    fn worker(&mut self, worker: &Arc<Worker>) -> &mut Worker {
        self.workers.entry(worker.id).or_insert_with(|| Worker::clone(worker))
    }

    fn changes(&self) -> Vec<Change> {
        let workers = self.workers.values().cloned();
        let workers = workers.map(|worker| Change::Put(Record::Worker(worker.into())));
        workers.chain(self.changes.iter().cloned()).collect()
    }

    fn into_decision(self, answer: Answer) -> Decision {
        Decision { changes: self.changes(), events: self.events, answer }
    }

    fn tell(&mut self, pool: WorkerPoolId, event: Event) {
        let Some(pool) = self.cx.records.worker_pools.get(&pool) else { return };
        self.events.push((pool.subject(self.cx.records), event));
    }

    fn planned(&mut self, plan: &Plan, observed: &Observed) {
        let mut planned: BTreeMap<WorkerPoolId, ProvisioningPlanned> = BTreeMap::new();
        let empty = || ProvisioningPlanned {
            plan: plan.id,
            start: Vec::new(),
            stop: BTreeMap::new(),
            restart: Vec::new(),
        };
        for action in &plan.actions {
            match action {
                Action::Add(worker) => {
                    planned.entry(worker.pool).or_insert_with(empty).start.push(worker.id);
                    self.worker(worker);
                }
                // Another attempt of what is planned already is no news.
                Action::Ensure(worker) if observed.failures.contains_key(&worker.id) => {}
                Action::Ensure(worker) => {
                    planned.entry(worker.pool).or_insert_with(empty).start.push(worker.id);
                }
                Action::Restart(worker) => {
                    let before = self.cx.records.workers.get(&worker.id);
                    // Another attempt, too, is no news.
                    if before.is_none_or(|before| before.restart < worker.restart) {
                        planned.entry(worker.pool).or_insert_with(empty).restart.push(worker.id);
                        *self.worker(worker) = Worker::clone(worker);
                    }
                }
                Action::Dismiss(worker) => *self.worker(worker) = Worker::clone(worker),
                Action::Advance(operation) => self.advance(Operation::clone(operation)),
                Action::Retire { worker, why } => {
                    let stop = &mut planned.entry(worker.pool).or_insert_with(empty).stop;
                    stop.insert(worker.id, why.code().to_owned());
                    *self.worker(worker) = worker.retired();
                }
                Action::RemovePool(id) => self.remove_pool(*id),
                Action::Stop(_) | Action::Forget(_) | Action::Evict { .. } => {}
            }
        }
        for (pool, event) in planned {
            self.tell(pool, Event::ProvisioningPlanned(event));
        }
    }

    /// Stores an operation, and tells if it has ended.
    fn advance(&mut self, mut operation: Operation) {
        operation.close(self.cx.now);
        if operation.ended_at.is_some() {
            self.tell(operation.pool, Event::operation_ended(&operation));
        }
        self.changes.push(Change::Put(Record::Operation(operation.into())));
    }

    fn remove_pool(&mut self, id: WorkerPoolId) {
        let Some(pool) = self.cx.records.worker_pools.get(&id) else { return };
        let operations = self.cx.records.operations.values().filter(|it| it.pool == id);
        let remove = |it: &Arc<Operation>| Change::Remove(Record::Operation(Arc::clone(it)));
        self.changes.extend(operations.map(remove));
        let conditions = Record::Conditions(id.to_string(), BTreeMap::new());
        self.changes.push(Change::Remove(Record::WorkerPool(Arc::clone(pool))));
        self.changes.push(Change::Remove(conditions));
        let event = ObservedStateChanged {
            workers: BTreeMap::new(),
            conditions: [ConditionNow::entry(&gone())].into(),
        };
        self.tell(id, Event::ObservedStateChanged(event));
    }

    /// Workers whose driver says something new of them, an event per pool.
    fn observed(&mut self, observed: &Observed) {
        let mut news: BTreeMap<WorkerPoolId, BTreeMap<WorkerId, Reported>> = BTreeMap::new();
        let mut unrecorded: BTreeMap<(WorkerPoolId, PlanId), Vec<WorkerId>> = BTreeMap::new();
        for worker in self.cx.records.workers.values() {
            let Some(seen) = observed.worker(worker.target, worker.id) else { continue };
            let reported = Reported::of(seen);
            if worker.reported.as_ref() != Some(&reported) {
                news.entry(worker.pool).or_default().insert(worker.id, reported.clone());
                self.worker(worker).reported = Some(reported);
            }
            if !worker.launched {
                unrecorded.entry((worker.pool, worker.plan)).or_default().push(worker.id);
                self.worker(worker).launched = true;
            }
        }
        for ((pool, plan), started) in unrecorded {
            let event = ProvisioningApplied { plan, started, removed: Vec::new() };
            self.tell(pool, Event::ProvisioningApplied(event));
        }
        for (pool, workers) in news {
            let event = ObservedStateChanged { workers, conditions: BTreeMap::new() };
            self.tell(pool, Event::ObservedStateChanged(event));
        }
    }

    /// Conditions whose status is not as recorded, an event per resource.
    fn conditions(&mut self, after: &Records, observed: &Observed) {
        for pool in after.worker_pools.values() {
            let said = pools::conditions(pool, after, observed);
            if self.has_news(after, &pool.id(), &said) {
                let tally = pools::tally(pool, after, observed);
                let event = Event::pool_changed(pool.spec.size, tally, now_true(&said));
                self.tell(pool.id, event);
            }
        }
        for environment in after.environments.values() {
            let said = environments::conditions(environment, after, observed);
            self.tell_conditions(after, &**environment, &said);
        }
        for target in after.capacity_targets.values() {
            let said = target::conditions(target, observed);
            self.tell_conditions(after, &**target, &said);
        }
    }

    fn tell_conditions<N: Declared>(&mut self, after: &Records, it: &N, said: &[Condition]) {
        if self.has_news(after, &it.id(), said) {
            let subject = Subject {
                kind: N::KIND,
                id: it.id(),
                name: it.key(after),
                generation: it.meta().generation,
            };
            let conditions = now_true(said);
            let event = ObservedStateChanged { workers: BTreeMap::new(), conditions };
            self.events.push((subject, Event::ObservedStateChanged(event)));
        }
    }

    /// Records the conditions if a status among them changed.
    fn has_news(&mut self, after: &Records, id: &str, said: &[Condition]) -> bool {
        let recorded = conditions::record(after.conditions.get(id), self.cx.now, said);
        let is_news = recorded.is_some();
        self.changes.extend(recorded.map(|it| Change::Put(Record::Conditions(id.to_owned(), it))));
        is_news
    }
}

fn now_true(said: &[Condition]) -> BTreeMap<String, ConditionNow> {
    said.iter().map(ConditionNow::entry).collect()
}

fn gone() -> Condition {
    Condition::new("Exists", conditions::Status::False, "Deleted", "its last worker is gone")
}
