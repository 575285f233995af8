//! The command line.
//!
//! The choices of `--format` and `explain` derive from the tables of the library.

mod judging;

pub(crate) use judging::{Baseline, BaselineWrite, Explain, Ignores, Judging};

use clap::{
    Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use driftgate::{
    Limits,
    exit_code::WORST_FIRST,
    explain,
    formats::{self, Color, FLEET_FORMATS, FORMATS, Style},
    proposal::ProposalKind,
};
use std::{num::NonZeroUsize, path::PathBuf};

/// Finds what was changed outside of Terraform or OpenTofu, and says what to do about it.
#[derive(Debug, Parser)]
#[command(name = "driftgate", version, arg_required_else_help = true, after_help = after_help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a plan: what was changed outside, what is only planned, what means nothing.
    Check(Box<Check>),
    /// The findings that were accepted.
    #[command(subcommand)]
    Baseline(Baseline),
    /// Show what each ignore rule hits in a plan, without ignoring anything.
    Ignores(Ignores),
    /// Compare two states, or two plans: what differs, what appeared, what vanished.
    Diff(Box<Diff>),
    /// Compare a state with what is real: with a newer state, or by asking the engine.
    State(Box<State>),
    /// List the built-in policies.
    Policies,
    /// Write what is real into the configuration: print the patch, or edit the files.
    Propose(Propose),
    /// Explain a word of a report, or a finding of a plan; without either, list all words.
    Explain(Box<Explain>),
    /// Print a completion script for a shell.
    Completion { shell: clap_complete::Shell },
    /// Check many plans, or merge the results of many jobs, and make one report of them.
    Fleet(Box<Fleet>),
    /// Print a manual page: of the program, or of one of its commands.
    Man {
        /// Such as `check`.
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Input {
    /// A plan in JSON, made by `terraform show -json FILE` or `tofu show -json FILE`; `-` reads
    /// standard input.
    pub(crate) plan: PathBuf,
    /// The largest single resource to accept, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::STANDARD.entry_bytes_max)]
    pub(crate) max_entry: usize,
    /// What the providers say of their resources: the output of `terraform providers schema
    /// -json`. It tells sets from lists, and what is secret.
    #[arg(long, value_name = "FILE")]
    pub(crate) schemas: Option<PathBuf>,
    /// A state from before the plan, for a plan without drift in it: made by Terraform before
    /// 0.15.4, or with -refresh=false.
    #[arg(long, value_name = "STATE")]
    pub(crate) previous_state: Option<PathBuf>,
    /// Show no progress on a terminal.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Where reports go, and how they look.
#[derive(Debug, clap::Args)]
pub(crate) struct Printing {
    /// How to print the report.
    #[arg(long, default_value = "text", value_parser = format_parser())]
    pub(crate) format: String,
    /// Write the report to a file, in place of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report in one more format to a file; may be given several times. `-` stands for
    /// standard output.
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = parse_copy)]
    pub(crate) reports: Vec<Copy>,
    /// Append the report to a step's summary on GitHub, or to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) summary: Option<Option<PathBuf>>,
    /// Append verdict and counts to a step's outputs on GitHub, or to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) outputs: Option<Option<PathBuf>>,
    /// The longest Markdown report, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Style::default().comment_bytes_max)]
    pub(crate) comment_max: usize,
    /// When to use colours in the text format.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// One more report.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) format: String,
    /// `None` is standard output.
    pub(crate) file: Option<PathBuf>,
}

fn parse_copy(text: &str) -> Result<Copy, String> {
    let (format, file) = text.split_once('=').ok_or("give FORMAT=FILE")?;
    if formats::find(format).is_none() {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        return Err(format!("there is no format `{format}`; there are {}", names.join(", ")));
    }
    if file.is_empty() {
        return Err("the file is missing; `-` stands for standard output".to_owned());
    }
    let file = (file != "-").then(|| PathBuf::from(file));
    Ok(Copy { format: format.to_owned(), file })
}

impl Input {
    /// The bounds on what reading may use.
    pub(crate) fn limits(&self) -> Limits {
        Limits { entry_bytes_max: self.max_entry, ..Limits::STANDARD }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: Input,
    /// The folder of the root module; with it, patches that adopt outside changes are proposed.
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: Judging,
    #[command(flatten)]
    pub(crate) printing: Printing,
}

/// What two inputs are read with.
#[derive(Debug, clap::Args)]
pub(crate) struct Reading {
    /// What the providers say of their resources: the output of `terraform providers schema
    /// -json`. It tells sets from lists, and what is secret.
    #[arg(long, value_name = "FILE")]
    pub(crate) schemas: Option<PathBuf>,
    /// The largest single resource to accept, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::STANDARD.entry_bytes_max)]
    pub(crate) max_entry: usize,
}

impl Reading {
    /// The bounds on what reading may use.
    pub(crate) fn limits(&self) -> Limits {
        Limits { entry_bytes_max: self.max_entry, ..Limits::STANDARD }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// The older state, or the plan to compare with; one of the two may be `-`, standard input.
    pub(crate) first: PathBuf,
    /// The newer state, or the plan in question.
    pub(crate) second: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) judging: Judging,
    #[command(flatten)]
    pub(crate) printing: Printing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct State {
    /// The state; without one, what the engine has.
    pub(crate) state: Option<PathBuf>,
    /// A newer state of the same workspace.
    #[arg(long, value_name = "STATE")]
    pub(crate) live: Option<PathBuf>,
    /// The folder of the root module, ready to plan in: the engine makes a refresh-only plan there,
    /// which is not applied.
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
    /// The engine: Terraform or OpenTofu.
    #[arg(long, value_name = "PATH", default_value = "terraform")]
    pub(crate) terraform: PathBuf,
    /// How long the engine may take for each of its two commands, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    pub(crate) timeout: u64,
    /// Arguments for the engine's plan, such as `-var-file=prod.tfvars`.
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) plan_arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) judging: Judging,
    #[command(flatten)]
    pub(crate) printing: Printing,
}

/// Either plans or results.
#[derive(Debug, clap::Args)]
pub(crate) struct Fleet {
    /// Plans in JSON, and folders with plans in files that end in `.json` or `.json.gz`. A
    /// workspace is called after its file.
    #[arg(value_name = "SOURCE", required_unless_present_any = ["list", "results"])]
    pub(crate) sources: Vec<String>,
    /// A file that names more of them, one on each line; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) list: Option<PathBuf>,
    /// A folder with results, or one result, of `driftgate check --format json`; may be given
    /// several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Vec<PathBuf>,
    /// Every file is meant to be a plan: one that is none makes the fleet inconclusive.
    #[arg(long)]
    pub(crate) strict: bool,
    /// How many files to read at once [default: one for each core].
    #[arg(long, value_name = "COUNT")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The most files to accept.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    pub(crate) max_files: usize,
    /// The largest single resource to accept, in bytes; each job may need so much memory.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::STANDARD.entry_bytes_max)]
    pub(crate) max_entry: usize,
    #[command(flatten)]
    pub(crate) judging: Judging,
    /// How to print the report.
    #[arg(long, default_value = "text", value_parser = fleet_format_parser())]
    pub(crate) format: String,
    /// Write the report to a file, in place of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The longest Markdown report, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Style::default().comment_bytes_max)]
    pub(crate) comment_max: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Propose {
    #[command(flatten)]
    pub(crate) input: Input,
    /// The folder of the root module.
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: PathBuf,
    /// What to write into the configuration.
    #[arg(long, value_name = "KIND", default_value = "adopt", value_parser = kind_parser())]
    pub(crate) kind: ProposalKind,
    /// Only for the resource at this address; may be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) only: Vec<String>,
    /// The id of the object to import, with `--kind import`.
    #[arg(long, value_name = "ID", requires = "only")]
    pub(crate) id: Option<String>,
    /// Print a unified diff; this is the default.
    #[arg(long, conflicts_with = "write")]
    pub(crate) patch: bool,
    /// Edit the files, in place of printing the patch: all of them or none.
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    pub(crate) fn decide(self, to_terminal: bool) -> Color {
        let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => Color::On,
            Self::Never => Color::Off,
            Self::Auto if to_terminal && !asked_not_to => Color::On,
            Self::Auto => Color::Off,
        }
    }
}

fn format_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(
        FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary)),
    )
}

fn kind_parser() -> impl TypedValueParser<Value = ProposalKind> {
    PossibleValuesParser::new(
        ProposalKind::EDITS.iter().map(|kind| PossibleValue::new(kind.name()).help(kind.summary())),
    )
    .map(|name| {
        let found = ProposalKind::EDITS.iter().find(|kind| kind.name() == name);
        found.copied().unwrap_or(ProposalKind::Adopt)
    })
}

fn fleet_format_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(
        FLEET_FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary)),
    )
}

fn after_help() -> String {
    let codes = explain::topics().into_iter().find(|topic| topic.name == "exit-codes");
    let codes = codes.map(|topic| topic.meaning.replace('\n', "\n  ")).unwrap_or_default();
    format!("Exit codes (the worst wins: {WORST_FIRST}):\n  {codes}")
}
