//! `scale`: changes how many workers a pool shall have.

use clap::Args;
use proto::runtimecloud::v1::ScaleWorkerPoolRequest;

use crate::cli::{
    Action,
    client::write_once,
    connection::Connect,
    failure::Failure,
    kinds::{Declared, Resource},
    output::Output,
    wait::Wait,
};

/// Change how many workers a pool shall have
#[derive(Debug, Args)]
pub struct Scale {
    /// The pool
    #[arg(value_name = "ENVIRONMENT/POOL")]
    pool: String,

    /// How many workers there shall be
    #[arg(long, short = 'n')]
    size: u32,

    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Scale {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("scale worker pool `{}`", self.pool));
        let before = session.get(Declared::WorkerPool, &self.pool).await.map_err(&failure)?;
        let request = ScaleWorkerPoolRequest {
            key: self.pool,
            size: self.size,
            options: Some(write_once(0)),
        };
        let after = session.pools().scale(request).await.map_err(&failure)?.into_inner();
        let after = Resource::from(after);
        if self.wait.wait {
            session.wait_until_ready(&after, self.wait.timeout).await?;
        }
        if self.output.is_json() {
            return self.output.json(&after.json()).map_err(Failure::unheard);
        }
        let (from, to) = (&before.spec["size"], &after.spec["size"]);
        let title = after.title();
        let text = if from == to {
            format!("{title} unchanged: size is {to}")
        } else {
            format!("{title} scaled: size {from} -> {to}")
        };
        self.output.line(&text).map_err(Failure::unheard)
    }
}
