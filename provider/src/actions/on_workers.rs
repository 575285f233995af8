//! What the actions on workers do alike: they begin an operation of the host, follow it, and tell how
//! far it is.
//!
//! Holds: the operation is the host's. Whoever stops following it does not stop it, and is told how it
//! can be followed and called off.

use std::time::Duration;

use proto::{
    duration,
    runtimecloud::v1::{
        StartWorkerOperationRequest, WorkerOperation, WorkerOperationSpec, WorkerOperationState,
        WorkerOperationVerb,
    },
};

use crate::{
    client::{CallError, Client, Fault},
    framework::{
        Action, Attribute, BoxFuture, Context, Diagnostics, Path, Progress, Reported, Schema, Type,
        Validator, Value,
    },
    resources::{
        attributes::{time, time_to_api},
        managed::{
            lifecycle::{GaveUp, pause},
            report,
        },
    },
};

const TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How much longer than the host's own deadline its word is awaited.
const LAST_WORD: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// An action, by what it does to a worker.
pub(super) struct OnWorkers {
    pub(super) type_name: &'static str,
    pub(super) verb: WorkerOperationVerb,
    /// To follow "3 of 10 workers".
    pub(super) participle: &'static str,
    pub(super) description: &'static str,
}

impl OnWorkers {
    fn request(&self, config: &Value) -> StartWorkerOperationRequest {
        let number = |name| config.get(name).as_u32().unwrap_or(0);
        StartWorkerOperationRequest {
            worker_pool: config.text("worker_pool").to_owned(),
            workers: config.get("workers").strings(),
            spec: Some(WorkerOperationSpec {
                verb: self.verb.into(),
                parallel: number("parallel"),
                min_ready: number("min_ready"),
                grace: time_to_api(config.get("grace")),
                deadline: timeout(config).try_into().ok(),
            }),
            options: None,
        }
    }

    fn report(&self, error: &CallError, diagnostics: &mut Diagnostics) -> Reported {
        if error.is_not_found() {
            let (problem, _) = error.problems();
            return diagnostics.error("worker_pool", "No such worker pool", problem.detail);
        }
        if error.may_be_done {
            let (problem, _) = error.problems();
            let detail = format!(
                "{}\n\nThe host may have begun it all the same. Look what is under way \
                 (`runtimecloud operations POOL`) before you invoke the action again.",
                problem.detail
            );
            return diagnostics.error(Path::root(), problem.summary, detail);
        }
        report(error, &self.schema().attributes, diagnostics)
    }

    fn so_far(&self, operation: &WorkerOperation) -> String {
        format!("{} of {} workers {}", operation.done, operation.total, self.participle)
    }

    async fn follow(
        &self,
        context: &Context<Client>,
        begun: WorkerOperation,
        progress: &dyn Progress,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let client = context.client(diagnostics)?;
        let mut last = begun;
        let mut delay = LOOK_AGAIN;
        while last.state() == WorkerOperationState::UnderWay {
            if let Some(gave_up) = pause(context, &mut delay).await {
                let now = client.operation_at_last(&last.id, context).await.unwrap_or(last);
                return self.leave(&now, Some(gave_up), diagnostics);
            }
            let now = match client.operation(&last.id, context).await {
                Ok(now) => now,
                // Why it is followed no longer is told by the next pause.
                Err(error) if error.ended_early() => continue,
                Err(error) if error.is_not_found() => {
                    let detail = format!(
                        "`{}` is not there any more: its worker pool was deleted. {}.",
                        last.id,
                        self.so_far(&last)
                    );
                    return Err(diagnostics.error("worker_pool", "Worker pool gone", detail));
                }
                Err(error) => return Err(self.lost_sight(&last, &error, diagnostics)),
            };
            if now.done != last.done {
                progress.say(self.so_far(&now));
                delay = LOOK_AGAIN;
            }
            last = now;
        }
        self.leave(&last, None, diagnostics)
    }

    /// The host does not tell any more how it stands.
    fn lost_sight(
        &self,
        last: &WorkerOperation,
        error: &CallError,
        diagnostics: &mut Diagnostics,
    ) -> Reported {
        let (problem, _) = error.problems();
        let (id, pool, so_far) = (&last.id, &last.worker_pool, self.so_far(last));
        let goes_on = goes_on(pool);
        let detail =
            format!("{}\n\nSeen last of `{id}` on `{pool}`: {so_far}. {goes_on}", problem.detail);
        diagnostics.error(Path::root(), problem.summary, detail)
    }

    /// Judges an operation that has ended, or that is left to the host.
    fn leave(
        &self,
        operation: &WorkerOperation,
        gave_up: Option<GaveUp>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let (id, pool, so_far) = (&operation.id, &operation.worker_pool, self.so_far(operation));
        let (summary, next) = match (operation.state(), gave_up) {
            (WorkerOperationState::Done, _) => return Ok(()),
            (WorkerOperationState::UnderWay | WorkerOperationState::Unspecified, gave_up) => (
                match gave_up {
                    Some(GaveUp::TimeIsUp) => "Time is up",
                    Some(GaveUp::Interrupted) | None => "Interrupted",
                },
                goes_on(pool),
            ),
            (WorkerOperationState::Failed, _) => (
                "Not done in time",
                "What was begun is finished; the rest goes on as before. Look at the pool's workers \
                 (`runtimecloud workers`), and allow more with `timeout` or `parallel` if they are \
                 merely slow."
                    .to_owned(),
            ),
            (WorkerOperationState::Cancelled, _) => (
                "Called off",
                "Somebody called it off at the host. Invoke the action again if it is still wanted."
                    .to_owned(),
            ),
            (WorkerOperationState::Superseded, _) => (
                "Taken over",
                format!(
                    "A later operation took over workers of it: `{}`.",
                    operation.superseded_by
                ),
            ),
        };
        let detail = format!("`{id}` on `{pool}`: {so_far}; {}.\n\n{next}", operation.message);
        Err(diagnostics.error(Path::root(), summary, detail))
    }
}

fn goes_on(pool: &str) -> String {
    format!(
        "The host goes on with it. `runtimecloud operations {pool}` shows how far it is, and \
         `runtimecloud uncordon {pool}` calls off what has not begun."
    )
}

fn timeout(config: &Value) -> Duration {
    duration::parse(config.text("timeout")).unwrap_or(TIMEOUT)
}

/// `ENVIRONMENT/NAME`, or an id. What the host's own rules say of either is the host's.
fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((environment, name)) => {
            !environment.is_empty() && !name.is_empty() && !name.contains('/')
        }
        None => text.starts_with("pool_"),
    }
}

impl Action<Client> for OnWorkers {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn schema(&self) -> Schema {
        let count = |name, description, least: u32| {
            Attribute::number(name, description)
                .check(Validator::Integer)
                .check(Validator::range(least..=10_000_u32))
        };
        Schema::new(self.description).attributes([
            Attribute::string("worker_pool", "The pool: its id, or `ENVIRONMENT/NAME`.")
                .required()
                .check(Validator::pattern("an id (`pool_...`) or `ENVIRONMENT/NAME`", is_key)),
            Attribute::value(
                "workers",
                Type::set(Type::String),
                "Ids of the workers that are meant. All of the pool if left out.",
            )
            .check(Validator::length(1..=10_000)),
            count(
                "parallel",
                "How many workers may be missing at a time. As many as the pool's \
                 `update.max_unavailable` if left out.",
                1,
            ),
            count("min_ready", "How many workers stay ready at least. `0` if left out.", 0),
            time(
                "grace",
                "How long a worker may take to end before it is killed. As the pool says if left out.",
            ),
            time(
                "timeout",
                "After how long it is given up, at the host too; at most 7 days. `1h` if left out.",
            ),
        ])
    }

    fn time(&self, config: &Value) -> Duration {
        timeout(config).saturating_add(LAST_WORD)
    }

    fn plan<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let Some(client) = context.client_if_configured() else { return Ok(()) };
            if !config.is_wholly_known() {
                return Ok(());
            }
            let Err(error) = client.try_start_operation(self.request(config), context).await else {
                return Ok(());
            };
            let Fault::Remote(remote) = &error.fault else { return Ok(()) };
            // The pool may come into being, or become larger, in this very run.
            let may_change = |(field, _): &(String, String)| field == "spec.min_ready";
            if error.is_not_found() {
                let pool = config.text("worker_pool");
                diagnostics.warning(
                    "worker_pool",
                    "No such worker pool yet",
                    format!(
                        "There is no worker pool `{pool}` now. If it is made in the same run, refer to \
                         it by its attribute (as in `worker_pool = runtimecloud_worker_pool.web.id`), \
                         so that Terraform knows the order."
                    ),
                );
            } else if remote.reason == "INVALID" && !remote.violations.iter().any(may_change) {
                return Err(self.report(&error, diagnostics));
            }
            Ok(())
        })
    }

    fn invoke<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        progress: &'a dyn Progress,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let begun = match client.start_operation(self.request(config), context).await {
                Ok(begun) => begun,
                Err(error) => return Err(self.report(&error, diagnostics)),
            };
            let (id, pool) = (&begun.id, &begun.worker_pool);
            progress.say(format!("{} of `{pool}` ({id})", self.so_far(&begun)));
            self.follow(context, begun, progress, diagnostics).await
        })
    }
}
