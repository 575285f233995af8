//! Whether an operation may begin or be called off, and what that changes. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::model::{Fate, Operation, OperationSpec, Step};
use crate::{
    admission::{Answer, Context, Decision, Declared, Refusal},
    events::{Event, WorkerOperationStarted},
    ids::{OperationId, WorkerId},
    pools::{model::WorkerPool, worker::Worker},
    records::{Change, Record},
    resource::{Kind, quoted},
    violations::Violations,
};

/// Operations that have ended and are kept, of each pool.
const ENDED_KEPT: usize = 20;

pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(60 * 60);
const DEADLINE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const GRACE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// An operation as it is asked for.
#[derive(Debug, Clone)]
pub struct Start {
    /// Id or `ENVIRONMENT/NAME`.
    pub pool: String,
    /// Of the pool; 0: whatever it has.
    pub revision: u64,
    /// Ids; empty: all that run.
    pub workers: Vec<String>,
    pub spec: OperationSpec,
}

#[derive(Debug, Clone)]
pub struct Cancel {
    pub key: String,
    /// Ids; empty: all that wait.
    pub workers: Vec<String>,
}

pub fn start(cx: &Context<'_>, it: &Start, mut found: Violations) -> Result<Decision, Refusal> {
    let pool = cx
        .records
        .worker_pool(&it.pool)
        .ok_or_else(|| Refusal::NotFound { kind: Kind::WorkerPool, key: it.pool.clone() })?;
    let name = pool.key(cx.records);
    let has = pool.meta.revision;
    if it.revision != 0 && it.revision != has {
        let kind = Kind::WorkerPool;
        return Err(Refusal::RevisionMismatch { kind, name, wanted: it.revision, has });
    }
    if pool.meta.deleting_since.is_some() {
        return Err(Refusal::BeingDeleted { kind: Kind::WorkerPool, name });
    }
    check(&it.spec, pool, &mut found);
    let workers = chosen(cx, pool, &it.workers, &mut found);
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let mut operation =
        Operation::begun(OperationId::new(cx.ids), pool.id, it.spec.clone(), cx.now);
    let mut draft = Draft { cx, pool, changes: Vec::new(), events: Vec::new() };
    let started = WorkerOperationStarted {
        operation: operation.id,
        verb: it.spec.verb,
        workers: workers.iter().map(|worker| worker.id).collect(),
    };
    draft.tell(Event::WorkerOperationStarted(started));
    draft.forget_old();
    let mut others: BTreeMap<OperationId, Operation> = BTreeMap::new();
    for worker in workers {
        if let Some(task) = worker.task
            && let Some(other) = cx.records.operations.get(&task.operation)
            && other.ended_at.is_none()
        {
            let other = others.entry(other.id).or_insert_with(|| Operation::clone(other));
            other.hand_over(task, operation.id);
        }
        operation.total += 1;
        draft.put(Worker { task: Some(operation.task(Step::Waiting)), ..Worker::clone(worker) });
    }
    for other in others.into_values() {
        draft.settle(other);
    }
    Ok(draft.into_decision(operation))
}

fn check(spec: &OperationSpec, pool: &WorkerPool, found: &mut Violations) {
    let size = pool.spec.size;
    if spec.min_ready >= size.max(1) {
        let message = format!(
            "{} shall stay ready, and the pool has {size} workers: none could ever go; give less",
            spec.min_ready
        );
        found.add("spec.min_ready", message);
    }
    if spec.grace.is_some_and(|grace| grace > GRACE_MAX) {
        found.add("spec.grace", "it is longer than a day: shorten it");
    }
    if spec.deadline.is_zero() || spec.deadline > DEADLINE_MAX {
        found.add("spec.deadline", "give a time of more than zero and at most 7 days");
    }
}

/// The workers that are meant, oldest first, each once.
fn chosen<'a>(
    cx: &Context<'a>,
    pool: &WorkerPool,
    keys: &[String],
    found: &mut Violations,
) -> Vec<&'a Arc<Worker>> {
    if keys.is_empty() {
        return cx.records.workers_of(pool.id).filter(|worker| worker.runs()).collect();
    }
    let mut chosen = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        let worker = cx.records.worker(key).filter(|worker| worker.pool == pool.id);
        match worker {
            Some(worker) if worker.runs() => {
                chosen.insert(worker.id, worker);
            }
            Some(worker) => {
                let by = worker.task.map_or_else(String::new, |task| {
                    format!(" ({} of {})", task.verb.name(), task.operation)
                });
                let message = format!("worker `{key}` is being stopped already{by}: leave it out");
                found.add(&format!("workers[{index}]"), message);
            }
            None => {
                let (key, pool) = (quoted(key), pool.key(cx.records));
                let message = format!("worker pool `{pool}` has no worker {key}");
                found.add(&format!("workers[{index}]"), message);
            }
        }
    }
    chosen.into_values().collect()
}

pub fn cancel(cx: &Context<'_>, it: &Cancel, mut found: Violations) -> Result<Decision, Refusal> {
    let operation = cx
        .records
        .operation(&it.key)
        .ok_or_else(|| Refusal::NotFound { kind: Kind::WorkerOperation, key: it.key.clone() })?;
    let unchanged = || Decision::unchanged(Answer::Operation(Arc::clone(operation)));
    let Some(pool) = cx.records.worker_pools.get(&operation.pool) else { return Ok(unchanged()) };
    let waits = |worker: &&Arc<Worker>| {
        worker.task.is_some_and(|task| task.operation == operation.id && task.waits())
    };
    let waiting: BTreeMap<WorkerId, &Arc<Worker>> =
        cx.records.workers_of(pool.id).filter(waits).map(|worker| (worker.id, worker)).collect();
    let mut meant: BTreeSet<WorkerId> = BTreeSet::new();
    for (index, key) in it.workers.iter().enumerate() {
        if let Some(id) = key.parse().ok().filter(|id| waiting.contains_key(id)) {
            meant.insert(id);
        } else {
            let key = quoted(key);
            let message = format!(
                "worker {key} does not wait in this operation: it never did, or its turn has come"
            );
            found.add(&format!("workers[{index}]"), message);
        }
    }
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    if operation.ended_at.is_some() {
        return Ok(unchanged());
    }
    let mut after = Operation::clone(operation);
    let mut draft = Draft { cx, pool, changes: Vec::new(), events: Vec::new() };
    for worker in waiting.values() {
        if it.workers.is_empty() || meant.contains(&worker.id) {
            after.skipped += 1;
            draft.put(Worker { task: None, ..Worker::clone(worker) });
        }
    }
    if it.workers.is_empty() && !waiting.is_empty() {
        after.fate = Some(Fate::Cancelled);
    }
    Ok(draft.into_decision(after))
}

/// A decision in the making.
struct Draft<'a> {
    cx: &'a Context<'a>,
    pool: &'a WorkerPool,
    changes: Vec<Change>,
    events: Vec<Event>,
}

impl Draft<'_> {
    fn put(&mut self, worker: Worker) {
        self.changes.push(Change::Put(Record::Worker(worker.into())));
    }

    fn tell(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Stores an operation, which may be over with this.
    fn settle(&mut self, mut operation: Operation) -> Arc<Operation> {
        if operation.close(self.cx.now) {
            self.tell(Event::operation_ended(&operation));
        }
        let operation = Arc::new(operation);
        self.changes.push(Change::Put(Record::Operation(Arc::clone(&operation))));
        operation
    }

    /// Makes room for one that ends.
    fn forget_old(&mut self) {
        let ended = self.cx.records.operations.values();
        let ended = ended.filter(|it| it.pool == self.pool.id && it.ended_at.is_some());
        let mut ended: Vec<_> = ended.collect();
        ended.sort_by_key(|it| it.id);
        let surplus = (ended.len() + 1).saturating_sub(ENDED_KEPT);
        let old = ended.into_iter().take(surplus);
        self.changes.extend(old.map(|it| Change::Remove(Record::Operation(Arc::clone(it)))));
    }

    fn into_decision(mut self, operation: Operation) -> Decision {
        let answer = Answer::Operation(self.settle(operation));
        let subject = self.pool.subject(self.cx.records);
        let events = self.events.into_iter().map(|event| (subject.clone(), event)).collect();
        Decision { changes: self.changes, events, answer }
    }
}
