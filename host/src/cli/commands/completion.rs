//! `completion`: a script that lets a shell complete our arguments.

use std::io::{self, Write};

use clap::Args;
use clap_complete::{Shell, generate};

use crate::cli::{Action, command, failure::Failure};

/// Print a script that completes arguments in a shell
#[derive(Debug, Args)]
pub struct Completion {
    /// The shell that is to run the script
    #[arg(value_enum)]
    shell: Shell,
}

impl Action for Completion {
    async fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut command(), "runtimecloud", &mut script);
        Ok(io::stdout().write_all(&script)?)
    }
}
