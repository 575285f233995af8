//! `runtimecloud`: the host, and the operator's command line.

use std::process::ExitCode;

use host::{cli, supervisor};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|command| command == supervisor::COMMAND) {
        return supervisor::main(args);
    }
    cli::run(&cli::command().get_matches())
}
