//! `driftgate propose`: an edit of the configuration, printed as a patch or written.

use super::{load, print, read};
use crate::cli::Propose;
use anyhow::{Context as _, bail};
use driftgate::{
    Checked, Selection, Written, exit_code::ExitCode, formats::visible, propose_selected,
    report::Report,
};
use std::io::{self, Write as _};

pub(crate) fn run(arguments: &Propose) -> anyhow::Result<ExitCode> {
    let Checked { mut report, secrets } = read(&arguments.input, arguments.input.limits())?;
    let root = &arguments.config_dir;
    let selection =
        Selection { kind: arguments.kind, only: arguments.only.clone(), id: arguments.id.clone() };
    for address in &selection.only {
        if !report.findings.iter().any(|finding| finding.address == *address) {
            bail!("{} is no finding of this plan", visible(&secrets.text(address)));
        }
    }
    let configuration = load(root, arguments.input.schemas.as_deref())?;
    let edited = propose_selected(&mut report, &configuration, &secrets, &selection);
    remark(&report, &selection)?;
    if arguments.write {
        let Written(files) = Written::write(root, &edited)
            .with_context(|| format!("failed to edit the files in {}", root.display()))?;
        let mut remarks = io::stderr().lock();
        for file in files {
            writeln!(remarks, "edited {}", visible(&file))?;
        }
    } else {
        print(report.patch.unwrap_or_default().as_bytes())?;
    }
    Ok(ExitCode::Clean)
}

/// Says on standard error what was left alone and why, and what to run after the edit.
fn remark(report: &Report, selection: &Selection) -> io::Result<()> {
    let mut remarks = io::stderr().lock();
    for finding in report.findings.iter().filter(|finding| selection.takes(finding)) {
        for proposal in finding.proposals.iter().filter(|it| it.kind == selection.kind) {
            for refusal in &proposal.refusals {
                let place = refusal.place.as_ref();
                let place = place.map(|it| format!(" ({}:{})", it.file, it.line));
                let what = [finding.address.as_str(), &refusal.path].join(" ");
                let reason = format!("{}{}", refusal.reason, place.unwrap_or_default());
                let remark = format!("left alone: {}: {reason}", what.trim_end());
                writeln!(remarks, "{}", visible(&remark))?;
                if let Some(next) = refusal.instead {
                    let remark = format!("  next best: {}, {}", next.name(), next.summary());
                    writeln!(remarks, "{remark}")?;
                }
            }
            for command in &proposal.commands {
                writeln!(remarks, "then: {}", visible(command))?;
            }
        }
    }
    for warning in &report.warnings {
        writeln!(remarks, "warning: {}", visible(warning))?;
    }
    Ok(())
}
