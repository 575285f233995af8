//! `delete`: takes declarations back.

use clap::Args;
use serde_json::Value;

use crate::cli::{
    Action,
    client::write_once,
    connection::Connect,
    failure::Failure,
    kinds::{Declared, Resource},
    output::Output,
    wait::Wait,
};

/// Delete resources, or release leases; a worker pool is gone when its last worker has stopped
#[derive(Debug, Args)]
pub struct Delete {
    /// What kind of thing they are
    #[arg(value_parser = Declared::parse)]
    kind: Declared,

    /// Their names or ids
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,

    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Delete {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let mut deleted = Vec::new();
        for key in &self.keys {
            let attempt = format!("delete {} `{key}`", self.kind);
            let resource = session.delete(self.kind, key, write_once(0)).await;
            deleted.push(resource.map_err(session.failure(attempt))?);
        }
        let mut heard = Ok(());
        for resource in &deleted {
            if self.wait.wait {
                session.wait_until_gone(resource, self.wait.timeout).await?;
            }
            if !self.output.is_json() {
                let is_gone = self.wait.wait || self.kind != Declared::WorkerPool;
                let done = match self.kind {
                    Declared::CapacityLease => "released",
                    _ if is_gone => "deleted",
                    _ => "is being deleted",
                };
                heard = heard.and(self.output.line(&format!("{} {done}", resource.title())));
            }
        }
        match &deleted[..] {
            [one] if self.output.is_json() => heard = self.output.json(&one.json()),
            all if self.output.is_json() => {
                heard = self.output.json(&all.iter().map(Resource::json).collect::<Value>());
            }
            _ => {}
        }
        heard.map_err(Failure::unheard)
    }
}
