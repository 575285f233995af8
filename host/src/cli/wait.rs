//! Waiting for what the host does after it has answered.

use std::time::Duration;

use clap::Args;
use proto::runtimecloud::v1::{Condition, ConditionStatus, Worker};
use tonic::{Code, Status};

use crate::cli::{
    client::Filter,
    connection::Session,
    failure::{Exit, Failure},
    kinds::{Declared, Resource},
};

const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Whether to wait, and how long.
#[derive(Debug, Clone, Copy, Args)]
pub struct Wait {
    /// Wait until it is done
    #[arg(long)]
    pub wait: bool,

    /// How long to wait at most
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = length)]
    pub timeout: Duration,
}

/// A length of time as an argument.
pub fn length(text: &str) -> Result<Duration, String> {
    proto::duration::parse(text)
}

impl Session {
    /// Waits until all workers of a pool are ready, or a lease is granted. Other kinds are ready as
    /// soon as they are declared.
    pub async fn wait_until_ready(
        &self,
        resource: &Resource,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let (wanted, key) = match resource.kind {
            Declared::WorkerPool => ("Ready", &resource.key),
            // Another lease may have taken its name meanwhile.
            Declared::CapacityLease => ("Granted", &resource.metadata.id),
            Declared::CapacityTarget
            | Declared::Quota
            | Declared::Environment
            | Declared::EventSubscription
            | Declared::ServiceAccount => return Ok(()),
        };
        let ready = async {
            loop {
                let attempt = format!("look at {}", resource.title());
                let now = self.get(resource.kind, key).await.map_err(self.failure(attempt))?;
                let is_so = |ready: &Condition| {
                    ready.status() == ConditionStatus::True
                        && ready.observed_generation >= resource.metadata.generation
                };
                if now.condition(wanted).is_some_and(is_so) {
                    return Ok(());
                }
                if now.has_ended() {
                    return Err(not_granted(&now, Exit::NoRoom));
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        match tokio::time::timeout(timeout, ready).await {
            Ok(result) => result,
            Err(_) if resource.kind == Declared::CapacityLease => {
                let now = self.get(resource.kind, key).await.unwrap_or_else(|_| resource.clone());
                Err(not_granted(&now, Exit::TimedOut))
            }
            Err(_) => Err(self.not_ready(resource, timeout).await),
        }
    }

    /// Why a pool is not ready, as its workers tell.
    async fn not_ready(&self, resource: &Resource, timeout: Duration) -> Failure {
        let after = proto::duration::print(timeout);
        let message = format!("{} is not ready after {after}", resource.title());
        let filter = Filter { parent: resource.key.clone(), ..Filter::default() };
        let workers = self.list_workers(&filter).await.unwrap_or_default();
        let unready = workers.iter().filter(|worker| !worker.ready);
        let tell =
            |worker: &Worker| format!("{}: {}: {}", worker.id, worker.reason, worker.message);
        let mut details: Vec<_> = unready.map(tell).collect();
        let more = details.len().saturating_sub(5);
        details.truncate(5);
        if more > 0 {
            details.push(format!("and {more} more"));
        }
        let help = format!(
            "it goes on by itself; see `runtimecloud describe worker_pool {key}` and \
             `runtimecloud logs {key}`",
            key = resource.key
        );
        Failure { details, ..Failure::new(Exit::TimedOut, message).help(help) }
    }

    /// Waits until a resource whose deletion was accepted is gone.
    pub async fn wait_until_gone(
        &self,
        resource: &Resource,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let (attempt, id) = (format!("look at {}", resource.title()), &resource.metadata.id);
        let gone = async {
            loop {
                match self.get(resource.kind, id).await {
                    Err(status) if is_not_found(&status) => return Ok(()),
                    Err(status) => return Err(self.failure(&attempt)(status)),
                    Ok(now) if now.has_ended() => return Ok(()),
                    Ok(_) => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        };
        tokio::time::timeout(timeout, gone).await.unwrap_or_else(|_| {
            let after = proto::duration::print(timeout);
            let message = format!("{} is not gone after {after}", resource.title());
            Err(Failure::new(Exit::TimedOut, message).help("its deletion goes on by itself"))
        })
    }
}

fn not_granted(lease: &Resource, exit: Exit) -> Failure {
    let granted = lease.condition("Granted");
    let why = granted.map(|it| format!("{}: {}", it.reason, it.message));
    let message = format!("{} is not granted", lease.title());
    let help = (exit == Exit::TimedOut)
        .then(|| format!("it goes on waiting; see `runtimecloud describe lease {}`", lease.key));
    Failure { details: why.into_iter().collect(), help, ..Failure::new(exit, message) }
}

pub fn is_not_found(status: &Status) -> bool {
    status.code() == Code::NotFound
}
