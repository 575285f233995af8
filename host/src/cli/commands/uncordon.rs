//! `uncordon`: lets go of workers that wait to be drained, restarted or replaced.

use std::collections::BTreeMap;

use clap::Args;
use proto::runtimecloud::v1::{
    CancelWorkerOperationRequest, WorkerOperation, WorkerOperationState,
};

use crate::cli::{
    Action,
    client::{Filter, write_once},
    connection::{Connect, Session},
    failure::{Exit, Failure},
    kinds::operation,
    output::Output,
};

/// Let workers go on that wait for their turn to be drained, restarted or replaced
#[derive(Debug, Args)]
pub struct Uncordon {
    /// The pool
    #[arg(value_name = "ENVIRONMENT/POOL")]
    pool: String,

    /// A worker that waits; may be given several times. All that wait, if there is none
    #[arg(long = "worker", value_name = "ID")]
    workers: Vec<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Uncordon {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let mut ended = Vec::new();
        for (key, workers) in self.meant(&session).await? {
            let attempt = format!("call off `{key}`");
            let request =
                CancelWorkerOperationRequest { key, workers, options: Some(write_once(0)) };
            let answer = session.operations().cancel(request).await;
            ended.push(answer.map_err(session.failure(attempt))?.into_inner());
        }
        if self.output.is_json() {
            let all = ended.iter().map(operation::json).collect();
            return self.output.json(&all).map_err(Failure::unheard);
        }
        if ended.is_empty() {
            let text = format!("no worker of `{}` waits", self.pool);
            return self.output.line(&text).map_err(Failure::unheard);
        }
        let tell = |it: &WorkerOperation| {
            let (id, so_far, left) = (&it.id, operation::progress(it), it.waiting + it.under_way);
            self.output
                .line(&format!("`{id}`: {so_far}, {} let go, {left} still to come", it.skipped))
        };
        ended.iter().try_for_each(tell).map_err(Failure::unheard)
    }
}

impl Uncordon {
    /// By operation: the workers that it shall let go of; none for all.
    async fn meant(&self, session: &Session) -> Result<BTreeMap<String, Vec<String>>, Failure> {
        let filter = Filter { parent: self.pool.clone(), ..Filter::default() };
        let failure = session.failure(format!("look at worker pool `{}`", self.pool));
        if self.workers.is_empty() {
            let all = session.list_operations(&filter).await.map_err(failure)?;
            let waits = |it: &WorkerOperation| {
                it.state() == WorkerOperationState::UnderWay && it.waiting > 0
            };
            return Ok(all.into_iter().filter(waits).map(|it| (it.id, Vec::new())).collect());
        }
        let all = session.list_workers(&filter).await.map_err(failure)?;
        let mut meant: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in &self.workers {
            let found = all.iter().find(|worker| worker.id == *id);
            let operation = found.map(|worker| worker.operation.as_str()).unwrap_or_default();
            if operation.is_empty() {
                let what = if found.is_some() { "waits in no operation" } else { "is not there" };
                let message = format!("worker `{id}` of `{}` {what}", self.pool);
                return Err(Failure::new(Exit::NotFound, message));
            }
            meant.entry(operation.to_owned()).or_default().push(id.clone());
        }
        Ok(meant)
    }
}
