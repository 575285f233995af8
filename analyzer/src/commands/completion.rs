//! `driftgate completion`: a script for a shell.

use super::print;
use crate::cli::Cli;
use clap::CommandFactory as _;
use driftgate::exit_code::ExitCode;

pub(crate) fn run(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "driftgate", &mut script);
    print(&script)?;
    Ok(ExitCode::Clean)
}
