//! Worker operations. They are begun by commands of their own, and can be looked at.

use jiff::Timestamp;
use proto::runtimecloud::v1::{WorkerOperation, WorkerOperationState, WorkerOperationVerb};
use serde_json::{Value, json};

use crate::cli::text;

pub const HEADERS: &[&str] = &[
    "OPERATION",
    "POOL",
    "WHAT",
    "STATE",
    "DONE",
    "WAITING",
    "UNDER WAY",
    "FAILED",
    "SKIPPED",
    "AGE",
];

/// What it does, and the same as a participle.
pub fn verb(operation: &WorkerOperation) -> (&'static str, &'static str) {
    match operation.spec.as_ref().map_or(WorkerOperationVerb::Unspecified, |spec| spec.verb()) {
        WorkerOperationVerb::Drain => ("drain", "drained"),
        WorkerOperationVerb::Restart => ("restart", "restarted"),
        WorkerOperationVerb::Replace => ("replace", "replaced"),
        WorkerOperationVerb::Unspecified => ("unknown", "done"),
    }
}

fn state(operation: &WorkerOperation) -> &'static str {
    match operation.state() {
        WorkerOperationState::UnderWay => "under way",
        WorkerOperationState::Done => "done",
        WorkerOperationState::Failed => "failed",
        WorkerOperationState::Cancelled => "cancelled",
        WorkerOperationState::Superseded => "superseded",
        WorkerOperationState::Unspecified => "unknown",
    }
}

/// How far it is, in a line.
pub fn progress(operation: &WorkerOperation) -> String {
    let (_, participle) = verb(operation);
    format!("{} of {} workers {participle}", operation.done, operation.total)
}

pub fn json(operation: &WorkerOperation) -> Value {
    let spec = operation.spec.unwrap_or_default();
    let or_null = |number: u32| if number == 0 { Value::Null } else { number.into() };
    json!({
        "kind": "worker_operation",
        "id": operation.id,
        "worker_pool": operation.worker_pool,
        "verb": verb(operation).0,
        "parallel": or_null(spec.parallel),
        "min_ready": spec.min_ready,
        "grace": text::duration(spec.grace.as_ref(), "as its pool says"),
        "deadline": text::duration(spec.deadline.as_ref(), "1h"),
        "state": state(operation).replace(' ', "_"),
        "message": operation.message,
        "total": operation.total,
        "done": operation.done,
        "failed": operation.failed,
        "skipped": operation.skipped,
        "waiting": operation.waiting,
        "under_way": operation.under_way,
        "superseded_by":
            if operation.superseded_by.is_empty() { Value::Null } else { operation.superseded_by.clone().into() },
        "created_at": text::time(operation.created_at.as_ref()),
        "expires_at": text::time(operation.expires_at.as_ref()),
        "ended_at": text::time(operation.ended_at.as_ref()),
    })
}

pub fn row(operation: &WorkerOperation, now: Timestamp) -> Vec<String> {
    vec![
        operation.id.clone(),
        operation.worker_pool.clone(),
        verb(operation).0.to_owned(),
        state(operation).to_owned(),
        format!("{}/{}", operation.done, operation.total),
        operation.waiting.to_string(),
        operation.under_way.to_string(),
        operation.failed.to_string(),
        operation.skipped.to_string(),
        text::age(operation.created_at.as_ref(), now),
    ]
}
