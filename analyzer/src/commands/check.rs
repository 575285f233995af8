//! `driftgate check`: from a plan to a report and an exit code.

use super::{judging::Settings, load, read, reports, unread};
use crate::cli::Check;
use driftgate::{exit_code::ExitCode, propose};

pub(crate) fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let mut checked =
        read(&arguments.input, settings.options(arguments.input.limits())).or_else(unread)?;
    let history = settings.judge(&mut checked, &arguments.input.plan)?;
    if let Some(root) = &arguments.config_dir {
        let configuration = load(root, arguments.input.schemas.as_deref())?;
        propose(&mut checked.report, &configuration, &checked.secrets);
    }
    reports::write(&checked.report, &arguments.printing, arguments.config_dir.as_deref())?;
    // Only a run whose report came out counts.
    if let Some(history) = history {
        history.write()?;
    }
    Ok(settings.gate.exit_code(&checked.report))
}
