//! Why a change is refused, each with its numbers.

use jiff::Timestamp;
use thiserror::Error;

use crate::{
    capacity::excess::Excess,
    leases::{conditions::ending, model::Ending},
    resource::{Kind, quoted},
    violations::Violation,
};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("{}", list(.0.iter().map(|it| format!("{}: {}", it.field, it.message))))]
    Invalid(Vec<Violation>),
    #[error("there is no {kind} {}", quoted(key))]
    NotFound { kind: Kind, key: String },
    #[error("{kind} `{name}` exists already ({id}): choose another name, or import that one")]
    NameExists { kind: Kind, name: String, id: String },
    #[error(
        "{kind} `{name}` has revision {has}, not {wanted}: somebody changed it since you read it; \
         read it again and decide anew"
    )]
    RevisionMismatch { kind: Kind, name: String, wanted: u64, has: u64 },
    #[error("{kind} `{name}` is protected from deletion: set `deletion_protection` to false first")]
    Protected { kind: Kind, name: String },
    #[error("{kind} `{name}` is still in use by {}: delete or move that first", shortened(by))]
    InUse { kind: Kind, name: String, by: Vec<String> },
    #[error("{kind} `{name}` is being deleted and can not be changed")]
    BeingDeleted { kind: Kind, name: String },
    #[error("{}", list(.0.iter().map(ToString::to_string)))]
    QuotaExceeded(Vec<Excess>),
    #[error("capacity lease `{name}` has ended: {}; create another", ending(*how, *at))]
    LeaseEnded { name: String, how: Ending, at: Timestamp },
    #[error("capacity lease `{name}` still waits in line: it can be renewed once it is granted")]
    LeaseWaits { name: String },
    #[error(
        "capacity lease `{name}` was granted with fencing token {has}, not {given}: it is somebody \
         else's now; read it again and decide anew"
    )]
    StaleFencingToken { name: String, given: u64, has: u64 },
    #[error(
        "{} before this one for quota `{quota}`: let it wait in line too, or try again later",
        waiting(*others)
    )]
    OthersWait { quota: String, others: usize },
    #[error(
        "what is free of quota `{quota}` is held for {}: ask for no more than your own share, or try \
         again later",
        owners(*others)
    )]
    ShareAwaited { quota: String, others: usize },
    #[error(
        "token `{name}` is the last administrator's token without an end: create another first"
    )]
    LastAdministrator { name: String },
    #[error("{why}")]
    RoleTooLow { why: String },
    #[error(
        "{most} tokens that were made with this one are still good, and more are not made: revoke \
         some, or wait until they expire"
    )]
    TooManyTokens { most: usize },
    #[error(
        "another call was made with request id {}: use a new request id for each change",
        quoted(request_id)
    )]
    RequestIdReused { request_id: String },
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}

fn waiting(others: usize) -> String {
    match others {
        1 => "1 other lease waits".to_owned(),
        others => format!("{others} other leases wait"),
    }
}

fn owners(others: usize) -> String {
    match others {
        1 => "1 lease that waits for its own share".to_owned(),
        others => format!("{others} leases that wait for their own shares"),
    }
}

fn shortened(by: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = by.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match by.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
