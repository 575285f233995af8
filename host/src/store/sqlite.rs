//! The embedded store: one SQLite file, one thread that writes, a connection that reads events.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    thread::JoinHandle,
};

use futures_util::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, mpsc, oneshot, watch};

use super::{
    CommitError, EventPage, EventQuery, LetterChange, LetterQuery, Letters, Prune, Store,
    StoreError, Write, deliveries,
    lock::DataLock,
    log,
    schema::{self, sqlite},
    writer::{Errand, Job, Published, Writer},
};
use crate::{
    admission::Answer,
    clock::Clock,
    ids::{EventSubscriptionId, HostId, IdSource},
    records::{Change, Counter, Record, Records},
    subscriptions::delivery::{DeadLetter, Delivery},
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
        let position = log::last_position(&connection)?;
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

impl SqliteStore {
    /// Reads something beside the records.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        // Those who wait take up no thread.
        let mut reader = Arc::clone(&self.reader).lock_owned().await;
        let read = tokio::task::spawn_blocking(move || read(&mut reader));
        read.await.unwrap_or_else(|error| {
            Err(StoreError::Unreadable { what: format!("something ({error})") })
        })
    }

    /// Does something in a transaction of the writer's.
    async fn run(
        &self,
        run: impl FnOnce(&Transaction<'_>) -> Result<u64, StoreError> + Send + 'static,
    ) -> Result<u64, CommitError> {
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(CommitError::Closed)?;
        let errand = Job::Errand(Errand { run: Box::new(run), reply });
        jobs.send(errand).await.map_err(|_| CommitError::Closed)?;
        answer.await.map_err(|_| CommitError::Closed)?
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
            jobs.send(Job::Write(Box::new(write), reply)).await.map_err(|_| CommitError::Closed)?;
            answer.await.map_err(|_| CommitError::Closed)?
        })
    }

    fn events(&self, query: EventQuery) -> BoxFuture<'_, Result<EventPage, StoreError>> {
        Box::pin(self.read(move |connection| log::read(connection, &query)))
    }

    fn delivery(
        &self,
        id: EventSubscriptionId,
    ) -> BoxFuture<'_, Result<(Delivery, u64), StoreError>> {
        Box::pin(self.read(move |connection| deliveries::read(connection, id)))
    }

    fn save_delivery(
        &self,
        id: EventSubscriptionId,
        delivery: Delivery,
        letter: LetterChange,
    ) -> BoxFuture<'_, Result<u64, CommitError>> {
        Box::pin(
            self.run(move |transaction| deliveries::save(transaction, id, (&delivery, &letter))),
        )
    }

    fn delivered_subscriptions(
        &self,
    ) -> BoxFuture<'_, Result<Vec<EventSubscriptionId>, StoreError>> {
        Box::pin(self.read(|connection| deliveries::known(connection)))
    }

    fn forget_delivery(&self, id: EventSubscriptionId) -> BoxFuture<'_, Result<u64, CommitError>> {
        Box::pin(self.run(move |transaction| deliveries::forget(transaction, id)))
    }

    fn dead_letters(
        &self,
        query: LetterQuery,
    ) -> BoxFuture<'_, Result<Vec<DeadLetter>, StoreError>> {
        Box::pin(self.read(move |connection| deliveries::letters(connection, &query)))
    }

    fn handle_dead_letters(
        &self,
        id: EventSubscriptionId,
        letters: Letters,
    ) -> BoxFuture<'_, Result<u64, CommitError>> {
        Box::pin(self.run(move |transaction| deliveries::handle(transaction, id, &letters)))
    }

    fn prune_events(&self, prune: Prune) -> BoxFuture<'_, Result<u64, CommitError>> {
        Box::pin(self.run(move |transaction| log::prune(transaction, &prune)))
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
    each(connection, "event_subscriptions", |_, it| put(Record::EventSubscription(it)))?;
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
