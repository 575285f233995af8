//! `driftgate propose`: the patch that adopts what is real, printed or written.

use super::{load, print, read};
use crate::cli::Propose;
use anyhow::Context as _;
use driftgate::{Checked, Written, exit_code::ExitCode, formats::visible, propose};
use std::io::{self, Write as _};

pub(crate) fn run(arguments: &Propose) -> anyhow::Result<ExitCode> {
    let Checked { mut report, secrets } = read(&arguments.input, arguments.input.limits())?;
    let root = &arguments.config_dir;
    let edited = propose(&mut report, &load(root)?, &secrets);
    let mut remarks = io::stderr().lock();
    for finding in &report.findings {
        for refusal in finding.proposals.iter().flat_map(|proposal| &proposal.refusals) {
            let place = refusal.place.as_ref();
            let place = place.map(|it| format!(" ({}:{})", it.file, it.line)).unwrap_or_default();
            let (address, path) = (&finding.address, &refusal.path);
            let remark = format!("left alone: {address} {path}: {}{place}", refusal.reason);
            writeln!(remarks, "{}", visible(&remark))?;
        }
    }
    for warning in &report.warnings {
        writeln!(remarks, "warning: {}", visible(warning))?;
    }
    if arguments.write {
        let Written(files) = Written::write(root, &edited)
            .with_context(|| format!("failed to edit the files in {}", root.display()))?;
        for file in files {
            writeln!(remarks, "edited {}", visible(&file))?;
        }
    } else {
        print(report.patch.unwrap_or_default().as_bytes())?;
    }
    Ok(ExitCode::Clean)
}
