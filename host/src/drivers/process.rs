//! Workers as processes on this machine, each under a supervisor of its own that outlives the host.
//!
//! The driver writes orders into a worker's folder, launches a supervisor where none lives, and reads
//! what supervisors saw. Folders are the only memory: a restarted host, or a second one by mistake, sees
//! the same workers and can not run one twice (see [`crate::supervisor`]).

mod logs;
pub mod orphans;
mod removal;
mod seen;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};

use crate::{
    drivers::{
        CapacityDriver, DriverCondition, DriverError, LogOptions, LogPiece, RestartOrder,
        SeenWorker,
    },
    ids::WorkerId,
    pools::template::WorkerTemplate,
    supervisor::{
        self,
        folder::{Folder, Order, Record, RecordedPhase, StopOrder, create_dir, private_file},
        groups::Places,
        output::OutputLimits,
    },
};

/// Variables of the host that its workers get too. All others stay with the host.
const VARIABLES: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

/// How the driver works.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// Absolute. Workers' folders are in `workers/` below it.
    pub data_dir: PathBuf,
    /// Absolute. Where workers lock their ports: the same for all drivers of a host.
    pub ports: PathBuf,
    /// The program that has the supervisor in it. `/proc/self/exe` is the running one, even if its
    /// file has been replaced since.
    pub program: PathBuf,
    pub output: OutputLimits,
    pub groups: GroupUse,
}

impl ProcessOptions {
    /// What `serve` uses.
    pub fn new(data_dir: PathBuf, ports: PathBuf) -> Self {
        Self {
            data_dir,
            ports,
            program: "/proc/self/exe".into(),
            output: OutputLimits { file_bytes: 4 * 1024 * 1024, files: 4 },
            groups: GroupUse::WherePossible,
        }
    }
}

/// Whether control groups are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupUse {
    WherePossible,
    Never,
}

/// The driver. Cheap to clone; clones are the same driver.
#[derive(Debug, Clone)]
pub struct ProcessDriver {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: ProcessOptions,
    places: Places,
    variables: Vec<(OsString, OsString)>,
    memory: Mutex<Memory>,
    /// Takes folders to delete.
    removal: Sender<PathBuf>,
}

/// What only saves work: all of it can be lost.
#[derive(Debug, Default)]
struct Memory {
    /// Supervisors that this host has launched, until they have ended and are reaped.
    launched: BTreeMap<WorkerId, Vec<Child>>,
    records: BTreeMap<WorkerId, (RecordVersion, Record)>,
}

/// Says whether a record was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordVersion {
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl ProcessDriver {
    /// Probes the system once and goes on to delete what forgotten workers left.
    pub fn new(options: ProcessOptions) -> Result<Self, DriverError> {
        let places = match options.groups {
            GroupUse::WherePossible => Places::probe(),
            GroupUse::Never => Places::default(),
        };
        let variables =
            std::env::vars_os().filter(|(name, _)| VARIABLES.iter().any(|one| name == one));
        let workers = options.data_dir.join("workers");
        let removal = create_dir(&workers)
            .and_then(|()| removal::start(&workers))
            .map_err(|error| DriverError::io("open the workers' folder", error))?;
        let (variables, memory) = (variables.collect(), Mutex::default());
        Ok(Self { inner: Arc::new(Inner { options, places, variables, memory, removal }) })
    }

    /// File work is short, but not for the threads that serve calls.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, DriverError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, DriverError>> {
        let inner = Arc::clone(&self.inner);
        async move {
            let done = tokio::task::spawn_blocking(move || work(&inner)).await;
            done.unwrap_or_else(|error| {
                Err(DriverError::io("finish the driver's work", io::Error::other(error)))
            })
        }
        .boxed()
    }
}

impl CapacityDriver for ProcessDriver {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SeenWorker>, DriverError>> {
        self.blocking(Inner::list)
    }

    fn ensure<'a>(
        &'a self,
        id: WorkerId,
        template: &'a WorkerTemplate,
    ) -> BoxFuture<'a, Result<(), DriverError>> {
        let template = template.clone();
        self.blocking(move |inner| inner.ensure(id, template))
    }

    fn stop(
        &self,
        id: WorkerId,
        grace: Option<Duration>,
    ) -> BoxFuture<'_, Result<(), DriverError>> {
        self.blocking(move |inner| inner.stop(id, StopOrder { grace }))
    }

    fn restart(&self, id: WorkerId, order: RestartOrder) -> BoxFuture<'_, Result<(), DriverError>> {
        self.blocking(move |inner| inner.restart(id, order))
    }

    fn forget(&self, id: WorkerId) -> BoxFuture<'_, Result<(), DriverError>> {
        self.blocking(move |inner| inner.forget(id))
    }

    fn logs(&self, id: WorkerId, options: LogOptions) -> BoxStream<'static, LogPiece> {
        let folder = self.inner.folder(id);
        if !folder.path().is_dir() {
            return stream::once(async move { Err(DriverError::Unknown(id)) }).boxed();
        }
        logs::read(folder, options)
    }

    fn conditions(&self) -> Vec<DriverCondition> {
        vec![seen::limits_enforced(&self.inner.places, self.inner.options.groups)]
    }
}

impl Inner {
    fn workers(&self) -> PathBuf {
        self.options.data_dir.join("workers")
    }

    fn folder(&self, id: WorkerId) -> Folder {
        Folder::new(self.workers().join(id.to_string()))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ensure(&self, id: WorkerId, template: WorkerTemplate) -> Result<(), DriverError> {
        let folder = self.folder(id);
        let ProcessOptions { output, ref ports, .. } = self.options;
        let (places, ports) = (self.places.clone(), ports.clone());
        let order = Order { id, template, output, places, ports };
        let begin = || -> io::Result<()> {
            folder.create()?;
            if folder.stop_is_ordered() {
                return Ok(());
            }
            folder.write_order(&order)?;
            if folder.supervisor()?.is_some() { Ok(()) } else { self.launch(id, &folder) }
        };
        begin().map_err(|error| DriverError::io(format!("start worker `{id}`"), error))
    }

    fn restart(&self, id: WorkerId, order: RestartOrder) -> Result<(), DriverError> {
        let folder = self.folder(id);
        if !folder.path().is_dir() {
            return Ok(());
        }
        let ordered = folder.order_restart(order);
        folder.wake();
        ordered.map_err(|error| DriverError::io(format!("restart worker `{id}`"), error))
    }

    fn stop(&self, id: WorkerId, stop: StopOrder) -> Result<(), DriverError> {
        let folder = self.folder(id);
        let order = || -> io::Result<()> {
            folder.create()?;
            folder.order_stop(stop)?;
            folder.wake();
            self.carry_out_stop(id, &folder)
        };
        order().map_err(|error| DriverError::io(format!("stop worker `{id}`"), error))
    }

    /// Without a supervisor there is nobody to end what may be left, and to say that it is over.
    fn carry_out_stop(&self, id: WorkerId, folder: &Folder) -> io::Result<()> {
        let is_over = !folder.has_order() || is_stopped(folder.record()?.as_ref());
        if is_over || folder.supervisor()?.is_some() || self.is_launching(id) {
            return Ok(());
        }
        self.launch(id, folder)
    }

    /// Harmless when another supervisor lives or is launched at the same time: one gets the lock.
    fn launch(&self, id: WorkerId, folder: &Folder) -> io::Result<()> {
        let troubles = private_file().create(true).append(true).open(folder.troubles())?;
        let child = Command::new(&self.options.program)
            .arg(supervisor::COMMAND)
            .arg(folder.path())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(troubles)
            .spawn()?;
        self.memory().launched.entry(id).or_default().push(child);
        Ok(())
    }

    fn is_launching(&self, id: WorkerId) -> bool {
        let mut memory = self.memory();
        let Some(children) = memory.launched.get_mut(&id) else { return false };
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        !children.is_empty()
    }

    fn list(&self) -> Result<Vec<SeenWorker>, DriverError> {
        let list = || -> io::Result<Vec<SeenWorker>> {
            let mut workers = Vec::new();
            for entry in fs::read_dir(self.workers())? {
                let name = entry?.file_name();
                let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
                let seen = self.look_at(id);
                workers.extend(seen.unwrap_or_else(|error| Some(seen::unreadable(id, &error))));
            }
            workers.sort_by_key(|worker| worker.id);
            Ok(workers)
        };
        let seen = list().map_err(|error| DriverError::io("list workers", error))?;
        self.forget_gone(&seen);
        Ok(seen)
    }

    /// `None`: it has been forgotten meanwhile.
    fn look_at(&self, id: WorkerId) -> io::Result<Option<SeenWorker>> {
        let folder = self.folder(id);
        let supervisor = folder.supervisor()?;
        // Read after the lock was seen free, the record is the last word of whoever held it.
        let record = self.record(id, &folder)?;
        let is_launching = self.is_launching(id);
        if !folder.path().is_dir() {
            return Ok(None);
        }
        if is_stopped(record.as_ref()) {
            return Ok(Some(seen::as_recorded(id, record)));
        }
        if supervisor.is_some() || is_launching {
            // What an earlier supervisor saw is no longer true, and the new one has yet to look.
            let is_current = record.as_ref().map(|record| record.supervisor) == supervisor;
            return Ok(Some(if is_current {
                seen::as_recorded(id, record)
            } else {
                seen::starting(id, record)
            }));
        }
        Ok(Some(if folder.stop_is_ordered() && !folder.has_order() {
            seen::never_started(id)
        } else {
            seen::lost(id, record, &folder)
        }))
    }

    /// Parses only what is new.
    fn record(&self, id: WorkerId, folder: &Folder) -> io::Result<Option<Record>> {
        let version = match fs::metadata(folder.record_path()) {
            Ok(data) => RecordVersion {
                inode: data.ino(),
                seconds: data.mtime(),
                nanoseconds: data.mtime_nsec(),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some((known, record)) = self.memory().records.get(&id)
            && *known == version
        {
            return Ok(Some(record.clone()));
        }
        let record = folder.record()?;
        if let Some(record) = &record {
            self.memory().records.insert(id, (version, record.clone()));
        }
        Ok(record)
    }

    fn forget_gone(&self, seen: &[SeenWorker]) {
        let is_there = |id: &WorkerId| seen.binary_search_by_key(id, |worker| worker.id).is_ok();
        let mut memory = self.memory();
        memory.records.retain(|id, _| is_there(id));
        memory.launched.retain(|_, children| {
            children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
            !children.is_empty()
        });
    }

    fn forget(&self, id: WorkerId) -> Result<(), DriverError> {
        let folder = self.folder(id);
        let cannot = |error| DriverError::io(format!("forget worker `{id}`"), error);
        // A supervisor that has said its last word touches nothing more.
        let is_over = !folder.has_order() || is_stopped(folder.record().map_err(cannot)?.as_ref());
        if !is_over {
            return Err(DriverError::StillRuns(id));
        }
        // Gone in one step; deleted in its own time.
        let removed = removal::path(&self.workers(), id);
        match fs::rename(folder.path(), &removed) {
            Ok(()) => {
                let _the_next_driver_deletes_it_then = self.removal.send(removed);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(cannot(error)),
        }
    }
}

impl DriverError {
    fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}

fn is_stopped(record: Option<&Record>) -> bool {
    record.is_some_and(|record| record.phase == RecordedPhase::Stopped)
}

/// The folder of a data folder's worker, for those who look from outside.
pub fn worker_folder(data_dir: &Path, id: WorkerId) -> PathBuf {
    data_dir.join("workers").join(id.to_string())
}
