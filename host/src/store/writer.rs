//! The one thread that writes. Commands that wait while it commits share the next commit.
//!
//! Invariants:
//! - The published records are exactly what is committed.
//! - A command is answered only after its commit.
//! - The time that decisions are made at never goes back, also from one host to the next.
//! - When a commit fails, every command in it is told, and the records are as they were.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, RwLock},
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot, watch};

use super::{CommitError, Mode, RequestKey, StoreError, Write, schema::sqlite};
use crate::{
    admission::{self, Answer, Command, Context, Decision, Refusal},
    clock::Clock,
    events::{Event, Subject},
    ids::{EventId, IdSource},
    leases,
    records::{Change, Counter, Record, Records},
};

/// What everyone may see: the last commit.
pub(super) struct Published {
    pub(super) records: RwLock<Arc<Records>>,
    pub(super) position: watch::Sender<u64>,
    pub(super) version: watch::Sender<u64>,
}

impl Published {
    pub(super) fn records(&self) -> Arc<Records> {
        Arc::clone(&self.records.read().unwrap_or_else(PoisonError::into_inner))
    }
}

type Reply = oneshot::Sender<Result<Answer, CommitError>>;

pub(super) enum Job {
    Write(Box<Write>, Reply),
    Errand(Errand),
}

type Run = Box<dyn FnOnce(&Transaction<'_>) -> Result<u64, StoreError> + Send>;

/// Something to be done in a transaction that changes no record: it answers with a number.
pub(super) struct Errand {
    pub(super) run: Run,
    pub(super) reply: oneshot::Sender<Result<u64, CommitError>>,
}

/// What somebody is told after the commit.
enum Told {
    Write(Reply, Result<Answer, CommitError>),
    Errand(oneshot::Sender<Result<u64, CommitError>>, u64),
}

impl Told {
    /// A caller that has gone does not want its answer.
    fn tell(self) {
        let _ = match self {
            Self::Write(reply, answer) => reply.send(answer).is_ok(),
            Self::Errand(reply, number) => reply.send(Ok(number)).is_ok(),
        };
    }

    fn fail(self, error: &Arc<StoreError>) {
        let error = CommitError::Failed(Arc::clone(error));
        let _ = match self {
            Self::Write(reply, _) => reply.send(Err(error)).is_ok(),
            Self::Errand(reply, _) => reply.send(Err(error)).is_ok(),
        };
    }
}

pub(super) struct Writer {
    connection: Connection,
    published: Arc<Published>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

/// Commands in one commit.
const BATCH: usize = 128;

/// Answers are kept for so long, for callers that repeat a request.
const REQUESTS_KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);

impl Writer {
    pub(super) fn new(
        connection: Connection,
        published: Arc<Published>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { connection, published, clock, ids }
    }

    pub(super) fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut jobs = vec![first];
            while jobs.len() < BATCH
                && let Ok(job) = queue.try_recv()
            {
                jobs.push(job);
            }
            self.commit(jobs);
        }
    }

    fn commit(&mut self, jobs: Vec<Job>) {
        let before = self.published.records();
        let mut replies = Vec::with_capacity(jobs.len());
        match self.try_commit(&before, jobs, &mut replies) {
            Ok((records, position)) => {
                self.publish(&before, records, position);
                replies.into_iter().for_each(Told::tell);
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "cannot commit");
                let error = Arc::new(error);
                replies.into_iter().for_each(|told| told.fail(&error));
            }
        }
    }

    fn publish(&self, before: &Records, records: Records, position: Option<u64>) {
        let version = records.version;
        if version != before.version {
            let mut published =
                self.published.records.write().unwrap_or_else(PoisonError::into_inner);
            *published = Arc::new(records);
            drop(published);
            self.published.version.send_replace(version);
        }
        if let Some(position) = position {
            self.published.position.send_replace(position);
        }
    }

    /// Fills `replies` with every job's, also when it fails.
    fn try_commit(
        &mut self,
        before: &Records,
        jobs: Vec<Job>,
        replies: &mut Vec<Told>,
    ) -> Result<(Records, Option<u64>), StoreError> {
        let mut jobs = jobs.into_iter();
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let done = begun.map_err(sqlite("begin a transaction")).and_then(|transaction| {
            let (clock, ids) = (&*self.clock, &*self.ids);
            let mut batch =
                Batch { clock, ids, transaction, records: before.clone(), position: None };
            for job in jobs.by_ref() {
                let (told, failed) = match job {
                    Job::Write(write, reply) => match batch.run(&write) {
                        Ok(answer) => (Told::Write(reply, answer), None),
                        Err(error) => (Told::Write(reply, Err(CommitError::Closed)), Some(error)),
                    },
                    Job::Errand(Errand { run, reply }) => match run(&batch.transaction) {
                        Ok(number) => (Told::Errand(reply, number), None),
                        Err(error) => (Told::Errand(reply, 0), Some(error)),
                    },
                };
                replies.push(told);
                if let Some(error) = failed {
                    return Err(error);
                }
            }
            batch.transaction.commit().map_err(sqlite("commit"))?;
            Ok((batch.records, batch.position))
        });
        replies.extend(jobs.map(|job| match job {
            Job::Write(_, reply) => Told::Write(reply, Err(CommitError::Closed)),
            Job::Errand(Errand { reply, .. }) => Told::Errand(reply, 0),
        }));
        done
    }
}

/// Of one command: the inner result is its own, an outer error ends the whole batch.
type Outcome = Result<Result<Answer, CommitError>, StoreError>;

/// Commands that share a transaction, and what they have made of the records so far.
struct Batch<'a> {
    clock: &'a dyn Clock,
    ids: &'a dyn IdSource,
    transaction: Transaction<'a>,
    records: Records,
    /// Of the last event, if there is one.
    position: Option<u64>,
}

impl Batch<'_> {
    fn run(&mut self, write: &Write) -> Outcome {
        if let Some(request) = &write.request
            && let Some(answer) = answered(&self.transaction, request)?
        {
            return Ok(answer.map_err(CommitError::Refused));
        }
        let now = self.clock.now().max(self.records.time);
        let cx = Context { records: &self.records, now, ids: self.ids };
        if write.mode == Mode::Commit && leases::settle::is_due(&cx) {
            // What time has brought about is the host's doing, and stays if the command is refused.
            let settle = Write::of_host(Command::SettleLeases);
            if let Err(error) = self.decide(&settle, now)? {
                return Ok(Err(error));
            }
        }
        self.decide(write, now)
    }

    fn decide(&mut self, write: &Write, now: jiff::Timestamp) -> Outcome {
        let cx = Context { records: &self.records, now, ids: self.ids };
        let decide = || admission::decide(&cx, &write.command, write.found.clone());
        let decision = match catch_unwind(AssertUnwindSafe(decide)) {
            Ok(Ok(decision)) => decision,
            Ok(Err(refusal)) => return Ok(Err(CommitError::Refused(refusal))),
            Err(_) => return Ok(Err(CommitError::Panicked)),
        };
        if write.mode == Mode::Commit {
            self.store(write, now, &decision)?;
        }
        Ok(Ok(decision.answer))
    }

    fn store(
        &mut self,
        write: &Write,
        now: jiff::Timestamp,
        decision: &Decision,
    ) -> Result<(), StoreError> {
        let is_later = !decision.is_empty() && now > self.records.time;
        let micros = u64::try_from(now.as_microsecond()).unwrap_or(0);
        let time = is_later.then_some(Change::Put(Record::Counter(Counter::Time, micros)));
        for change in decision.changes.iter().chain(&time) {
            match change {
                Change::Put(record) => put(&self.transaction, record)?,
                Change::Remove(record) => remove(&self.transaction, record)?,
                Change::Recount => {}
            }
            self.records.apply(change);
        }
        for (subject, event) in &decision.events {
            let entry = Entry { id: EventId::new(self.ids), now, actor: &write.actor };
            self.position = Some(append(&self.transaction, &entry, subject, event)?);
        }
        match &write.request {
            Some(request) => remember(&self.transaction, request, now, &decision.answer),
            None => Ok(()),
        }
    }
}

/// Table, id, parent, name and document of a record.
struct Place {
    table: &'static str,
    id: String,
    parent: String,
    name: String,
}

fn place(record: &Record) -> Place {
    let (table, id, parent, name) = match record {
        Record::CapacityLease(it) => {
            ("capacity_leases", it.id.to_string(), Some(it.environment.to_string()), &it.meta.name)
        }
        Record::CapacityTarget(it) => ("capacity_targets", it.id.to_string(), None, &it.meta.name),
        Record::Conditions(id, _) => ("conditions", id.clone(), None, id),
        Record::Counter(counter, _) => {
            let name = counter.name().to_owned();
            return Place { table: "counters", id: name.clone(), parent: String::new(), name };
        }
        Record::Environment(it) => ("environments", it.id.to_string(), None, &it.meta.name),
        Record::EventSubscription(it) => {
            ("event_subscriptions", it.id.to_string(), None, &it.meta.name)
        }
        Record::Operation(it) => {
            let id = it.id.to_string();
            let name = id.clone();
            return Place { table: "operations", id, parent: it.pool.to_string(), name };
        }
        Record::Quota(it) => ("quotas", it.id.to_string(), None, &it.meta.name),
        Record::ServiceAccount(it) => ("service_accounts", it.id.to_string(), None, &it.meta.name),
        Record::Token(it) => {
            let account = it.account.map(|account| account.to_string());
            ("tokens", it.id.to_string(), account, &it.meta.name)
        }
        Record::Worker(it) => {
            let id = it.id.to_string();
            let name = id.clone();
            return Place { table: "workers", id, parent: it.pool.to_string(), name };
        }
        Record::WorkerPool(it) => {
            ("worker_pools", it.id.to_string(), Some(it.environment.to_string()), &it.meta.name)
        }
    };
    Place { table, id, parent: parent.unwrap_or_default(), name: name.clone() }
}

fn document(record: &Record) -> Result<String, StoreError> {
    match record {
        Record::CapacityLease(it) => serde_json::to_string(&**it),
        Record::CapacityTarget(it) => serde_json::to_string(&**it),
        Record::Conditions(_, it) => serde_json::to_string(it),
        Record::Counter(_, it) => serde_json::to_string(it),
        Record::Environment(it) => serde_json::to_string(&**it),
        Record::EventSubscription(it) => serde_json::to_string(&**it),
        Record::Operation(it) => serde_json::to_string(&**it),
        Record::Quota(it) => serde_json::to_string(&**it),
        Record::ServiceAccount(it) => serde_json::to_string(&**it),
        Record::Token(it) => serde_json::to_string(&**it),
        Record::Worker(it) => serde_json::to_string(&**it),
        Record::WorkerPool(it) => serde_json::to_string(&**it),
    }
    .map_err(StoreError::Encode)
}

fn put(transaction: &Transaction<'_>, record: &Record) -> Result<(), StoreError> {
    let Place { table, id, parent, name } = place(record);
    let sql = format!(
        "INSERT INTO {table} (id, parent, name, document) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET document = excluded.document"
    );
    let error = || sqlite("store a document");
    let mut statement = transaction.prepare_cached(&sql).map_err(error())?;
    statement.execute(params![id, parent, name, document(record)?]).map_err(error())?;
    Ok(())
}

fn remove(transaction: &Transaction<'_>, record: &Record) -> Result<(), StoreError> {
    let Place { table, id, .. } = place(record);
    let error = || sqlite("remove a document");
    let mut statement = transaction
        .prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))
        .map_err(error())?;
    statement.execute([id]).map_err(error())?;
    Ok(())
}

const APPEND: &str = "
    INSERT INTO events
        (id, type, time, subject_kind, subject_id, subject_name, generation, actor, data)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// What an event gets when it is logged.
struct Entry<'a> {
    id: EventId,
    now: jiff::Timestamp,
    actor: &'a str,
}

fn append(
    transaction: &Transaction<'_>,
    entry: &Entry<'_>,
    subject: &Subject,
    event: &Event,
) -> Result<u64, StoreError> {
    let error = || sqlite("append an event");
    let mut statement = transaction.prepare_cached(APPEND).map_err(error())?;
    let data = event.data().map_err(StoreError::Encode)?;
    let position = statement
        .insert(params![
            entry.id.to_string(),
            event.type_name(),
            entry.now.as_microsecond(),
            subject.kind.code(),
            subject.id,
            subject.name,
            i64::try_from(subject.generation).unwrap_or(i64::MAX),
            entry.actor,
            data,
        ])
        .map_err(error())?;
    u64::try_from(position)
        .map_err(|_| StoreError::Unreadable { what: format!("event position {position}") })
}

/// What was answered under this request id, if anything was.
fn answered(
    transaction: &Transaction<'_>,
    request: &RequestKey,
) -> Result<Option<Result<Answer, Refusal>>, StoreError> {
    let error = || sqlite("look for an earlier answer");
    let stored: Option<(String, String)> = transaction
        .prepare_cached(
            "SELECT fingerprint, answer FROM requests WHERE caller = ?1 AND request_id = ?2",
        )
        .map_err(error())?
        .query_row(params![request.caller.to_string(), request.request_id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(error())?;
    let Some((fingerprint, answer)) = stored else { return Ok(None) };
    if fingerprint != request.fingerprint {
        let request_id = request.request_id.clone();
        return Ok(Some(Err(Refusal::RequestIdReused { request_id })));
    }
    let answer = serde_json::from_str(&answer).map_err(|source| StoreError::Document {
        table: "requests",
        id: request.request_id.clone(),
        source,
    })?;
    Ok(Some(Ok(answer)))
}

/// Keeps an answer, and drops those that are too old.
fn remember(
    transaction: &Transaction<'_>,
    request: &RequestKey,
    now: jiff::Timestamp,
    answer: &Answer,
) -> Result<(), StoreError> {
    let error = || sqlite("store an answer");
    let answer = serde_json::to_string(answer).map_err(StoreError::Encode)?;
    let old = now.saturating_sub(REQUESTS_KEPT).unwrap_or(jiff::Timestamp::MIN);
    transaction
        .prepare_cached("DELETE FROM requests WHERE time < ?1")
        .map_err(error())?
        .execute([old.as_microsecond()])
        .map_err(error())?;
    transaction
        .prepare_cached(
            "INSERT INTO requests (caller, request_id, fingerprint, answer, time)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .map_err(error())?
        .execute(params![
            request.caller.to_string(),
            request.request_id,
            request.fingerprint,
            answer,
            now.as_microsecond(),
        ])
        .map_err(error())?;
    Ok(())
}
