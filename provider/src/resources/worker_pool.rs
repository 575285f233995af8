//! `runtimecloud_worker_pool`: so many workers of one kind.

mod readiness;
mod rollout;
mod rules;

use proto::runtimecloud::v1 as api;

use super::{
    amounts,
    attributes::{
        self, AT_MOST_A_DAY, PAUSE, deletion_protection_of, text_or_null, time, time_from_api,
        time_to_api,
    },
    managed::{Kind, Settled},
};
use crate::{
    client::Client,
    framework::{Attribute, BoxFuture, Context, Diagnostics, Reported, Type, Validator, Value},
};

pub(crate) use self::rollout::phase;

pub(crate) struct WorkerPool;

const ROLLED_OUT: &str = "rolled_out";

const SIGNALS: &[&str] = &["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL"];

impl Kind for WorkerPool {
    type Noun = api::WorkerPool;

    const TYPE: &'static str = "runtimecloud_worker_pool";
    const DESCRIPTION: &'static str = "So many workers of one kind, kept running: what they run, \
        how much each may use, when they count as ready, and how they are replaced. Creating and \
        updating wait until all workers are ready.";
    const PARENT: Option<&'static str> = Some("environment");
    const SEEN_THROUGH: Option<&'static str> = Some(ROLLED_OUT);

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name(
                "Name, unique within the environment. A change replaces the worker pool.",
            ),
            attributes::name_of(
                "environment",
                "Name of the environment that it is in. A change replaces the worker pool.",
            )
            .required()
            .replace(),
            Attribute::number("size", "How many workers there shall be: 0 to 10,000.")
                .required()
                .check(Validator::Integer)
                .check(Validator::range(0_u32..=10_000)),
            worker(),
            readiness::attribute(),
            restart(),
            stop(),
            update(),
            Attribute::bool(
                "wait_for_ready",
                "Whether creating and updating wait until all workers are ready, and fail with the \
                 reason when they are not in time. `true` if left out.",
            )
            .default(true),
            Attribute::bool(
                ROLLED_OUT,
                "Whether the last change of its workers that was waited for has come about. `false` \
                 when the waiting was given up: then the next apply waits again.",
            )
            .computed()
            .keep_prior(),
        ]
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        rules::check(config, diagnostics);
    }

    fn spec(&self, values: &Value) -> api::WorkerPoolSpec {
        let (worker, restart, stop) =
            (values.get("worker"), values.get("restart"), values.get("stop"));
        api::WorkerPoolSpec {
            size: values.get("size").as_u32().unwrap_or_default(),
            worker: Some(api::WorkerTemplate {
                command: worker.get("command").strings(),
                variables: worker.get("variables").string_map(),
                working_dir: worker.text("working_dir").to_owned(),
                ports: worker.get("ports").strings(),
                shape: Some(amounts::to_api(worker.get("shape"))),
            }),
            readiness: readiness::spec(values.get("readiness")),
            restart: Some(api::RestartPolicy {
                delay: time_to_api(restart.get("delay")),
                delay_max: time_to_api(restart.get("delay_max")),
                healthy_after: time_to_api(restart.get("healthy_after")),
            }),
            stop: Some(api::StopPolicy {
                signal: stop.text("signal").to_owned(),
                grace: time_to_api(stop.get("grace")),
            }),
            update: Some(api::UpdatePolicy {
                max_unavailable: values
                    .get("update")
                    .get("max_unavailable")
                    .as_u32()
                    .unwrap_or_default(),
            }),
            deletion_protection: deletion_protection_of(values),
        }
    }

    fn values(&self, spec: &api::WorkerPoolSpec) -> Vec<(&'static str, Value)> {
        let worker = spec.worker.clone().unwrap_or_default();
        let restart = spec.restart.unwrap_or_default();
        let stop = spec.stop.clone().unwrap_or_default();
        let update = spec.update.unwrap_or_default();
        vec![
            ("size", spec.size.into()),
            (
                "worker",
                Value::object([
                    ("command", worker.command.into()),
                    ("variables", worker.variables.into()),
                    ("working_dir", text_or_null(&worker.working_dir)),
                    ("ports", Value::set(worker.ports)),
                    ("shape", amounts::from_api(worker.shape.as_ref())),
                ]),
            ),
            ("readiness", readiness::value(spec.readiness.as_ref())),
            (
                "restart",
                Value::object([
                    ("delay", time_from_api(restart.delay.as_ref())),
                    ("delay_max", time_from_api(restart.delay_max.as_ref())),
                    ("healthy_after", time_from_api(restart.healthy_after.as_ref())),
                ]),
            ),
            (
                "stop",
                Value::object([
                    ("signal", text_or_null(&stop.signal)),
                    ("grace", time_from_api(stop.grace.as_ref())),
                ]),
            ),
            ("update", Value::object([("max_unavailable", update.max_unavailable.into())])),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }

    fn frees_room(&self, prior: &Value, planned: &Value) -> bool {
        !prior.is_null() && rules::uses_less(prior, planned)
    }

    fn takes_room(&self, prior: &Value, planned: &Value) -> bool {
        !planned.is_null() && rules::uses_less(planned, prior)
    }

    fn waits(&self, values: &Value) -> Option<bool> {
        values.get("wait_for_ready").as_bool()
    }

    fn settle<'a>(
        &'a self,
        context: &'a Context<Client>,
        asked: &'a mut api::WorkerPool,
        (prior, planned): (&'a Value, &'a Value),
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Settled, Reported>> {
        let is_open = prior.get(ROLLED_OUT).as_bool() == Some(false);
        let changes = is_open || rules::changes_workers(prior, planned);
        if self.waits(planned) == Some(true) && changes {
            Box::pin(rollout::wait_until_ready(context, asked, prior, diagnostics))
        } else {
            Box::pin(std::future::ready(Ok(Settled::AtOnce)))
        }
    }
}

fn worker() -> Attribute {
    Attribute::object(
        "worker",
        "What each worker runs. A change replaces the workers, as `update` says.",
        [
            attributes::command("The program and its arguments, run as they are, without a shell.")
                .required(),
            attributes::variables(
                "Environment variables, besides those of the environment; these win.",
            ),
            Attribute::string(
                "working_dir",
                "Absolute path of the folder that it runs in; a folder of its own if left out.",
            )
            .check(Validator::pattern("an absolute path of at most 4096 bytes", is_folder)),
            Attribute::value(
                "ports",
                Type::set(Type::String),
                "Names of ports. Each worker gets a free port for each, handed over as the \
                 environment variable `PORT_NAME` (upper case, `-` as `_`).",
            )
            .check(Validator::length(0..=32))
            .check(Validator::each(Validator::pattern(
                "a name of `a-z`, `0-9` and `-`, beginning with a letter",
                attributes::is_name,
            ))),
            attributes::amounts(
                "shape",
                "What one worker may use, by resource: `cpu` (as in `500m` or `2`), `memory` (as \
                 in `512Mi`), or any other name but `workers`.",
            ),
        ],
    )
    .required()
}

fn is_folder(path: &str) -> bool {
    path.starts_with('/') && path.len() <= 4096 && attributes::has_no_zero(path)
}

fn restart() -> Attribute {
    Attribute::object(
        "restart",
        "When a worker whose process has ended is started again: after `delay`, which doubles with \
         each start up to `delay_max`, and begins anew after `healthy_after` of life.",
        [
            time("delay", "The first delay. `1s` if left out.").default("1s").check(PAUSE),
            time("delay_max", "The longest delay. `1m` if left out.").default("1m").check(PAUSE),
            time("healthy_after", "Life after which delays begin anew. `30s` if left out.")
                .default("30s")
                .check(PAUSE),
        ],
    )
    .default(Value::object([
        ("delay", "1s".into()),
        ("delay_max", "1m".into()),
        ("healthy_after", "30s".into()),
    ]))
}

fn stop() -> Attribute {
    Attribute::object(
        "stop",
        "How a worker is asked to stop: by a signal to all its processes; what is left after \
         `grace` is killed.",
        [
            Attribute::string(
                "signal",
                "`TERM`, `INT`, `HUP`, `QUIT`, `USR1`, `USR2` or `KILL`. `TERM` if left out.",
            )
            .default("TERM")
            .check(Validator::one_of(SIGNALS)),
            time("grace", "Time to stop in, at most a day. `10s` if left out.")
                .default("10s")
                .check(AT_MOST_A_DAY),
        ],
    )
    .default(Value::object([("signal", Value::from("TERM")), ("grace", "10s".into())]))
}

fn update() -> Attribute {
    Attribute::object(
        "update",
        "How workers are replaced when what they run has changed.",
        [Attribute::number(
            "max_unavailable",
            "At most so many workers are missing at a time, at least 1. `1` if left out.",
        )
        .default(1_u32)
        .check(Validator::Integer)
        .check(Validator::range(1_u32..=10_000))],
    )
    .default(Value::object([("max_unavailable", 1_u32.into())]))
}
