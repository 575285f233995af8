//! `runtimecloud`: the host, and the operator's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(command) if command == host::supervisor::COMMAND => host::supervisor::main(args),
        _ => ExitCode::from(2),
    }
}
