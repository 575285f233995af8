//! Where intents, decided workers, tokens and events are kept.
//!
//! Guarantees that every store gives, and that the contract suite tests:
//! - What [`commit`](Store::commit) answered is kept, whatever happens afterwards.
//! - A command is decided on the records that its changes are stored in: nothing comes between.
//! - Changes, their events and the answer to their request id are stored together or not at all.
//! - Events have one order; a position is never used twice, and none appears below one already seen.

pub mod lock;
pub mod sqlite;

mod deliveries;
mod log;
mod schema;
mod writer;

use std::{path::PathBuf, sync::Arc};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use thiserror::Error;
use tokio::sync::watch;

use crate::{
    admission::{Answer, Command, Refusal},
    events::{HOST_ACTOR, LoggedEvent},
    ids::{EventSubscriptionId, HostId, TokenId},
    records::Records,
    subscriptions::delivery::{DeadLetter, Delivery},
    violations::Violations,
};

pub trait Store: Send + Sync {
    /// All that is committed.
    fn records(&self) -> Arc<Records>;

    /// Decides, stores and answers.
    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Answer, CommitError>>;

    /// Some events, and which there are, read at one moment.
    fn events(&self, query: EventQuery) -> BoxFuture<'_, Result<EventPage, StoreError>>;

    /// Removes some of the oldest events that need not be kept; how many it were.
    fn prune_events(&self, prune: Prune) -> BoxFuture<'_, Result<u64, CommitError>>;

    /// How far the deliveries of a subscription are, and how many dead letters it has.
    fn delivery(
        &self,
        id: EventSubscriptionId,
    ) -> BoxFuture<'_, Result<(Delivery, u64), StoreError>>;

    /// Stores both; answers how many dead letters there are then.
    fn save_delivery(
        &self,
        id: EventSubscriptionId,
        delivery: Delivery,
        letter: LetterChange,
    ) -> BoxFuture<'_, Result<u64, CommitError>>;

    /// Subscriptions of which deliveries are stored.
    fn delivered_subscriptions(
        &self,
    ) -> BoxFuture<'_, Result<Vec<EventSubscriptionId>, StoreError>>;

    /// Forgets the deliveries and dead letters of a subscription.
    fn forget_delivery(&self, id: EventSubscriptionId) -> BoxFuture<'_, Result<u64, CommitError>>;

    /// Dead letters, oldest first.
    fn dead_letters(
        &self,
        query: LetterQuery,
    ) -> BoxFuture<'_, Result<Vec<DeadLetter>, StoreError>>;

    /// Answers how many dead letters it were.
    fn handle_dead_letters(
        &self,
        id: EventSubscriptionId,
        letters: Letters,
    ) -> BoxFuture<'_, Result<u64, CommitError>>;

    /// The position of the last committed event, and each later one.
    fn last_position(&self) -> watch::Receiver<u64>;

    /// The version of the records, and each later one.
    fn version(&self) -> watch::Receiver<u64>;

    /// The same for the life of the data folder.
    fn host_id(&self) -> HostId;
}

/// A command with who sends it and how.
#[derive(Debug, Clone)]
pub struct Write {
    pub command: Command,
    /// Faults that were seen when the call was decoded.
    pub found: Violations,
    /// For the event log.
    pub actor: String,
    pub request: Option<RequestKey>,
    pub mode: Mode,
}

impl Write {
    /// A command of the host itself.
    pub fn of_host(command: Command) -> Self {
        Self {
            command,
            found: Violations::default(),
            actor: HOST_ACTOR.to_owned(),
            request: None,
            mode: Mode::Commit,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Commit,
    /// Decide and answer, but store nothing.
    DryRun,
}

/// Makes a repeated call answer as the first one did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// Request ids of different callers have nothing to do with each other.
    pub caller: TokenId,
    pub request_id: String,
    /// The same for the same call.
    pub fingerprint: String,
}

#[derive(Debug, Clone)]
pub struct EventQuery {
    pub after: u64,
    /// Only events below this position.
    pub before: Option<u64>,
    /// Only events of this time or later.
    pub since: Option<Timestamp>,
    /// Empty: all.
    pub types: Vec<String>,
    pub subject_id: Option<String>,
    pub order: Order,
    pub limit: u32,
}

impl EventQuery {
    /// The first of all events after a position.
    pub fn after(after: u64, limit: u32) -> Self {
        Self {
            after,
            before: None,
            since: None,
            types: Vec::new(),
            subject_id: None,
            order: Order::OldestFirst,
            limit,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    OldestFirst,
    NewestFirst,
}

/// What was found in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    pub events: Vec<LoggedEvent>,
    /// Events up to this position are gone; 0 when none is.
    pub gone: u64,
    /// Of the last event there was.
    pub last: u64,
}

impl EventPage {
    /// Whether all that came after a position is there, or still to come. 0 is the beginning of what
    /// is kept.
    pub fn goes_on_from(&self, after: u64) -> bool {
        after == 0 || (self.gone..=self.last).contains(&after)
    }
}

/// Which dead letters are looked for.
#[derive(Debug, Clone, Copy)]
pub struct LetterQuery {
    pub subscription: EventSubscriptionId,
    /// Only those of events after this position.
    pub after: u64,
    pub limit: u32,
    /// Only those that are to be sent again.
    pub redelivering: bool,
}

/// What becomes of dead letters: of those of some positions, or of all.
#[derive(Debug, Clone)]
pub enum Letters {
    Drop(Option<Vec<u64>>),
    Redeliver(Option<Vec<u64>>),
}

/// What a delivery makes of dead letters.
#[derive(Debug, Clone)]
pub enum LetterChange {
    None,
    Put(DeadLetter),
    Remove(u64),
}

/// Which events need not be kept. Few go at once, so that other writes do not wait for it.
#[derive(Debug, Clone, Copy)]
pub struct Prune {
    /// Those that are older.
    pub before: Timestamp,
    /// All but so many of the last.
    pub keep: u64,
    /// No more than these at once.
    pub most: u32,
}

#[derive(Debug, Error)]
pub enum CommitError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("cannot store the change; nothing of it was kept")]
    Failed(#[source] Arc<StoreError>),
    #[error("a fault in the host ended the decision; nothing of it was kept")]
    Panicked,
    #[error("the store is shut down")]
    Closed,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("cannot {doing} `{}`", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "the data folder is in use by the host with process id {pid}: stop that one first, or \
         choose another folder"
    )]
    InUse { pid: String },
    #[error(
        "the database was written by a newer host (its version is {found}, this one knows \
         {known}): install that version again"
    )]
    Newer { found: u32, known: u32 },
    #[error("the SQLite library is {found}, which can lose data: build with {needed} or newer")]
    OldLibrary { found: &'static str, needed: &'static str },
    #[error("cannot {doing}")]
    Sqlite { doing: &'static str, source: rusqlite::Error },
    #[error("cannot read the {table} `{id}` from the database")]
    Document { table: &'static str, id: String, source: serde_json::Error },
    #[error("cannot write a document")]
    Encode(#[source] serde_json::Error),
    #[error("the database holds {what}, which this host can not read")]
    Unreadable { what: String },
}
