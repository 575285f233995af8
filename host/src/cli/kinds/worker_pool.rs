//! Worker pools.

use proto::runtimecloud::v1::{
    CommandCheck, HttpCheck, Readiness, RestartPolicy, StopPolicy, TcpCheck, UpdatePolicy,
    WorkerPool, WorkerPoolSpec, WorkerTemplate, readiness::Check,
};
use serde_json::{Map, Value, json};

use super::{Declared, Resource, object, text_or_null};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "READY", "CURRENT", "STATUS", "AGE"];

const SIZE_MAX: u32 = 10_000;

pub fn read(fields: &mut Fields<'_>) -> WorkerPoolSpec {
    fields.require("size", "size = 3");
    fields.require("worker", "worker = { command = [\"program\", \"argument\"] }");
    WorkerPoolSpec {
        size: fields.count("size", 0..=SIZE_MAX),
        worker: fields.object("worker", read_worker),
        readiness: fields.object("readiness", read_readiness),
        restart: fields.object("restart", |restart| RestartPolicy {
            delay: restart.duration("delay"),
            delay_max: restart.duration("delay_max"),
            healthy_after: restart.duration("healthy_after"),
        }),
        stop: fields.object("stop", |stop| StopPolicy {
            signal: stop.text("signal"),
            grace: stop.duration("grace"),
        }),
        update: fields.object("update", |update| UpdatePolicy {
            max_unavailable: update.count("max_unavailable", 1..=SIZE_MAX),
        }),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

fn read_worker(worker: &mut Fields<'_>) -> WorkerTemplate {
    worker.require("command", "command = [\"program\", \"argument\"]");
    WorkerTemplate {
        command: worker.texts("command"),
        variables: worker.text_map("variables"),
        working_dir: worker.text("working_dir"),
        ports: worker.texts("ports"),
        shape: Some(worker.amounts("shape")),
    }
}

fn read_readiness(readiness: &mut Fields<'_>) -> Readiness {
    let given = ["http", "tcp", "command"].into_iter().filter(|check| readiness.has(check)).count();
    if given != 1 {
        let message = "`readiness` has exactly one of `http`, `tcp` and `command`";
        readiness.fault(readiness.at(), message);
    }
    let http = readiness.object("http", |http| {
        http.require("port", "port = \"http\"");
        Check::Http(HttpCheck { port: http.text("port"), path: http.text("path") })
    });
    let tcp = readiness.object("tcp", |tcp| {
        tcp.require("port", "port = \"main\"");
        Check::Tcp(TcpCheck { port: tcp.text("port") })
    });
    let command = Some(readiness.texts("command")).filter(|command| !command.is_empty());
    let command = command.map(|command| Check::Command(CommandCheck { command }));
    Readiness {
        check: http.or(tcp).or(command),
        interval: readiness.duration("interval"),
        timeout: readiness.duration("timeout"),
        failure_threshold: readiness.count("failure_threshold", 1..=1_000),
    }
}

pub fn show(spec: &WorkerPoolSpec) -> Map<String, Value> {
    let worker = spec.worker.clone().unwrap_or_default();
    let restart = spec.restart.unwrap_or_default();
    let stop = spec.stop.clone().unwrap_or_default();
    let signal = if stop.signal.is_empty() { "TERM" } else { &stop.signal };
    let unavailable = spec.update.unwrap_or_default().max_unavailable.max(1);
    let mut ports = worker.ports;
    ports.sort();
    object([
        ("size", spec.size.into()),
        (
            "worker",
            object([
                ("command", worker.command.into()),
                ("variables", json!(worker.variables)),
                ("working_dir", text_or_null(&worker.working_dir)),
                ("ports", ports.into()),
                ("shape", text::amounts(worker.shape.as_ref())),
            ])
            .into(),
        ),
        ("readiness", spec.readiness.as_ref().map_or(Value::Null, show_readiness)),
        (
            "restart",
            json!({
                "delay": text::duration(restart.delay.as_ref(), "1s"),
                "delay_max": text::duration(restart.delay_max.as_ref(), "1m"),
                "healthy_after": text::duration(restart.healthy_after.as_ref(), "30s"),
            }),
        ),
        ("stop", json!({"signal": signal, "grace": text::duration(stop.grace.as_ref(), "10s")})),
        ("update", json!({"max_unavailable": unavailable})),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

fn show_readiness(readiness: &Readiness) -> Value {
    let (name, check) = match &readiness.check {
        Some(Check::Http(HttpCheck { port, path })) => {
            let path = if path.is_empty() { "/" } else { path };
            ("http", json!({"port": port, "path": path}))
        }
        Some(Check::Tcp(TcpCheck { port })) => ("tcp", json!({"port": port})),
        Some(Check::Command(CommandCheck { command })) => ("command", json!(command)),
        None => ("command", Value::Null),
    };
    let threshold = if readiness.failure_threshold == 0 { 3 } else { readiness.failure_threshold };
    let fields = object([
        (name, check),
        ("interval", text::duration(readiness.interval.as_ref(), "1s")),
        ("timeout", text::duration(readiness.timeout.as_ref(), "1s")),
        ("failure_threshold", threshold.into()),
    ]);
    fields.into()
}

pub fn row(resource: &Resource) -> Vec<String> {
    let size = resource.spec.get("size").and_then(Value::as_u64).unwrap_or(0);
    let ready = resource.seen("ready_workers");
    vec![format!("{ready}/{size}"), resource.seen("current_workers").to_string()]
}

impl From<WorkerPool> for Resource {
    fn from(pool: WorkerPool) -> Self {
        let observed = pool.observed.unwrap_or_default();
        let metadata = pool.metadata.unwrap_or_default();
        Self {
            kind: Declared::WorkerPool,
            key: format!("{}/{}", pool.environment, metadata.name),
            metadata,
            spec: show(&pool.spec.unwrap_or_default()),
            observed: object([
                ("workers", observed.workers.into()),
                ("ready_workers", observed.ready_workers.into()),
                ("current_workers", observed.current_workers.into()),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
