//! `driftgate diff`: what differs between two states or two plans.

use super::{
    inputs::{named, open, with_schemas},
    judging::Settings,
    reports,
};
use crate::cli::Diff;
use anyhow::ensure;
use driftgate::{
    compare,
    exit_code::ExitCode,
    report::{Subject, Verdict},
};
use std::path::Path;

pub(crate) fn run(arguments: &Diff) -> anyhow::Result<ExitCode> {
    let Diff { first, second, .. } = arguments;
    ensure!(
        first != Path::new("-") || second != Path::new("-"),
        "only one of the two can come from standard input"
    );
    let settings = Settings::load(&arguments.judging)?;
    let options = settings.options(arguments.reading.limits());
    let options = with_schemas(options, arguments.reading.schemas.as_deref())?;
    let (left, right) = (open(first, options.limits)?, open(second, options.limits)?);
    let mut checked = named(compare(left, right, &options), first, second)?;
    let history = settings.judge(&mut checked, second)?;
    // Drift that only the first plan has is a difference too.
    let report = &mut checked.report;
    let only_gone = report.subject == Subject::Plans
        && report.findings.is_empty()
        && !report.resolved.is_empty();
    if only_gone {
        report.verdict = Verdict::Drifted;
    }
    reports::write(report, &arguments.printing, None)?;
    if let Some(history) = history {
        history.write()?;
    }
    Ok(match settings.gate.exit_code(report) {
        ExitCode::Clean if only_gone && !settings.gate.exit_zero => ExitCode::Drift,
        code => code,
    })
}
