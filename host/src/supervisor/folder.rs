//! A worker's folder: all that a driver and a supervisor say to each other.
//!
//! | name | written by | what |
//! | --- | --- | --- |
//! | `template.json` | driver | what to run ([`Order`]); there before the first supervisor, never changed |
//! | `stop` | driver | the worker shall stop for good ([`StopOrder`], or empty) |
//! | `restart` | driver | the worker's process shall be stopped and started again ([`RestartOrder`]) |
//! | `lock` | supervisor | locked as long as it lives: the worker never has two |
//! | `seen.json` | supervisor | the present truth ([`Record`]), replaced as a whole |
//! | `control` | both | a pipe without content: a byte means "look at your folder" |
//! | `output/` | supervisor | what the worker printed, in numbered files |
//! | `work/` | worker | its working folder, unless its template names another |
//! | `supervisor.log` | supervisor | its own troubles |

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use rustix::{
    fs::{CWD, FileType, FlockOperation, Mode, OFlags},
    process::{Flock, FlockType, Pid},
};
use serde::{Deserialize, Serialize};

use crate::{
    drivers::RestartOrder,
    ids::WorkerId,
    pools::template::WorkerTemplate,
    supervisor::{groups::Places, output::OutputLimits, processes::Identity},
};

/// What a supervisor shall run, and how it keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    pub id: WorkerId,
    pub template: WorkerTemplate,
    pub output: OutputLimits,
    pub places: Places,
    /// Where ports are locked.
    pub ports: PathBuf,
}

/// What a supervisor last saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Process id of the supervisor that saw it.
    pub supervisor: u32,
    pub phase: RecordedPhase,
    pub ready: bool,
    pub reason: String,
    pub message: String,
    /// Starts so far, the first one included.
    pub starts: u32,
    pub restarts: u32,
    /// Number of the last order to restart that was taken up.
    #[serde(default)]
    pub restart: u64,
    /// The present main process.
    pub process: Option<Identity>,
    pub ports: BTreeMap<String, u16>,
    pub started_at: Option<Timestamp>,
    /// Bytes of output that could not be kept.
    pub dropped_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedPhase {
    Starting,
    Running,
    Backoff,
    Stopping,
    /// The last word: nothing of the worker runs, nor ever will.
    Stopped,
}

/// An order to stop for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopOrder {
    /// Absent: as the template says.
    pub grace: Option<Duration>,
}

/// One worker's folder.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn output(&self) -> PathBuf {
        self.path.join("output")
    }

    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    pub fn record_path(&self) -> PathBuf {
        self.path.join("seen.json")
    }

    pub fn troubles(&self) -> PathBuf {
        self.path.join("supervisor.log")
    }

    pub fn create(&self) -> io::Result<()> {
        create_dir(&self.path)
    }

    /// Stored once; a later order for the same worker changes nothing.
    pub fn write_order(&self, order: &Order) -> io::Result<()> {
        let path = self.path.join("template.json");
        if path.exists() {
            return Ok(());
        }
        replace(&path, &serde_json::to_vec_pretty(order)?, Durability::Synced)
    }

    pub fn has_order(&self) -> bool {
        self.path.join("template.json").exists()
    }

    pub fn order(&self) -> io::Result<Order> {
        Ok(serde_json::from_slice(&fs::read(self.path.join("template.json"))?)?)
    }

    /// `None` too when it can not be read as a record, as after a power loss: nothing of the worker
    /// has survived that.
    pub fn record(&self) -> io::Result<Option<Record>> {
        match fs::read(self.record_path()) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write_record(&self, record: &Record) -> io::Result<()> {
        replace(&self.record_path(), &serde_json::to_vec_pretty(record)?, Durability::Cached)
    }

    /// Survives a power loss once it returned. The first order stays.
    pub fn order_stop(&self, order: StopOrder) -> io::Result<()> {
        let path = self.path.join("stop");
        if !path.exists() {
            replace(&path, &serde_json::to_vec(&order)?, Durability::Synced)?;
        }
        File::open(&self.path)?.sync_all()
    }

    /// What can not be read orders a stop all the same.
    pub fn stop_order(&self) -> Option<StopOrder> {
        let path = self.path.join("stop");
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        path.exists().then(|| fs::read(&path).ok().and_then(read).unwrap_or_default())
    }

    /// Survives a power loss once it returned. An older order than the one that is there is none.
    pub fn order_restart(&self, order: RestartOrder) -> io::Result<()> {
        if order.number <= self.restart_order().number {
            return Ok(());
        }
        replace(&self.path.join("restart"), &serde_json::to_vec(&order)?, Durability::Synced)?;
        File::open(&self.path)?.sync_all()
    }

    /// The last order to restart; number 0 if there was none.
    pub fn restart_order(&self) -> RestartOrder {
        let bytes = fs::read(self.path.join("restart")).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn stop_is_ordered(&self) -> bool {
        self.path.join("stop").exists()
    }

    /// The lock, held until the file is dropped; `None` when a supervisor has it.
    pub fn lock(&self) -> io::Result<Option<File>> {
        let file = private_file().create(true).write(true).open(self.path.join("lock"))?;
        match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether somebody has removed the folder under its supervisor.
    pub fn is_gone(&self) -> bool {
        !self.path.join("lock").exists()
    }

    /// The process id of the living supervisor. Looks without touching the lock.
    pub fn supervisor(&self) -> io::Result<Option<u32>> {
        let file = match OpenOptions::new().read(true).open(self.path.join("lock")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let wanted = Flock::from(FlockType::WriteLock);
        let held = rustix::process::fcntl_getlk(&file, &wanted)?;
        // A holder in another process namespace has no number here.
        let pid = |pid: Pid| u32::try_from(pid.as_raw_nonzero().get()).unwrap_or(0);
        Ok(held.map(|held| held.pid.map_or(0, pid)))
    }

    /// Opens the supervisor's end of `control`, which never sees an end of file.
    pub fn open_control(&self) -> io::Result<File> {
        let path = self.path.join("control");
        match rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        OpenOptions::new().read(true).write(true).open(path)
    }

    /// Makes a living supervisor look at its folder. Without one there is nobody to wake, and a full
    /// pipe wakes as well.
    pub fn wake(&self) {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(control) = rustix::fs::open(self.path.join("control"), flags, Mode::empty()) {
            let _full_is_fine = rustix::io::write(&control, b"\n");
        }
    }
}

/// A folder that only its owner can enter, and all above it.
pub fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A folder that only its owner can enter, in one that is there.
pub fn create_dir_inside(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// A file that only its owner can read.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// Survives the end of every process.
    Cached,
    /// Survives a power loss too.
    Synced,
}

/// Readers see the old content or the new one, never a part.
fn replace(path: &Path, content: &[u8], durability: Durability) -> io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("{}-{write}.new", std::process::id()));
    let mut file = private_file().create(true).truncate(true).write(true).open(&new)?;
    file.write_all(content)?;
    if durability == Durability::Synced {
        file.sync_all()?;
    }
    fs::rename(&new, path)
}
