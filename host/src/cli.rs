//! The operator's command line: a client of the host's API.
//!
//! Each sub-command is a file in `commands` and a line in [`COMMANDS`]. Results go to standard output,
//! as a table or as JSON; all else goes to standard error. Exit codes are those of [`failure::Exit`].

pub mod changes;
pub mod client;
pub mod commands;
pub mod connection;
pub mod declarations;
pub mod document;
pub mod failure;
pub mod kinds;
pub mod output;
pub mod suggest;
pub mod text;
pub mod wait;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{ArgMatches, Args, Command};
use futures_util::future::{BoxFuture, FutureExt};

use crate::{
    cli::failure::{Exit, Failure},
    config::ServeArgs,
};

/// The sub-command that is the host itself. It is not among [`COMMANDS`], which are its clients.
pub const SERVE: &str = "serve";

/// A sub-command.
pub struct Sub {
    pub name: &'static str,
    build: fn(Command) -> Command,
    run: fn(&ArgMatches) -> BoxFuture<'static, Result<(), Failure>>,
}

/// The arguments of a sub-command, and what it does with them.
pub trait Action: Args + Send + 'static {
    fn run(self) -> impl Future<Output = Result<(), Failure>> + Send;
}

impl Sub {
    const fn new<A: Action>(name: &'static str) -> Self {
        Self { name, build: A::augment_args, run: run_action::<A> }
    }
}

fn run_action<A: Action>(matches: &ArgMatches) -> BoxFuture<'static, Result<(), Failure>> {
    let action = A::from_arg_matches(matches);
    async {
        match action {
            Ok(action) => action.run().await,
            Err(error) => Err(Failure::new(Exit::Usage, error.to_string())),
        }
    }
    .boxed()
}

/// All sub-commands that need no host of their own, sorted.
pub static COMMANDS: &[Sub] = &[
    Sub::new::<commands::apply::Apply>("apply"),
    Sub::new::<commands::completion::Completion>("completion"),
    Sub::new::<commands::create::Create>("create"),
    Sub::new::<commands::delete::Delete>("delete"),
    Sub::new::<commands::describe::Describe>("describe"),
    Sub::new::<commands::operate::Drain>("drain"),
    Sub::new::<commands::events::Events>("events"),
    Sub::new::<commands::get::Get>("get"),
    Sub::new::<commands::lease::Lease>("lease"),
    Sub::new::<commands::logs::Logs>("logs"),
    Sub::new::<commands::operations::Operations>("operations"),
    Sub::new::<commands::quota::Quota>("quota"),
    Sub::new::<commands::operate::Replace>("replace"),
    Sub::new::<commands::operate::Restart>("restart"),
    Sub::new::<commands::scale::Scale>("scale"),
    Sub::new::<commands::subscription::Subscription>("subscription"),
    Sub::new::<commands::token::Token>("token"),
    Sub::new::<commands::uncordon::Uncordon>("uncordon"),
    Sub::new::<commands::version::Version>("version"),
    Sub::new::<commands::workers::Workers>("workers"),
];

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed
  2  wrong arguments or declarations
  3  what was named is not there
  4  the host can not be reached
  5  the token is missing, wrong, or of too weak a role
  6  it exists already, was changed meanwhile, is protected or is in use
  7  a quota has no room
  8  what was waited for did not come in time";

/// The whole command line.
pub fn command() -> Command {
    let command = Command::new("runtimecloud")
        .about("Capacity as code: environments, worker pools and quotas, and the workers that run")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(EXIT_CODES);
    let serve = ServeArgs::augment_args(Command::new(SERVE)).disable_version_flag(true);
    COMMANDS.iter().fold(command.subcommand(serve), |command, sub| {
        command.subcommand((sub.build)(Command::new(sub.name)).disable_version_flag(true))
    })
}

/// Runs the sub-command that was asked for.
pub fn run(matches: &ArgMatches) -> ExitCode {
    let Some((name, matches)) = matches.subcommand() else { return ExitCode::from(2) };
    let Some(sub) = COMMANDS.iter().find(|sub| sub.name == name) else { return ExitCode::from(2) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on((sub.run)(matches)),
        Err(error) => Err(Failure::new(Exit::Failed, format!("cannot start: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => tell(&failure),
    }
}

fn tell(failure: &Failure) -> ExitCode {
    if failure.is_silent {
        return ExitCode::SUCCESS;
    }
    let (red, plain) =
        if output::stderr_has_colours() { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
    // Nobody hears it if this fails.
    let _unheard = writeln!(io::stderr(), "{red}error:{plain} {failure}");
    ExitCode::from(failure.exit as u8)
}

/// A word to people that is no result.
fn note(text: &str) {
    let _unheard = writeln!(io::stderr(), "{text}");
}
