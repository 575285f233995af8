//! Workers. The host makes them; they can be looked at.

use proto::runtimecloud::v1::{Worker, WorkerPhase};
use serde_json::{Map, Value, json};

use crate::cli::text;

pub const HEADERS: &[&str] =
    &["WORKER", "POOL", "PHASE", "READY", "RESTARTS", "PORTS", "REASON", "AGE"];

fn phase(worker: &Worker) -> &'static str {
    match worker.phase() {
        WorkerPhase::Pending => "pending",
        WorkerPhase::Starting => "starting",
        WorkerPhase::Running => "running",
        WorkerPhase::Backoff => "backoff",
        WorkerPhase::Stopping => "stopping",
        WorkerPhase::Stopped => "stopped",
        WorkerPhase::Lost => "lost",
        WorkerPhase::Unspecified => "unknown",
    }
}

pub fn json(worker: &Worker) -> Value {
    json!({
        "kind": "worker",
        "id": worker.id,
        "worker_pool": worker.worker_pool,
        "capacity_target": worker.capacity_target,
        "pool_generation": worker.pool_generation,
        "phase": phase(worker),
        "ready": worker.ready,
        "reason": worker.reason,
        "message": worker.message,
        "restarts": worker.restarts,
        "pid": if worker.pid == 0 { Value::Null } else { worker.pid.into() },
        "ports": worker.ports,
        "created_at": text::time(worker.created_at.as_ref()),
        "started_at": text::time(worker.started_at.as_ref()),
        "operation": if worker.operation.is_empty() { Value::Null } else { worker.operation.clone().into() },
        "observed_at": text::time(worker.observed_at.as_ref()),
    })
}

pub fn row(worker: &Worker, now: jiff::Timestamp) -> Vec<String> {
    let ports = worker.ports.iter().map(|(name, port)| (name.clone(), (*port).into()));
    let ports: Map<String, Value> = ports.collect();
    vec![
        worker.id.clone(),
        worker.worker_pool.clone(),
        phase(worker).to_owned(),
        if worker.ready { "yes" } else { "no" }.to_owned(),
        worker.restarts.to_string(),
        text::pairs(&ports, "="),
        worker.reason.clone(),
        text::age(worker.created_at.as_ref(), now),
    ]
}
