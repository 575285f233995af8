//! `operations`: what is, and was, done to workers.

use clap::Args;
use jiff::Timestamp;

use crate::cli::{
    Action, client::Filter, connection::Connect, failure::Failure, kinds::operation, output::Output,
};

/// Show drains, restarts and replacements of workers: those under way and the last that ended
#[derive(Debug, Args)]
pub struct Operations {
    /// The pool; all if it is left out
    #[arg(value_name = "ENVIRONMENT/POOL")]
    pool: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Operations {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let filter = Filter { parent: self.pool.unwrap_or_default(), ..Filter::default() };
        let failure = session.failure("list worker operations");
        let all = session.list_operations(&filter).await.map_err(failure)?;
        if self.output.is_json() {
            return Ok(self.output.json(&all.iter().map(operation::json).collect())?);
        }
        let now = Timestamp::now();
        let rows = all.iter().map(|it| operation::row(it, now)).collect();
        Ok(self.output.table(operation::HEADERS, rows)?)
    }
}
