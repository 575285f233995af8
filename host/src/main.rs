//! `runtimecloud`: the host, and the operator's command line.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use clap::FromArgMatches;
use host::{
    capacity::target::{CapacityTarget, DriverKind},
    causes::with_causes,
    cli,
    config::ServeArgs,
    drivers::{
        CapacityDriver, DriverError,
        process::{ProcessDriver, ProcessOptions, orphans},
    },
    places::OpenDriver,
    records::Records,
    server::{self, Leave, Options},
    tasks::prune::Retention,
};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|command| command == host::supervisor::COMMAND) {
        return host::supervisor::main(args);
    }
    let matches = cli::command().get_matches();
    let Some((cli::SERVE, arguments)) = matches.subcommand() else { return cli::run(&matches) };
    let served = ServeArgs::from_arg_matches(arguments).context("cannot read the arguments");
    match served.and_then(|arguments| serve(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", with_causes(error.as_ref())).is_ok();
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &ServeArgs) -> Result<()> {
    log_to_stderr(&arguments.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).context("cannot watch SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch SIGINT")?;
        let data_dir = std::path::absolute(&arguments.data_dir)
            .context("cannot make the data folder's path absolute")?;
        let opener = Box::new(Drivers { data_dir: data_dir.clone() });
        let serving = server::start(Options {
            data_dir,
            listen: arguments.listen,
            retention: Retention {
                age: arguments.events_max_age,
                count: arguments.events_max_count,
            },
            leave: if arguments.stop_workers { Leave::Stopped } else { Leave::Running },
            opener,
        })
        .await?;
        let (address, token) = (serving.address, serving.admin_token_path.display().to_string());
        let mut stdout = io::stdout();
        writeln!(stdout, "listening on http://{address}\nadministrator token in {token}")
            .and_then(|()| stdout.flush())
            .context("cannot say on standard output where the host listens")?;
        let signal = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        serving.until(signal).await
    })
}

fn log_to_stderr(filter: &str) -> Result<()> {
    let filter = EnvFilter::try_new(filter).context("cannot read the log filter")?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    Ok(())
}

/// Every target has its own folder, so that drivers of two targets never mix their workers.
struct Drivers {
    data_dir: std::path::PathBuf,
}

impl OpenDriver for Drivers {
    fn open(&self, target: &CapacityTarget) -> Result<Arc<dyn CapacityDriver>, DriverError> {
        match target.spec.driver {
            DriverKind::Process => {
                let folder = self.data_dir.join("targets").join(target.id.to_string());
                let options = ProcessOptions::new(folder, self.data_dir.join("ports"));
                Ok(Arc::new(ProcessDriver::new(options)?))
            }
        }
    }

    fn sweep(&self, records: &Records) {
        orphans::sweep(&self.data_dir.join("targets"), |target| {
            records.capacity_targets.contains_key(&target)
        });
    }
}
