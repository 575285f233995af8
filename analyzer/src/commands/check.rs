//! `driftgate check`: from a plan to a report and an exit code.

use super::{load, print, read, style};
use crate::cli::Check;
use anyhow::Context as _;
use driftgate::{Checked, exit_code::ExitCode, formats, gate, propose};

pub(crate) fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let Checked { mut report, secrets } = read(&arguments.input)?;
    if let Some(root) = &arguments.config_dir {
        propose(&mut report, &load(root)?, &secrets);
    }
    let format = formats::find(&arguments.format).context("the format is not known")?;
    let text = (format.render)(&report, &style(arguments));
    match &arguments.output {
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("failed to write the report to {}", path.display()))?,
        None => print(text.as_bytes())?,
    }
    Ok(gate::exit_code(&report, arguments.fail_on))
}
