//! `driftgate check`: from a plan to a report and an exit code.

use super::{judging::Settings, load, print, read, style};
use crate::cli::Check;
use anyhow::Context as _;
use driftgate::{exit_code::ExitCode, formats, propose};

pub(crate) fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let mut checked = read(&arguments.input, settings.options(&arguments.input))?;
    let history = settings.judge(&mut checked, &arguments.input.plan)?;
    if let Some(root) = &arguments.config_dir {
        propose(&mut checked.report, &load(root)?, &checked.secrets);
    }
    let format = formats::find(&arguments.format).context("the format is not known")?;
    let text = (format.render)(&checked.report, &style(arguments));
    match &arguments.output {
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("failed to write the report to {}", path.display()))?,
        None => print(text.as_bytes())?,
    }
    // Only a run whose report came out counts.
    if let Some(history) = history {
        history.write()?;
    }
    Ok(settings.gate.exit_code(&checked.report))
}
