//! The configuration file and the options beside it, and what a plan is judged by.

use crate::cli::Judging;
use anyhow::Context as _;
use driftgate::{
    Checked,
    config::{self, Age, Config},
    formats::visible,
    gate::Gate,
    judge::Judge,
};
use jiff::Timestamp;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The configuration, with the options in it: they win.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) gate: Gate,
    max_age: Option<Age>,
}

impl Settings {
    pub(crate) fn load(options: &Judging) -> anyhow::Result<Self> {
        let mut config = read_config(options)?;
        let mut gate = config.gate.gate();
        if !options.fail_on.is_empty() {
            gate.fail_on = options.fail_on.iter().copied().collect();
        }
        gate.allow_inconclusive |= options.allow_inconclusive;
        gate.exit_zero |= options.exit_zero;
        if options.workspace.is_some() {
            config.workspace.clone_from(&options.workspace);
        }
        let max_age = options.max_age.or(config.gate.max_age);
        Ok(Self { config, gate, max_age })
    }

    /// Judges the report of one plan. `plan` is the file that it was read from.
    pub(crate) fn judge(&self, checked: &mut Checked, plan: &Path) {
        let judge = Judge {
            config: &self.config,
            now: Timestamp::now(),
            made: modified(plan),
            max_age: self.max_age,
        };
        judge.judge(&mut checked.report, &checked.secrets);
    }
}

/// The given file, or the one that lies in the working directory.
fn read_config(options: &Judging) -> anyhow::Result<Config> {
    let (path, must_be) = match &options.config {
        Some(path) => (path.clone(), true),
        None if options.no_config => return Ok(Config::default()),
        None => (PathBuf::from(config::FILE_NAME), false),
    };
    let shown = visible(&path.display().to_string());
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_be => {
            return Ok(Config::default());
        }
        Err(error) => {
            return Err(error).with_context(|| format!("failed to read the configuration {shown}"));
        }
    };
    Config::parse(&text).map_err(|error| {
        let faults: Vec<String> =
            error.faults.iter().map(|fault| format!("{shown}:{}", visible(fault))).collect();
        anyhow::anyhow!("{}", faults.join("\n"))
    })
}

/// When a regular file was written.
fn modified(path: &Path) -> Option<Timestamp> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Timestamp::try_from(metadata.modified().ok()?).ok()
}
