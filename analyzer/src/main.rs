//! `driftgate`: reads arguments, calls the library, prints, and ends with an exit code.
//!
//! Only here and in `commands` are standard streams, the environment and the terminal looked at.
//! Reports go to standard output or `--output`, everything else to standard error.

mod cli;
mod commands;
mod progress;

use clap::Parser as _;
use cli::{Baseline, Cli, Command};
use commands::{
    baseline, check, completion, diff, explain, fleet, ignores, man, policies, propose, state,
};
use driftgate::exit_code::ExitCode;
use std::io::{self, Write as _};

fn main() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no failure.
            drop(error.print());
            let code = if error.use_stderr() { ExitCode::Error } else { ExitCode::Clean };
            return code.into();
        }
    };
    match run(cli) {
        Ok(code) => code.into(),
        Err(error) if is_closed_pipe(&error) => ExitCode::Error.into(),
        Err(error) => {
            drop(writeln!(io::stderr(), "driftgate: {error:#}"));
            ExitCode::Error.into()
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Baseline(Baseline::Write(arguments)) => baseline::write(&arguments),
        Command::Ignores(arguments) => ignores::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::State(arguments) => state::run(&arguments),
        Command::Policies => policies::run(),
        Command::Propose(arguments) => propose::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Completion { shell } => completion::run(shell),
        Command::Fleet(arguments) => fleet::run(&arguments),
        Command::Man { command } => man::run(command.as_deref()),
    }
}

/// Whoever read our output has gone: nobody is left to tell.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let source = error.root_cause().downcast_ref::<io::Error>();
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
