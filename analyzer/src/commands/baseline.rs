//! `driftgate baseline write`: accepts what a plan shows.

use super::{
    judging::{Kept, Settings, shown},
    read,
};
use crate::cli::BaselineWrite;
use anyhow::Context as _;
use driftgate::{
    baseline::{Acceptance, Baseline},
    exit_code::ExitCode,
    report::Standing,
};
use jiff::Timestamp;
use std::io::{self, Write as _};

pub(crate) fn write(arguments: &BaselineWrite) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let (path, old) = settings
        .baseline
        .as_ref()
        .context("say where: --baseline FILE, or `file` under [baseline] in the configuration")?;
    let mut checked = read(&arguments.input, settings.options(arguments.input.limits()))?;
    settings.judge_by(&mut checked, &arguments.input.plan, old.as_ref());
    let report = &mut checked.report;
    let known =
        report.findings.iter().filter(|it| matches!(it.standing, Standing::Known { .. })).count();
    let acceptance = Acceptance {
        now: Timestamp::now(),
        expires: arguments.expires,
        reason: arguments.reason.clone(),
    };
    let resolved = report.resolved.len();
    let is_whole = report.reasons.is_empty();
    let new = Baseline::of(report, old.as_ref(), &acceptance);
    Kept { path: path.clone(), text: new.render() }.write()?;
    let mut remarks = io::stderr().lock();
    writeln!(
        remarks,
        "wrote {}: {} accepted, {known} of them known before; {resolved} resolved",
        shown(path),
        new.entries.len(),
    )?;
    if !is_whole {
        writeln!(remarks, "the plan is inconclusive: what it does not show was kept")?;
    }
    Ok(ExitCode::Clean)
}
