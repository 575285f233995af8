//! `create`: makes something new, from arguments or from files.

mod flags;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{
    Action,
    client::write_once,
    connection::Connect,
    declarations,
    failure::{Exit, Failure},
    kinds::{Desired, Resource},
    output::Output,
    wait::Wait,
};

/// Create something new; what exists already is refused
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "KIND",
    arg_required_else_help = true
)]
pub struct Create {
    #[command(subcommand)]
    what: Option<What>,

    /// Files to read instead, as for `apply`
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    way: Way,
}

/// How it is done, whatever it is.
#[derive(Debug, Args)]
pub struct Way {
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(visible_alias = "lease", aliases = ["capacity_lease", "cl"])]
    CapacityLease(flags::Lease),
    #[command(visible_alias = "target", aliases = ["capacity_target", "ct"])]
    CapacityTarget(flags::Target),
    #[command(visible_alias = "env")]
    Environment(flags::Environment),
    #[command(visible_alias = "subscription", aliases = ["event_subscription", "es"])]
    EventSubscription(Box<flags::Subscription>),
    Quota(flags::Quota),
    #[command(visible_alias = "account", aliases = ["service_account", "sa"])]
    ServiceAccount(flags::Account),
    #[command(visible_alias = "pool", aliases = ["worker_pool", "wp"])]
    WorkerPool(flags::Pool),
}

impl Action for Create {
    async fn run(self) -> Result<(), Failure> {
        let faults = |faults: Vec<String>| Failure {
            details: faults,
            ..Failure::new(Exit::Usage, "the arguments do not fit, and nothing was done")
        };
        let (way, desired) = match self.what {
            Some(What::CapacityLease(flags)) => flags.desired(),
            Some(What::CapacityTarget(flags)) => flags.desired(),
            Some(What::Environment(flags)) => flags.desired(),
            Some(What::EventSubscription(flags)) => flags.desired(),
            Some(What::Quota(flags)) => flags.desired(),
            Some(What::ServiceAccount(flags)) => flags.desired(),
            Some(What::WorkerPool(flags)) => flags.desired(),
            None => return self.way.create_declared(&self.files).await,
        }
        .map_err(faults)?;
        way.create(&[desired]).await
    }
}

impl Way {
    async fn create(self, all: &[Desired]) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let mut made = Vec::new();
        for desired in all {
            let attempt = format!("create {}", desired.title());
            let resource = session.create(desired, write_once(0)).await;
            made.push(resource.map_err(session.failure(attempt))?);
        }
        self.finish(&session, &made).await
    }

    async fn create_declared(self, files: &[PathBuf]) -> Result<(), Failure> {
        let declared = declarations::read(files)?;
        let session = self.connect.open().await?;
        let mut made = Vec::new();
        for declaration in &declared.all {
            let attempt = format!("create {}", declaration.desired.title());
            let resource = session.create(&declaration.desired, write_once(0)).await;
            let failure = session.failure(attempt);
            let locate = |status| declared.locate(declaration, failure(status));
            made.push(resource.map_err(locate)?);
        }
        self.finish(&session, &made).await
    }

    async fn finish(
        self,
        session: &crate::cli::connection::Session,
        made: &[Resource],
    ) -> Result<(), Failure> {
        if self.wait.wait {
            for resource in made {
                session.wait_until_ready(resource, self.wait.timeout).await?;
            }
        }
        let heard = match made {
            [one] if self.output.is_json() => self.output.json(&one.json()),
            all if self.output.is_json() => {
                self.output.json(&all.iter().map(Resource::json).collect())
            }
            all => {
                all.iter().try_for_each(|it| self.output.line(&format!("{} created", it.title())))
            }
        };
        heard.map_err(Failure::unheard)
    }
}
