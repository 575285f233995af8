//! `lease`: what the holder of a capacity lease does with it.

use clap::{Args, Subcommand};
use proto::runtimecloud::v1::{CheckCapacityLeaseRequest, RenewCapacityLeaseRequest};
use serde_json::json;

use crate::cli::{
    Action,
    client::write_once,
    connection::Connect,
    failure::{Exit, Failure},
    kinds::Resource,
    output::Output,
    text,
};

/// Renew and check capacity leases; `create` and `delete` make and release them
#[derive(Debug, Args)]
pub struct Lease {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Check(Check),
    Renew(Renew),
}

/// Let a lease live for another time to live from now
#[derive(Debug, Args)]
struct Renew {
    /// The lease
    #[arg(value_name = "ENVIRONMENT/NAME")]
    key: String,

    /// Only if it was granted with this fencing token
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    fencing_token: u64,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Tell whether a lease is granted with a fencing token at this moment; if not, that is a failure
#[derive(Debug, Args)]
struct Check {
    /// The lease
    #[arg(value_name = "ENVIRONMENT/NAME")]
    key: String,

    /// The number that its holder was given
    #[arg(long, value_name = "NUMBER")]
    fencing_token: u64,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Lease {
    async fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Check(check) => check.run().await,
            What::Renew(renew) => renew.run().await,
        }
    }
}

impl Renew {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("renew capacity lease `{}`", self.key));
        let request = RenewCapacityLeaseRequest {
            key: self.key,
            fencing_token: self.fencing_token,
            options: Some(write_once(0)),
        };
        let renewed = session.leases().renew(request).await.map_err(failure)?.into_inner();
        let renewed = Resource::from(renewed);
        if self.output.is_json() {
            return self.output.json(&renewed.json()).map_err(Failure::unheard);
        }
        let until = match renewed.observed.get("expires_at").and_then(|time| time.as_str()) {
            Some(time) => format!("renewed until {time}"),
            None => "lives until it is released".to_owned(),
        };
        self.output.line(&format!("{} {until}", renewed.title())).map_err(Failure::unheard)
    }
}

impl Check {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let title = format!("capacity lease `{}`", self.key);
        let failure = session.failure(format!("check {title}"));
        let request =
            CheckCapacityLeaseRequest { key: self.key, fencing_token: self.fencing_token };
        let checked = session.leases().check(request).await.map_err(failure)?.into_inner();
        if self.output.is_json() {
            self.output.json(&json!({
                "valid": checked.valid,
                "reason": checked.reason,
                "message": checked.message,
                "expires_at": text::time(checked.expires_at.as_ref()),
                "checked_at": text::time(checked.checked_at.as_ref()),
            }))?;
        }
        if !checked.valid {
            let message = format!("{title} is not valid: {}: {}", checked.reason, checked.message);
            return Err(Failure::new(Exit::Failed, message));
        }
        if self.output.is_json() {
            return Ok(());
        }
        Ok(self.output.line(&format!("{title} is valid: {}", checked.message))?)
    }
}
