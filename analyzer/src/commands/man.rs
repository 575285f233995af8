//! `driftgate man`: a manual page, made of the same text as the help.

use super::print;
use crate::cli::Cli;
use anyhow::Context as _;
use clap::CommandFactory as _;
use driftgate::exit_code::ExitCode;

pub(crate) fn run(wanted: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut program = Cli::command();
    program.build();
    let command = match wanted {
        None => program,
        Some(name) => {
            let found = program.get_subcommands().find(|command| command.get_name() == name);
            let found = found.with_context(|| {
                let names: Vec<&str> =
                    program.get_subcommands().map(clap::Command::get_name).collect();
                format!("there is no such command; there are {}", names.join(", "))
            })?;
            found.clone()
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(&page)?;
    Ok(ExitCode::Clean)
}
