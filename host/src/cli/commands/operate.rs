//! `drain`, `restart` and `replace`: operations on workers of a pool.

use std::time::Duration;

use clap::Args;
use proto::runtimecloud::v1::{
    GetRequest, StartWorkerOperationRequest, WorkerOperation, WorkerOperationSpec,
    WorkerOperationState, WorkerOperationVerb,
};

use crate::cli::{
    Action,
    client::write_once,
    connection::{Connect, Session},
    failure::{Exit, Failure},
    kinds::operation::{self, progress, verb},
    note,
    output::Output,
    wait::{Wait, length},
};

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// What the three have in common.
#[derive(Debug, Args)]
struct Operate {
    /// The pool
    #[arg(value_name = "ENVIRONMENT/POOL")]
    pool: String,

    /// A worker; may be given several times. All of the pool, if there is none
    #[arg(long = "worker", value_name = "ID")]
    workers: Vec<String>,

    /// How many at a time; as many as the pool's `max_unavailable`, if left out
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,

    /// How many workers shall stay ready at least
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    min_ready: u32,

    /// How long a worker may take to end, instead of what its pool says
    #[arg(long, value_name = "TIME", value_parser = length)]
    grace: Option<Duration>,

    /// When to give up what has not been done by then
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = length)]
    deadline: Duration,

    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Stop workers, some at a time: they are cordoned at once, and another takes the place of each that is gone
#[derive(Debug, Args)]
pub struct Drain {
    #[command(flatten)]
    operate: Operate,
}

/// Stop and start the processes of workers, some at a time; ids and places stay
#[derive(Debug, Args)]
pub struct Restart {
    #[command(flatten)]
    operate: Operate,
}

/// Replace workers by new ones, some at a time, perhaps on other targets
#[derive(Debug, Args)]
pub struct Replace {
    #[command(flatten)]
    operate: Operate,
}

impl Action for Drain {
    async fn run(self) -> Result<(), Failure> {
        self.operate.run(WorkerOperationVerb::Drain).await
    }
}

impl Action for Restart {
    async fn run(self) -> Result<(), Failure> {
        self.operate.run(WorkerOperationVerb::Restart).await
    }
}

impl Action for Replace {
    async fn run(self) -> Result<(), Failure> {
        self.operate.run(WorkerOperationVerb::Replace).await
    }
}

impl Operate {
    async fn run(self, verb: WorkerOperationVerb) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let wire = |time: Duration| prost_types::Duration::try_from(time).unwrap_or_default();
        let spec = WorkerOperationSpec {
            verb: verb.into(),
            parallel: self.parallel.unwrap_or(0),
            min_ready: self.min_ready,
            grace: self.grace.map(wire),
            deadline: Some(wire(self.deadline)),
        };
        let failure = session.failure(format!("change workers of `{}`", self.pool));
        let request = StartWorkerOperationRequest {
            worker_pool: self.pool,
            workers: self.workers,
            spec: Some(spec),
            options: Some(write_once(0)),
        };
        let mut now = session.operations().start(request).await.map_err(failure)?.into_inner();
        if self.wait.wait {
            now = session.wait_until_ended(now, self.wait.timeout).await?;
        }
        let said = if self.output.is_json() {
            self.output.json(&operation::json(&now))
        } else {
            self.output.line(&summary(&now))
        };
        said.map_err(Failure::unheard)?;
        judge(&now)
    }
}

fn summary(it: &WorkerOperation) -> String {
    match it.state() {
        WorkerOperationState::UnderWay => {
            let (what, _) = verb(it);
            format!("{what} of {} workers of `{}` begun: `{}`", it.total, it.worker_pool, it.id)
        }
        _ => format!("{} of `{}`", progress(it), it.worker_pool),
    }
}

/// An operation that ended otherwise than by being done is a failure.
fn judge(it: &WorkerOperation) -> Result<(), Failure> {
    let exit = match it.state() {
        WorkerOperationState::UnderWay | WorkerOperationState::Done => return Ok(()),
        WorkerOperationState::Failed => Exit::TimedOut,
        WorkerOperationState::Cancelled | WorkerOperationState::Superseded => Exit::Conflict,
        WorkerOperationState::Unspecified => Exit::Failed,
    };
    Err(Failure::new(exit, format!("`{}` is not done: {}", it.id, it.message)))
}

impl Session {
    /// Waits until an operation has ended, in whatever way, and tells how far it is.
    async fn wait_until_ended(
        &self,
        begun: WorkerOperation,
        timeout: Duration,
    ) -> Result<WorkerOperation, Failure> {
        let key = begun.id.clone();
        let mut last = begun;
        let ended = async {
            while last.state() == WorkerOperationState::UnderWay {
                tokio::time::sleep(LOOK_AGAIN).await;
                let attempt = format!("look at `{key}`");
                let request = GetRequest { key: key.clone() };
                let answer = self.operations().get(request).await;
                let now = answer.map_err(self.failure(attempt))?.into_inner();
                if now.done != last.done {
                    note(&progress(&now));
                }
                last = now;
            }
            Ok(())
        };
        match tokio::time::timeout(timeout, ended).await {
            Ok(result) => result.map(|()| last),
            Err(_) => {
                let after = proto::duration::print(timeout);
                let message = format!("`{key}` has not ended after {after}: {}", last.message);
                let help = format!(
                    "it goes on by itself; see `runtimecloud operations {pool}`, and call off the rest \
                     with `runtimecloud uncordon {pool}`",
                    pool = last.worker_pool
                );
                Err(Failure::new(Exit::TimedOut, message).help(help))
            }
        }
    }
}
