//! `workers`: what runs, and how it is.

use clap::Args;

use crate::cli::{
    Action, client::Filter, commands::get::show_workers, connection::Connect, failure::Failure,
    output::Output,
};

/// Show the workers of a pool, or all
#[derive(Debug, Args)]
pub struct Workers {
    /// The pool
    #[arg(value_name = "ENVIRONMENT/POOL")]
    pool: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Workers {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let filter = Filter { parent: self.pool.unwrap_or_default(), ..Filter::default() };
        show_workers(&session, self.output, &filter).await
    }
}
