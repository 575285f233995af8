//! The configuration file and the options beside it, and what a plan is judged by.

use crate::cli::Judging;
use anyhow::{Context as _, anyhow, ensure};
use driftgate::{
    Checked, Limits, Options,
    baseline::{self, Baseline},
    config::{self, Age, Config},
    formats::visible,
    gate::Gate,
    history::History,
    judge::Judge,
    policy::Policies,
    replace_file,
};
use jiff::Timestamp;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The configuration with the options in it, which win, and the files that were kept.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) gate: Gate,
    pub(crate) baseline: Option<(PathBuf, Option<Baseline>)>,
    max_age: Option<Age>,
    history: Option<(PathBuf, History)>,
    policies: Option<Arc<Policies>>,
    min_consecutive: u32,
}

impl Settings {
    pub(crate) fn load(options: &Judging) -> anyhow::Result<Self> {
        let (mut config, folder) = read_config(options)?;
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
        let min_consecutive = options.min_consecutive.or(config.history.min_consecutive);
        let path = |given: Option<&PathBuf>, configured: Option<&String>| {
            given.cloned().or(configured.map(|file| folder.join(file)))
        };
        let baseline = path(options.baseline.as_ref(), config.baseline.file.as_ref());
        let history = path(options.history.as_ref(), config.history.file.as_ref());
        ensure!(
            history.is_some() || min_consecutive.is_none_or(|runs| runs.get() == 1),
            "--min-consecutive needs --history FILE, where runs are counted"
        );
        let workspace = config.workspace.as_deref();
        let policies = config.policies().map_err(|faults| anyhow!("{}", faults.join("\n")))?;
        Ok(Self {
            baseline: baseline
                .map(|path| read_baseline(&path, workspace).map(|kept| (path, kept)))
                .transpose()?,
            history: history
                .map(|path| read_history(&path, workspace).map(|kept| (path, kept)))
                .transpose()?,
            min_consecutive: min_consecutive.map_or(1, std::num::NonZero::get),
            policies: policies.map(Arc::new),
            config,
            gate,
            max_age,
        })
    }

    /// For many workspaces: the name and the history of one are nothing to the others. A finding
    /// must not wait for runs that nobody counts.
    pub(crate) fn for_many(mut self) -> Self {
        self.config.workspace = None;
        self.history = None;
        self.min_consecutive = 1;
        self
    }

    /// How a plan is to be read.
    pub(crate) fn options(&self, limits: Limits) -> Options {
        Options {
            limits,
            schemas: None,
            as_drift: self.config.noise.as_drift.iter().map(|kind| kind.0).collect(),
            policies: self.policies.clone(),
        }
    }

    /// Judges the report of one plan; gives the history for the next run. `plan` is the file that
    /// it was read from.
    pub(crate) fn judge(&self, checked: &mut Checked, plan: &Path) -> anyhow::Result<Option<Kept>> {
        let baseline = match &self.baseline {
            Some((path, None)) => return Err(no_baseline(path)),
            Some((_, baseline)) => baseline.as_ref(),
            None => None,
        };
        Ok(self.judge_by(checked, plan, baseline))
    }

    /// As [`Self::judge`], by another baseline or none.
    pub(crate) fn judge_by(
        &self,
        checked: &mut Checked,
        plan: &Path,
        baseline: Option<&Baseline>,
    ) -> Option<Kept> {
        let judge = Judge {
            made: modified(plan),
            max_age: self.max_age,
            policies: self.policies.as_deref(),
            baseline,
            history: self.history.as_ref().map(|(_, history)| history),
            min_consecutive: self.min_consecutive,
            ..Judge::new(&self.config, Timestamp::now())
        };
        let next = judge.judge(&mut checked.report, &checked.secrets);
        let path = self.history.as_ref().map(|(path, _)| path.clone());
        path.zip(next).map(|(path, next)| Kept { path, text: next.render() })
    }
}

/// A file that is to be there for the next run.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Kept {
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        replace_file(&self.path, &self.text)
            .with_context(|| format!("failed to write {}", shown(&self.path)))
    }
}

pub(crate) fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

fn no_baseline(path: &Path) -> anyhow::Error {
    let path = shown(path);
    anyhow!(
        "there is no baseline {path}; `driftgate baseline write PLAN --baseline {path}` makes one"
    )
}

/// The given file, or the one that lies in the working directory; and the folder it lies in.
fn read_config(options: &Judging) -> anyhow::Result<(Config, PathBuf)> {
    if options.no_config {
        return Ok((Config::default(), PathBuf::new()));
    }
    let path = options.config.clone().unwrap_or_else(|| PathBuf::from(config::FILE_NAME));
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && options.config.is_none() => {
            return Ok((Config::default(), folder));
        }
        Err(error) => {
            let context = format!("failed to read the configuration {}", shown(&path));
            return Err(error).context(context);
        }
    };
    let config = Config::parse(&text).map_err(|error| {
        let path = shown(&path);
        let faults: Vec<String> =
            error.faults.iter().map(|fault| format!("{path}:{}", visible(fault))).collect();
        anyhow!("{}", faults.join("\n"))
    })?;
    Ok((config, folder))
}

fn read_baseline(path: &Path, workspace: Option<&str>) -> anyhow::Result<Option<Baseline>> {
    let context = || format!("failed to read the baseline {}", shown(path));
    let Some(text) = read_if_there(path).with_context(context)? else { return Ok(None) };
    let kept = Baseline::parse(&text).with_context(context)?;
    baseline::check_workspace(kept.workspace.as_deref(), workspace).with_context(context)?;
    Ok(Some(kept))
}

/// Of the first run there is none yet.
fn read_history(path: &Path, workspace: Option<&str>) -> anyhow::Result<History> {
    let context = || format!("failed to read the history {}", shown(path));
    let Some(text) = read_if_there(path).with_context(context)? else {
        return Ok(History::default());
    };
    let kept = History::parse(&text).with_context(context)?;
    baseline::check_workspace(kept.workspace.as_deref(), workspace).with_context(context)?;
    Ok(kept)
}

fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// When a regular file was written.
fn modified(path: &Path) -> Option<Timestamp> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Timestamp::try_from(metadata.modified().ok()?).ok()
}
