//! The embedded store: one SQLite file, one thread that writes, a connection that reads events.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    thread::JoinHandle,
};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, mpsc, oneshot, watch};

use super::{
    CommitError, EventQuery, Store, StoreError, Write,
    lock::DataLock,
    schema::{self, sqlite},
    writer::{Job, Published, Writer},
};
use crate::{
    admission::Answer,
    clock::Clock,
    events::LoggedEvent,
    ids::{HostId, IdSource},
    records::{Change, Counter, Record, Records},
};

pub struct SqliteStore {
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    published: Arc<Published>,
    reader: Arc<Mutex<Connection>>,
    host_id: HostId,
    _lock: DataLock,
}

/// Commands that may wait for the writer before a caller has to.
const QUEUE: usize = 1024;

impl SqliteStore {
    /// Opens the store of a data folder, or makes it. Refused while another host has it.
    pub fn open(
        data_dir: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, StoreError> {
        let lock = DataLock::acquire(data_dir)?;
        let path: PathBuf = data_dir.join("runtimecloud.db");
        schema::create(&path)?;
        let mut connection = schema::open(&path)?;
        schema::migrate(&mut connection, &path)?;
        let host_id = host_id(&connection, &*ids)?;
        let records = Arc::new(load(&connection)?);
        let position = connection
            .query_row("SELECT coalesce(max(position), 0) FROM events", [], |row| unsigned(row, 0))
            .map_err(sqlite("read the last event"))?;
        let published = Arc::new(Published {
            version: watch::Sender::new(records.version),
            records: RwLock::new(records),
            position: watch::Sender::new(position),
        });
        let reader = schema::open(&path)?;
        reader.pragma_update(None, "query_only", true).map_err(sqlite("set up the database"))?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        let writer = Writer::new(connection, Arc::clone(&published), clock, ids);
        let writer = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(|source| StoreError::Io { doing: "start a thread for", path, source })?;
        Ok(Self {
            jobs: Some(jobs),
            writer: Some(writer),
            published,
            reader: Arc::new(Mutex::new(reader)),
            host_id,
            _lock: lock,
        })
    }
}

/// Ends the writer after what it has begun, so that the lock outlives every write.
impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join().is_ok();
        }
    }
}

impl Store for SqliteStore {
    fn records(&self) -> Arc<Records> {
        self.published.records()
    }

    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Answer, CommitError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let jobs = self.jobs.as_ref().ok_or(CommitError::Closed)?;
            jobs.send(Job { write, reply }).await.map_err(|_| CommitError::Closed)?;
            answer.await.map_err(|_| CommitError::Closed)?
        })
    }

    fn events(&self, query: EventQuery) -> BoxFuture<'_, Result<Vec<LoggedEvent>, StoreError>> {
        let reader = Arc::clone(&self.reader);
        Box::pin(async move {
            // Those who wait take up no thread.
            let reader = reader.lock_owned().await;
            let read = move || read_events(&reader, &query);
            tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| {
                Err(StoreError::Unreadable { what: format!("events ({error})") })
            })
        })
    }

    fn last_position(&self) -> watch::Receiver<u64> {
        self.published.position.subscribe()
    }

    fn version(&self) -> watch::Receiver<u64> {
        self.published.version.subscribe()
    }

    fn host_id(&self) -> HostId {
        self.host_id
    }
}

fn host_id(connection: &Connection, ids: &dyn IdSource) -> Result<HostId, StoreError> {
    let stored: Option<String> = connection
        .query_row("SELECT value FROM host WHERE key = 'id'", [], |row| row.get(0))
        .optional()
        .map_err(sqlite("read the host's id"))?;
    if let Some(id) = stored {
        return id.parse().map_err(|_| StoreError::Unreadable { what: format!("host id `{id}`") });
    }
    let id = HostId::new(ids);
    connection
        .execute("INSERT INTO host (key, value) VALUES ('id', ?1)", [id.to_string()])
        .map_err(sqlite("store the host's id"))?;
    Ok(id)
}

/// All documents, table by table.
fn load(connection: &Connection) -> Result<Records, StoreError> {
    let mut records = Records::default();
    let mut put = |record| records.apply(&Change::Put(record));
    each(connection, "capacity_leases", |_, it| put(Record::CapacityLease(it)))?;
    each(connection, "capacity_targets", |_, it| put(Record::CapacityTarget(it)))?;
    each(connection, "environments", |_, it| put(Record::Environment(it)))?;
    each(connection, "operations", |_, it| put(Record::Operation(it)))?;
    each(connection, "quotas", |_, it| put(Record::Quota(it)))?;
    each(connection, "service_accounts", |_, it| put(Record::ServiceAccount(it)))?;
    each(connection, "tokens", |_, it| put(Record::Token(it)))?;
    each(connection, "worker_pools", |_, it| put(Record::WorkerPool(it)))?;
    each(connection, "workers", |_, it| put(Record::Worker(it)))?;
    each(connection, "conditions", |id, it| put(Record::Conditions(id, it)))?;
    each(connection, "counters", |id, number: u64| {
        if let Some(counter) = Counter::parse(&id) {
            put(Record::Counter(counter, number));
        }
    })?;
    Ok(records)
}

fn each<T: DeserializeOwned>(
    connection: &Connection,
    table: &'static str,
    mut put: impl FnMut(String, T),
) -> Result<(), StoreError> {
    let error = || sqlite("read the database");
    let mut statement = connection
        .prepare(&format!("SELECT id, document FROM {table} ORDER BY id"))
        .map_err(error())?;
    let mut rows = statement.query([]).map_err(error())?;
    while let Some(row) = rows.next().map_err(error())? {
        let id: String = row.get(0).map_err(error())?;
        let document: String = row.get(1).map_err(error())?;
        let document = serde_json::from_str(&document).map_err(|source| StoreError::Document {
            table,
            id: id.clone(),
            source,
        })?;
        put(id, document);
    }
    Ok(())
}

/// Two statements, each of which finds its rows by an index.
macro_rules! read_events {
    ($subject:literal) => {
        concat!(
            "SELECT position, id, type, time, subject_kind, subject_id, subject_name, generation,
                    actor, data
             FROM events
             WHERE position > ?1 AND (?2 = '[]' OR type IN (SELECT value FROM json_each(?2)))",
            $subject,
            " ORDER BY position LIMIT ?3"
        )
    };
}
const READ_ALL: &str = read_events!("");
const READ_SUBJECT: &str = read_events!(" AND subject_id = ?4");

fn read_events(
    connection: &Connection,
    query: &EventQuery,
) -> Result<Vec<LoggedEvent>, StoreError> {
    let error = || sqlite("read events");
    let types = serde_json::to_string(&query.types).map_err(StoreError::Encode)?;
    let after = i64::try_from(query.after).unwrap_or(i64::MAX);
    let text = if query.subject_id.is_some() { READ_SUBJECT } else { READ_ALL };
    let mut statement = connection.prepare_cached(text).map_err(error())?;
    let rows = match &query.subject_id {
        Some(id) => statement.query_map(params![after, types, query.limit, id], read_event),
        None => statement.query_map(params![after, types, query.limit], read_event),
    };
    rows.map_err(error())?.map(|row| row.map_err(error())).collect()
}

/// SQLite counts in signed numbers.
fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, number))
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<LoggedEvent> {
    let id: String = row.get(1)?;
    let unreadable = |index, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, error)
    };
    Ok(LoggedEvent {
        position: unsigned(row, 0)?,
        id: id.parse().map_err(|error| unreadable(1, Box::new(error)))?,
        type_name: row.get(2)?,
        time: Timestamp::from_microsecond(row.get(3)?)
            .map_err(|error| unreadable(3, Box::new(error)))?,
        subject_kind: row.get(4)?,
        subject_id: row.get(5)?,
        subject_name: row.get(6)?,
        generation: unsigned(row, 7)?,
        actor: row.get(8)?,
        data: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_subject_are_found_by_its_index_and_all_by_their_position() {
        let connection = Connection::open_in_memory().unwrap();
        schema::MIGRATIONS.iter().for_each(|it| connection.execute_batch(it).unwrap());
        for (text, index) in [(READ_SUBJECT, "events_by_subject"), (READ_ALL, "PRIMARY KEY")] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
            let count = statement.parameter_count();
            let plan: Vec<String> = statement
                .query_map(rusqlite::params_from_iter(vec!["1"; count]), |row| row.get(3))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert!(plan[0].contains(index), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER")), "{plan:?}");
        }
    }
}
