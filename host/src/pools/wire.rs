//! Worker pools, to and from the API's messages.

use proto::runtimecloud::v1;

use super::{
    conditions,
    model::{
        CheckSpec, ReadinessSpec, RestartSpec, StopSpec, UpdateSpec, WorkerPool, WorkerPoolSpec,
        WorkerSpec,
    },
    template::StopSignal,
};
use crate::{
    admission::Declared,
    api::{View, convert},
    resource::quoted,
    violations::Violations,
};

/// The signals of a stop, as the API names them.
const SIGNALS: &[(&str, StopSignal)] = &[
    ("HUP", StopSignal::Hup),
    ("INT", StopSignal::Int),
    ("KILL", StopSignal::Kill),
    ("QUIT", StopSignal::Quit),
    ("TERM", StopSignal::Term),
    ("USR1", StopSignal::Usr1),
    ("USR2", StopSignal::Usr2),
];

pub(super) fn read(spec: Option<v1::WorkerPoolSpec>, found: &mut Violations) -> WorkerPoolSpec {
    let spec = convert::spec(spec, found);
    WorkerPoolSpec {
        size: spec.size,
        worker: read_worker(spec.worker.unwrap_or_default()),
        readiness: spec.readiness.and_then(|readiness| read_readiness(readiness, found)),
        restart: spec.restart.map(|restart| read_restart(&restart, found)),
        stop: spec.stop.map(|stop| read_stop(&stop, found)),
        update: spec
            .update
            .map(|update| UpdateSpec { max_unavailable: nonzero(update.max_unavailable) }),
        deletion_protection: spec.deletion_protection,
    }
}

fn nonzero(number: u32) -> Option<u32> {
    (number != 0).then_some(number)
}

fn read_worker(worker: v1::WorkerTemplate) -> WorkerSpec {
    WorkerSpec {
        command: worker.command,
        variables: worker.variables,
        working_dir: convert::text(worker.working_dir),
        ports: worker.ports,
        shape: convert::read_amounts(worker.shape),
    }
}

fn read_readiness(readiness: v1::Readiness, found: &mut Violations) -> Option<ReadinessSpec> {
    let interval = readiness.interval.as_ref();
    let timeout = readiness.timeout.as_ref();
    let interval = convert::read_duration("spec.readiness.interval", interval, found);
    let timeout = convert::read_duration("spec.readiness.timeout", timeout, found);
    let check = match readiness.check {
        Some(v1::readiness::Check::Http(http)) => {
            CheckSpec::Http { port: http.port, path: convert::text(http.path) }
        }
        Some(v1::readiness::Check::Tcp(tcp)) => CheckSpec::Tcp { port: tcp.port },
        Some(v1::readiness::Check::Command(command)) => CheckSpec::Command(command.command),
        None => {
            found.add("spec.readiness", "it has no check: give one of `http`, `tcp` and `command`");
            return None;
        }
    };
    let failure_threshold = nonzero(readiness.failure_threshold);
    Some(ReadinessSpec { check, interval, timeout, failure_threshold })
}

fn read_restart(restart: &v1::RestartPolicy, found: &mut Violations) -> RestartSpec {
    let mut read = |field, duration: &Option<prost_types::Duration>| {
        convert::read_duration(field, duration.as_ref(), found)
    };
    RestartSpec {
        delay: read("spec.restart.delay", &restart.delay),
        delay_max: read("spec.restart.delay_max", &restart.delay_max),
        healthy_after: read("spec.restart.healthy_after", &restart.healthy_after),
    }
}

fn read_stop(stop: &v1::StopPolicy, found: &mut Violations) -> StopSpec {
    let signal = SIGNALS.iter().find(|(name, _)| *name == stop.signal).map(|(_, signal)| *signal);
    if signal.is_none() && !stop.signal.is_empty() {
        let names: Vec<_> = SIGNALS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message =
            format!("{} is not a signal: use one of {}", quoted(&stop.signal), names.join(", "));
        found.add("spec.stop.signal", message);
    }
    StopSpec {
        signal,
        grace: convert::read_duration("spec.stop.grace", stop.grace.as_ref(), found),
    }
}

pub(crate) fn pool(pool: &WorkerPool, view: &View) -> v1::WorkerPool {
    let id = pool.id.to_string();
    let said = conditions::conditions(pool, &view.records, &view.observed);
    let tally = conditions::tally(pool, &view.records, &view.observed);
    let environment = view.records.environments.get(&pool.environment);
    v1::WorkerPool {
        environment: environment.map(|it| it.meta.name.clone()).unwrap_or_default(),
        spec: Some(spec(&pool.spec)),
        observed: Some(v1::WorkerPoolObserved {
            conditions: convert::conditions(view, (&id, pool.meta.generation), &said),
            workers: tally.workers,
            ready_workers: tally.ready,
            current_workers: tally.current,
            observed_at: view.observed.newest().map(convert::timestamp),
        }),
        metadata: Some(convert::metadata(id, pool.meta())),
    }
}

fn spec(spec: &WorkerPoolSpec) -> v1::WorkerPoolSpec {
    let worker = &spec.worker;
    v1::WorkerPoolSpec {
        size: spec.size,
        worker: Some(v1::WorkerTemplate {
            command: worker.command.clone(),
            variables: worker.variables.clone(),
            working_dir: worker.working_dir.clone().unwrap_or_default(),
            ports: worker.ports.clone(),
            shape: Some(convert::amounts(&worker.shape)),
        }),
        readiness: spec.readiness.as_ref().map(readiness),
        restart: spec.restart.as_ref().map(|restart| v1::RestartPolicy {
            delay: restart.delay.map(convert::duration),
            delay_max: restart.delay_max.map(convert::duration),
            healthy_after: restart.healthy_after.map(convert::duration),
        }),
        stop: spec.stop.as_ref().map(|stop| v1::StopPolicy {
            signal: stop.signal.map(signal).unwrap_or_default().to_owned(),
            grace: stop.grace.map(convert::duration),
        }),
        update: spec.update.as_ref().map(|update| v1::UpdatePolicy {
            max_unavailable: update.max_unavailable.unwrap_or(0),
        }),
        deletion_protection: spec.deletion_protection,
    }
}

fn readiness(readiness: &ReadinessSpec) -> v1::Readiness {
    let check = match readiness.check.clone() {
        CheckSpec::Http { port, path } => {
            v1::readiness::Check::Http(v1::HttpCheck { port, path: path.unwrap_or_default() })
        }
        CheckSpec::Tcp { port } => v1::readiness::Check::Tcp(v1::TcpCheck { port }),
        CheckSpec::Command(command) => v1::readiness::Check::Command(v1::CommandCheck { command }),
    };
    v1::Readiness {
        check: Some(check),
        interval: readiness.interval.map(convert::duration),
        timeout: readiness.timeout.map(convert::duration),
        failure_threshold: readiness.failure_threshold.unwrap_or(0),
    }
}

fn signal(signal: StopSignal) -> &'static str {
    SIGNALS.iter().find(|(_, known)| *known == signal).map_or("", |(name, _)| name)
}
