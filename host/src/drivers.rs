//! Ways to run workers.
//!
//! A driver is told *what shall be* and asked *what is*; it decides nothing.
//!
//! Guarantees that every driver gives, and that the contract suite tests:
//! - The worker's id is the key, and is carried on the worker itself. [`ensure`] asked twice, by two
//!   callers, or by a host that was killed in between, runs the worker once.
//! - [`list`] finds every worker that an earlier host left, whatever happened to that host.
//! - [`stop`] and [`forget`] of what is not there succeed.
//! - Each call returns soon: none waits for a worker to become ready or to end.
//!
//! [`ensure`]: CapacityDriver::ensure
//! [`list`]: CapacityDriver::list
//! [`stop`]: CapacityDriver::stop
//! [`forget`]: CapacityDriver::forget

pub mod process;

use std::{collections::BTreeMap, time::Duration};

use futures_util::{future::BoxFuture, stream::BoxStream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{ids::WorkerId, pools::template::WorkerTemplate};

/// A place that runs workers.
pub trait CapacityDriver: Send + Sync {
    /// All workers that this driver has and has not been told to forget, by id.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SeenWorker>, DriverError>>;

    /// Makes the worker run, unless it runs already or was told to stop.
    fn ensure<'a>(
        &'a self,
        id: WorkerId,
        template: &'a WorkerTemplate,
    ) -> BoxFuture<'a, Result<(), DriverError>>;

    /// Asks the worker to stop for good, as its template says, and within `grace` if that is given. The
    /// first order counts. A later [`ensure`] does not start it,
    /// not even if it comes before this worker was ever started: the order is kept until [`forget`].
    ///
    /// [`ensure`]: CapacityDriver::ensure
    /// [`forget`]: CapacityDriver::forget
    fn stop(&self, id: WorkerId, grace: Option<Duration>)
    -> BoxFuture<'_, Result<(), DriverError>>;

    /// Has the worker's process stopped, as its template says, and started again: once for each number,
    /// however often it is asked, and whoever dies meanwhile. What does not run, or was told to stop,
    /// is left to [`ensure`] and [`stop`].
    ///
    /// [`ensure`]: CapacityDriver::ensure
    /// [`stop`]: CapacityDriver::stop
    fn restart(&self, id: WorkerId, order: RestartOrder) -> BoxFuture<'_, Result<(), DriverError>>;

    /// Removes what is kept of a stopped worker, its output included. Refused while it runs.
    fn forget(&self, id: WorkerId) -> BoxFuture<'_, Result<(), DriverError>>;

    /// What the worker printed, oldest first. With `follow`, until the worker has stopped for good.
    fn logs(&self, id: WorkerId, options: LogOptions) -> BoxStream<'static, LogPiece>;

    /// What is true of the place itself, such as whether limits are enforced.
    fn conditions(&self) -> Vec<DriverCondition>;
}

/// A worker as its driver sees it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenWorker {
    pub id: WorkerId,
    pub phase: SeenPhase,
    pub ready: bool,
    /// One word, such as `CommandNotFound`, and a sentence.
    pub reason: String,
    pub message: String,
    /// Times its process was started again.
    pub restarts: u32,
    /// The last order to restart it that was taken up: its process ends, or has ended, for that.
    pub restart: u64,
    pub pid: Option<u32>,
    /// Ports by name, on 127.0.0.1.
    pub ports: BTreeMap<String, u16>,
    /// When its present process was started.
    pub started_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenPhase {
    Starting,
    Running,
    /// Its process has ended; the next start is due later.
    Backoff,
    Stopping,
    /// Told to stop, and nothing of it runs.
    Stopped,
    /// Nobody watches over it, or none can tell: `ensure` starts it again, `stop` carries its stop out.
    Lost,
}

/// An order to stop a worker's process and start it again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartOrder {
    /// Grows with each order; from 1.
    pub number: u64,
    /// How long the process may take to end; absent: as its template says.
    pub grace: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
pub struct LogOptions {
    pub follow: bool,
    /// Begin with at most so many of the last lines; absent: all that is kept.
    pub tail_lines: Option<u32>,
}

pub type LogPiece = Result<Vec<u8>, DriverError>;

/// A statement about the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverCondition {
    /// In the positive, such as `LimitsEnforced`.
    pub name: &'static str,
    pub holds: bool,
    pub reason: &'static str,
    pub message: String,
}

/// Why a driver could not do what it was asked.
#[derive(Debug, Error)]
pub enum DriverError {
    #[error("worker `{0}` still runs")]
    StillRuns(WorkerId),
    #[error("worker `{0}` is not known here")]
    Unknown(WorkerId),
    #[error("cannot {doing}")]
    Io { doing: String, source: std::io::Error },
}
