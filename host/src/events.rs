//! The events of the host, as data. What is written here is a promise to every subscriber: fields
//! are added, never renamed or removed, and a fixture per event and version keeps it.

pub mod cloud;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    capacity::quota::Limit,
    conditions::{Condition, Status},
    ids::{EventId, OperationId, PlanId, WorkerId},
    operations::model::{Operation, OperationState, OperationVerb},
    pools::{conditions::Tally, template::Amounts, worker::Reported},
    resource::Kind,
};

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub kind: Kind,
    pub id: String,
    /// As a key of the API: a pool's is `ENVIRONMENT/NAME`.
    pub name: String,
    /// Of its intent; 0 where there is none.
    pub generation: u64,
}

/// An event as it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEvent {
    pub position: u64,
    pub id: EventId,
    pub type_name: String,
    pub time: Timestamp,
    pub subject_kind: String,
    pub subject_id: String,
    pub subject_name: String,
    pub generation: u64,
    pub actor: String,
    /// The event's own fields, a JSON object.
    pub data: String,
}

/// The name of the actor when it is nobody but the host.
pub const HOST_ACTOR: &str = "host";

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })?;)*) => {
        /// Something that happened.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
        }

        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name { $($($(#[$field_doc])* pub $field: $type,)*)? })*

        impl Event {
            /// Names of all events, sorted.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];

            pub fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name),)*
                }
            }

            /// The event's own fields as a JSON object.
            pub fn data(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$name(data) => serde_json::to_string(data),)*
                }
            }

            /// Reads back what [`data`](Self::data) wrote, by any version.
            pub fn read(type_name: &str, data: &str) -> Result<Option<Self>, serde_json::Error> {
                match type_name {
                    $(stringify!($name) => serde_json::from_str(data).map(Self::$name).map(Some),)*
                    _ => Ok(None),
                }
            }
        }
    };
}

events! {
    /// The time of a granted lease was over, and nobody had renewed it.
    CapacityLeaseExpired {
        amounts: Amounts,
        fencing_token: u64,
    };
    /// A lease got what it asks for.
    CapacityLeaseGranted {
        amounts: Amounts,
        /// Unless it is renewed; absent: it has no end.
        expires_at: Option<Timestamp>,
        fencing_token: u64,
    };
    /// A lease that was told to give back what it borrows need not: nobody waits for it any more.
    CapacityLeaseKept {
        amounts: Amounts,
        fencing_token: u64,
    };
    /// A lease ended, and what it had borrowed goes back to its owner.
    CapacityLeaseReclaimed {
        amounts: Amounts,
        fencing_token: u64,
    };
    /// A lease was told to give back what it borrows.
    CapacityLeaseReclaiming {
        amounts: Amounts,
        fencing_token: u64,
        /// When it ends at the latest.
        ends_at: Timestamp,
        /// The lease that waits for it, as a key of the API.
        by: String,
    };
    /// A lease had waited as long as it might.
    CapacityLeaseRefused {
        amounts: Amounts,
    };
    /// Somebody gave a lease back, or took it out of the line.
    CapacityLeaseReleased {
        amounts: Amounts,
        /// Absent: it was never granted.
        fencing_token: Option<u64>,
    };
    /// A lease was put in line.
    CapacityLeaseWaiting {
        amounts: Amounts,
        /// From 1.
        position: u32,
        /// When it is refused unless it was granted before.
        until: Option<Timestamp>,
    };
    /// A subscription delivers, or is suspended; or it became incomplete, or complete again.
    EventSubscriptionStateChanged {
        conditions: BTreeMap<String, ConditionNow>,
    };
    /// What a driver reports of some workers of a pool, or of a target, has changed.
    ObservedStateChanged {
        /// By worker, as it is now.
        workers: BTreeMap<WorkerId, Reported>,
        /// By condition of the subject itself, as it is now.
        conditions: BTreeMap<String, ConditionNow>,
    };
    /// Workers of a pool were started or are gone, as planned.
    ProvisioningApplied {
        plan: PlanId,
        started: Vec<WorkerId>,
        removed: Vec<WorkerId>,
    };
    /// Workers of a pool could not be started, stopped or removed. The host tries again.
    ProvisioningFailed {
        plan: PlanId,
        /// By worker: what went wrong.
        workers: BTreeMap<WorkerId, String>,
    };
    /// It was decided which workers of a pool shall start and stop.
    ProvisioningPlanned {
        plan: PlanId,
        start: Vec<WorkerId>,
        /// By worker: one word that says why.
        stop: BTreeMap<WorkerId, String>,
        /// Whose process shall be stopped and started again.
        #[serde(default)]
        restart: Vec<WorkerId>,
    };
    /// Limits of a quota changed.
    QuotaChanged {
        before: BTreeMap<String, Limit>,
        after: BTreeMap<String, Limit>,
    };
    /// More of a quota is used than a limit says; it was granted before the limit was lowered, or
    /// the limit is soft.
    QuotaExceeded {
        /// By condition of the quota.
        conditions: BTreeMap<String, ConditionNow>,
    };
    /// What was booked as used of a quota was not what is used, and was corrected.
    QuotaUsageCorrected {
        /// By resource.
        booked: Amounts,
        /// By resource.
        counted: Amounts,
    };
    /// Somebody declared, changed or withdrew a resource.
    SpecificationDeclared {
        change: Verb,
    };
    /// The secret of a token was changed: the one before is void.
    TokenRotated;
    /// An operation on workers of a pool is over.
    WorkerOperationEnded {
        operation: OperationId,
        verb: OperationVerb,
        state: OperationState,
        total: u32,
        done: u32,
        failed: u32,
        skipped: u32,
    };
    /// Somebody asked for workers of a pool to be drained, restarted or replaced.
    WorkerOperationStarted {
        operation: OperationId,
        verb: OperationVerb,
        workers: Vec<WorkerId>,
    };
    /// A pool became ready, unready, busy or settled.
    WorkerPoolStateChanged {
        size: u32,
        workers: u32,
        ready_workers: u32,
        current_workers: u32,
        conditions: BTreeMap<String, ConditionNow>,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Created,
    Updated,
    /// Deletion was asked for.
    Deleted,
    /// A subscription was asked to go on.
    Resumed,
    /// A token.
    Revoked,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionNow {
    pub status: Status,
    pub reason: String,
    pub message: String,
}

impl ConditionNow {
    /// The condition's name, and what it says.
    pub fn entry(said: &Condition) -> (String, Self) {
        let Condition { name, status, reason, message } = said.clone();
        (name.to_owned(), Self { status, reason, message })
    }
}

impl Event {
    pub fn declared(change: Verb) -> Self {
        Self::SpecificationDeclared(SpecificationDeclared { change })
    }

    pub fn operation_ended(it: &Operation) -> Self {
        Self::WorkerOperationEnded(WorkerOperationEnded {
            operation: it.id,
            verb: it.spec.verb,
            state: it.state(),
            total: it.total,
            done: it.done,
            failed: it.failed,
            skipped: it.skipped,
        })
    }

    pub fn pool_changed(
        size: u32,
        tally: Tally,
        conditions: BTreeMap<String, ConditionNow>,
    ) -> Self {
        Self::WorkerPoolStateChanged(WorkerPoolStateChanged {
            size,
            workers: tally.workers,
            ready_workers: tally.ready,
            current_workers: tally.current,
            conditions,
        })
    }
}
