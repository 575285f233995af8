//! Errors on the wire: code, message, and details that programs can act on.

use std::collections::BTreeMap;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, QuotaViolation, StatusExt};

use crate::{
    admission::{Answer, Refusal},
    capacity::{amounts, excess::Excess},
    causes::with_causes,
    resource::{Kind, quoted},
    store::{CommitError, EventPage},
    violations::Violation,
};

const DOMAIN: &str = "runtimecloud";

pub fn of_commit(error: &CommitError, request_id: &str) -> Status {
    match error {
        CommitError::Refused(refusal) => of_refusal(refusal, request_id),
        CommitError::Closed => plain(
            (Code::Unavailable, "SHUTTING_DOWN"),
            "the host is shutting down: try again when it runs".to_owned(),
            request_id,
        ),
        CommitError::Failed(_) => {
            plain((Code::Unavailable, "STORE_FAILED"), with_causes(error), request_id)
        }
        CommitError::Panicked => plain((Code::Internal, "FAULT"), error.to_string(), request_id),
    }
}

fn of_refusal(refusal: &Refusal, request_id: &str) -> Status {
    let (code, reason) = kind(refusal);
    let mut details = details(reason, facts(refusal), request_id);
    match refusal {
        Refusal::Invalid(violations) => {
            details.set_bad_request(violations.iter().map(field_violation).collect::<Vec<_>>());
        }
        Refusal::RequestIdReused { .. } => {
            details.add_bad_request_violation("options.request_id", refusal.to_string());
        }
        Refusal::QuotaExceeded(excesses) => {
            let violation = |it: &Excess| QuotaViolation::new(&it.quota, it.to_string());
            details.set_quota_failure(excesses.iter().map(violation).collect::<Vec<_>>());
        }
        _ => {}
    }
    Status::with_error_details(code, refusal.to_string(), details)
}

fn kind(refusal: &Refusal) -> (Code, &'static str) {
    match refusal {
        Refusal::Invalid(_) => (Code::InvalidArgument, "INVALID"),
        Refusal::NotFound { .. } => (Code::NotFound, "NOT_FOUND"),
        Refusal::NameExists { .. } => (Code::AlreadyExists, "NAME_EXISTS"),
        Refusal::RevisionMismatch { .. } => (Code::Aborted, "REVISION_MISMATCH"),
        Refusal::Protected { .. } => (Code::FailedPrecondition, "DELETION_PROTECTED"),
        Refusal::InUse { .. } => (Code::FailedPrecondition, "IN_USE"),
        Refusal::BeingDeleted { .. } => (Code::FailedPrecondition, "BEING_DELETED"),
        Refusal::QuotaExceeded(_) => (Code::ResourceExhausted, "QUOTA_EXCEEDED"),
        Refusal::LeaseEnded { .. } => (Code::FailedPrecondition, "LEASE_ENDED"),
        Refusal::LeaseWaits { .. } => (Code::FailedPrecondition, "LEASE_WAITS"),
        Refusal::StaleFencingToken { .. } => (Code::FailedPrecondition, "STALE_FENCING_TOKEN"),
        Refusal::OthersWait { .. } => (Code::ResourceExhausted, "OTHERS_WAIT"),
        Refusal::ShareAwaited { .. } => (Code::ResourceExhausted, "SHARE_AWAITED"),
        Refusal::LastAdministrator { .. } => (Code::FailedPrecondition, "LAST_ADMINISTRATOR"),
        Refusal::RoleTooLow { .. } => (Code::PermissionDenied, "ROLE_TOO_LOW"),
        Refusal::TooManyTokens { .. } => (Code::ResourceExhausted, "TOO_MANY_TOKENS"),
        Refusal::RequestIdReused { .. } => (Code::InvalidArgument, "REQUEST_ID_REUSED"),
    }
}

/// The values of a refusal by name, amounts in usual units.
fn facts(refusal: &Refusal) -> BTreeMap<&'static str, String> {
    let named = |kind: &Kind, name: &str| {
        BTreeMap::from([("kind", kind.code().to_owned()), ("name", name.to_owned())])
    };
    match refusal {
        Refusal::Invalid(_) | Refusal::RequestIdReused { .. } | Refusal::RoleTooLow { .. } => {
            BTreeMap::new()
        }
        Refusal::NotFound { kind, key } => named(kind, &quoted(key)),
        Refusal::NameExists { kind, name, id } => {
            let mut facts = named(kind, name);
            facts.insert("id", id.clone());
            facts
        }
        Refusal::RevisionMismatch { kind, name, wanted, has } => {
            let mut facts = named(kind, name);
            facts.insert("wanted", wanted.to_string());
            facts.insert("has", has.to_string());
            facts
        }
        Refusal::Protected { kind, name }
        | Refusal::InUse { kind, name, .. }
        | Refusal::BeingDeleted { kind, name } => named(kind, name),
        Refusal::LeaseEnded { name, how, at } => {
            let mut facts = named(&Kind::CapacityLease, name);
            facts.insert("how", how.code().to_owned());
            facts.insert("at", at.to_string());
            facts
        }
        Refusal::LeaseWaits { name } => named(&Kind::CapacityLease, name),
        Refusal::StaleFencingToken { name, given, has } => {
            let mut facts = named(&Kind::CapacityLease, name);
            facts.insert("given", given.to_string());
            facts.insert("has", has.to_string());
            facts
        }
        Refusal::OthersWait { quota, others } | Refusal::ShareAwaited { quota, others } => {
            BTreeMap::from([("quota", quota.clone()), ("others", others.to_string())])
        }
        Refusal::LastAdministrator { name } => named(&Kind::Token, name),
        Refusal::TooManyTokens { most } => BTreeMap::from([("most", most.to_string())]),
        Refusal::QuotaExceeded(excesses) => excesses.first().map(excess_facts).unwrap_or_default(),
    }
}

fn excess_facts(excess: &Excess) -> BTreeMap<&'static str, String> {
    let Excess { quota, resource, rule, limit, used, kept, requested, lent: _, fits_at } = excess;
    let shown = |amount: &u64| amounts::shown(resource, *amount);
    let mut facts = BTreeMap::from([
        ("quota", quota.clone()),
        ("resource", resource.clone()),
        ("rule", rule.code().to_owned()),
        ("limit", shown(limit)),
        ("used", shown(used)),
        ("requested", shown(requested)),
    ]);
    facts.extend((*kept > 0).then(|| ("kept", shown(kept))));
    facts.extend(fits_at.map(|at| ("fits_at", at.to_string())));
    facts
}

fn field_violation(violation: &Violation) -> FieldViolation {
    FieldViolation::new(&violation.field, &violation.message)
}

fn details(reason: &str, facts: BTreeMap<&'static str, String>, request_id: &str) -> ErrorDetails {
    let mut details = ErrorDetails::new();
    let facts: Vec<(String, String)> =
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    details.set_error_info(reason, DOMAIN, facts.into_iter().collect::<Metadata>());
    details.set_request_info(request_id, "");
    details
}

#[expect(clippy::disallowed_types, reason = "the type that `tonic-types` asks for; never iterated")]
type Metadata = std::collections::HashMap<String, String>;

/// An error without further facts.
pub fn plain((code, reason): (Code, &str), message: String, request_id: &str) -> Status {
    Status::with_error_details(code, message, details(reason, BTreeMap::new(), request_id))
}

/// A position of the log from which nobody can go on: gone already, or never there.
pub fn bad_position(after: u64, page: &EventPage, request_id: &str) -> Status {
    let (oldest, last) = (page.gone + 1, page.last);
    let (reason, why) = if after > last {
        let why = format!(
            "the log never had position {after}, its last is {last}: the host's data was put back \
             from an older copy, or the position is another host's"
        );
        ("POSITION_UNKNOWN", why)
    } else {
        let why = format!(
            "events after position {after} are gone: the oldest that is kept is at {oldest}"
        );
        ("POSITION_GONE", why)
    };
    let message = format!(
        "{why}; read `Events.Snapshot` and go on from its position, or begin at 0 and miss what is \
         gone"
    );
    let facts = BTreeMap::from([
        ("after", after.to_string()),
        ("oldest_position", oldest.to_string()),
        ("last_position", last.to_string()),
    ]);
    Status::with_error_details(Code::OutOfRange, message, details(reason, facts, request_id))
}

pub fn not_found(kind: Kind, key: &str, request_id: &str) -> Status {
    of_refusal(&Refusal::NotFound { kind, key: key.to_owned() }, request_id)
}

pub fn invalid(field: &str, message: impl Into<String>, request_id: &str) -> Status {
    let violation = Violation { field: field.to_owned(), message: message.into() };
    of_refusal(&Refusal::Invalid(vec![violation]), request_id)
}

/// The store answered with something that does not belong to the command: a fault of ours.
pub fn unexpected(answer: &Answer) -> Status {
    Status::internal(format!("the store gave an answer of another kind: {answer:?}"))
}
