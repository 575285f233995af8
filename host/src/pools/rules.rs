//! What a worker pool's specification must keep, each fault at its field.

use std::{collections::BTreeSet, time::Duration};

use super::{
    model::{CheckSpec, ReadinessSpec, RestartSpec, WorkerPoolSpec, WorkerSpec},
    template,
};
use crate::{
    capacity::amounts,
    resource::{is_name, quoted},
    violations::Violations,
};

pub const SIZE_MAX: u32 = 10_000;
const PORTS_MAX: usize = 32;
const COMMAND_BYTES_MAX: usize = 64 << 10;
const DURATION_MAX: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn check(spec: &WorkerPoolSpec, found: &mut Violations) {
    check_size("spec.size", spec.size, found);
    check_worker(&spec.worker, found);
    if let Some(readiness) = &spec.readiness {
        check_readiness(readiness, &spec.worker.ports, found);
    }
    if let Some(restart) = &spec.restart {
        check_restart(restart, found);
    }
    let grace = spec.stop.as_ref().and_then(|stop| stop.grace);
    if grace.is_some_and(|grace| grace > DURATION_MAX) {
        found.add("spec.stop.grace", "it is longer than a day: shorten it");
    }
    for (resource, amount) in &spec.worker.shape {
        if amount.checked_mul(u64::from(spec.size)).is_none() {
            found.add("spec.worker.shape", format!("size times {} is too large", quoted(resource)));
        }
    }
}

pub fn check_size(field: &str, size: u32, found: &mut Violations) {
    if size > SIZE_MAX {
        found.add(field, format!("{size} workers are too many for a pool: use 0 to {SIZE_MAX}"));
    }
}

fn check_worker(worker: &WorkerSpec, found: &mut Violations) {
    check_command("spec.worker.command", &worker.command, found);
    template::check_variables("spec.worker.variables", &worker.variables, found);
    if let Some(dir) = &worker.working_dir
        && (!dir.starts_with('/') || dir.contains('\0') || dir.len() > 4096)
    {
        found.add(
            "spec.worker.working_dir",
            format!("{} is not an absolute path: begin it with `/`, or leave it out", quoted(dir)),
        );
    }
    check_ports(worker, found);
    amounts::check_resources("spec.worker.shape", worker.shape.keys(), found);
    if worker.shape.contains_key(amounts::WORKERS) {
        found.add(
            "spec.worker.shape",
            "`workers` is counted by the host: leave it out of the shape",
        );
    }
}

fn check_command(field: &str, command: &[String], found: &mut Violations) {
    if command.first().is_none_or(String::is_empty) {
        found.add(field, "no program is given: name at least the program to run");
    }
    if command.iter().any(|argument| argument.contains('\0')) {
        found.add(field, "an argument can not hold a zero byte");
    }
    let bytes: usize = command.iter().map(|argument| argument.len() + 1).sum();
    if bytes > COMMAND_BYTES_MAX {
        found.add(field, format!("it takes {bytes} bytes: use at most {COMMAND_BYTES_MAX}"));
    }
}

fn check_ports(worker: &WorkerSpec, found: &mut Violations) {
    let field = "spec.worker.ports";
    if worker.ports.len() > PORTS_MAX {
        found.add(field, format!("too many ports: name at most {PORTS_MAX}"));
        return;
    }
    let mut seen = BTreeSet::new();
    for port in &worker.ports {
        if !is_name(port) {
            let port = quoted(port);
            found.add(
                field,
                format!("{port} is not a port's name: use letters, digits and `-`, as in `http`"),
            );
        } else if !seen.insert(port) {
            found.add(field, format!("{} is named twice", quoted(port)));
        } else if worker.variables.contains_key(&template::port_variable(port)) {
            found.add(
                "spec.worker.variables",
                format!(
                    "`{}` hands over the port {}: choose another name",
                    template::port_variable(port),
                    quoted(port)
                ),
            );
        }
    }
}

fn check_readiness(readiness: &ReadinessSpec, ports: &[String], found: &mut Violations) {
    let check_port = |field: &str, port: &String, found: &mut Violations| {
        if !ports.contains(port) {
            found.add(
                field,
                format!("{} is not one of `spec.worker.ports`: add it there", quoted(port)),
            );
        }
    };
    match &readiness.check {
        CheckSpec::Http { port, path } => {
            check_port("spec.readiness.http.port", port, found);
            let fits = |path: &String| {
                path.starts_with('/')
                    && path.len() <= 2048
                    && path.bytes().all(|byte| byte.is_ascii_graphic())
            };
            if path.as_ref().is_some_and(|path| !fits(path)) {
                found.add(
                    "spec.readiness.http.path",
                    "it must begin with `/` and hold printable ASCII only, without spaces",
                );
            }
        }
        CheckSpec::Tcp { port } => check_port("spec.readiness.tcp.port", port, found),
        CheckSpec::Command(command) => {
            check_command("spec.readiness.command.command", command, found);
        }
    }
    for (field, duration) in [
        ("spec.readiness.interval", readiness.interval),
        ("spec.readiness.timeout", readiness.timeout),
    ] {
        check_duration(field, duration, found);
    }
}

fn check_restart(restart: &RestartSpec, found: &mut Violations) {
    for (field, duration) in [
        ("spec.restart.delay", restart.delay),
        ("spec.restart.delay_max", restart.delay_max),
        ("spec.restart.healthy_after", restart.healthy_after),
    ] {
        check_duration(field, duration, found);
    }
    let resolved = restart.resolve();
    if resolved.delay > resolved.delay_max {
        found.add(
            "spec.restart.delay",
            format!(
                "{:?} is above `delay_max` ({:?}): lower it, or raise `delay_max`",
                resolved.delay, resolved.delay_max
            ),
        );
    }
}

/// More than nothing, at most a day.
fn check_duration(field: &str, duration: Option<Duration>, found: &mut Violations) {
    let Some(duration) = duration else { return };
    if duration < Duration::from_millis(10) || duration > DURATION_MAX {
        found.add(field, format!("{duration:?} is out of range: use 10 ms to 24 h"));
    }
}
