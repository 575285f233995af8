//! What a plan is judged by, and the sub-commands about that.

use super::Input;
use clap::Subcommand;
use driftgate::{
    config::{Age, Day},
    gate::FailOn,
};
use std::{num::NonZeroU32, path::PathBuf};

/// What a plan is judged by; what is left out comes from the configuration file.
#[derive(Debug, clap::Args)]
pub(crate) struct Judging {
    /// The configuration file; by default `driftgate.toml` in the working directory, if it is there.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Look for no configuration file.
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
    /// What to fail on: classes (`actionable`, `check`, `drift`, `inconclusive`, `pending`,
    /// `policy`), of which some take a severity (`drift=high`), and `severity=high` for all that take one.
    /// Separated by commas, or given several times [default: drift,policy].
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    /// Pass plans that cannot prove that there is no drift.
    #[arg(long)]
    pub(crate) allow_inconclusive: bool,
    /// Never fail because of what is found; only what cannot be read is still an error.
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Plans older than this (`90m`, `24h`, `7d`) prove nothing.
    #[arg(long, value_name = "DURATION")]
    pub(crate) max_age: Option<Age>,
    /// What was accepted: only findings that are not in this file fail the job.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Where it is kept how often each finding was seen in a row.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Fail only for findings that were seen in so many runs in a row.
    #[arg(long, value_name = "RUNS")]
    pub(crate) min_consecutive: Option<NonZeroU32>,
    /// How the workspace is called in the report.
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Baseline {
    /// Accept all that a plan shows; entries that are there already keep their day and reason.
    Write(BaselineWrite),
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaselineWrite {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) judging: Judging,
    /// Why it is accepted.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The last day on which it is accepted.
    #[arg(long, value_name = "DAY")]
    pub(crate) expires: Option<Day>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ignores {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) judging: Judging,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// A word of a report, such as `conflict` or `json-form`; with a plan also the address or the
    /// fingerprint of a finding, or the name of a policy.
    #[arg(value_name = "WORD|FINDING")]
    pub(crate) topic: Option<String>,
    /// The plan that the finding is in.
    #[arg(long, value_name = "PLAN", requires = "topic")]
    pub(crate) plan: Option<PathBuf>,
    /// The folder of the root module; with it, patches that adopt outside changes are proposed.
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: Judging,
}
