//! `driftgate explain`: the words of a report, or a finding of a plan.

use super::{judging::Settings, load, print, read};
use crate::cli::{Explain, Input};
use driftgate::{Limits, exit_code::ExitCode, explain, judge::today, propose};
use jiff::Timestamp;
use std::path::Path;

pub(crate) fn run(arguments: &Explain) -> anyhow::Result<ExitCode> {
    let wanted = arguments.topic.as_deref();
    match (wanted, &arguments.plan) {
        (Some(wanted), Some(plan)) if !is_topic(wanted) => explain_finding(arguments, plan, wanted),
        (wanted, _) => explain_words(wanted),
    }
}

fn is_topic(name: &str) -> bool {
    explain::topics().iter().any(|topic| topic.name == name)
}

fn explain_finding(arguments: &Explain, plan: &Path, wanted: &str) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let input = Input {
        plan: plan.to_owned(),
        max_entry: Limits::STANDARD.entry_bytes_max,
        schemas: None,
        previous_state: None,
        quiet: false,
    };
    let mut checked = read(&input, settings.options(input.limits()))?;
    // The history is only for the next run of a gate, so it stays as it is.
    settings.judge(&mut checked, plan)?;
    if let Some(root) = &arguments.config_dir {
        propose(&mut checked.report, &load(root, None)?, &checked.secrets);
    }
    let today = today(Timestamp::now());
    let text = explain::finding(&checked.report, &settings.config, today, wanted);
    let text = text.ok_or_else(|| {
        anyhow::anyhow!(
            "nothing in that plan has this address or fingerprint; `driftgate check` lists what it \
             has"
        )
    })?;
    print(checked.secrets.text(&text).as_bytes())?;
    Ok(ExitCode::Clean)
}

fn explain_words(wanted: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    for topic in explain::topics() {
        if wanted.is_none_or(|wanted| wanted == topic.name) {
            out.push_str(&format!("{} ({})\n", topic.name, topic.group));
            for line in topic.meaning.lines() {
                out.push_str(&format!("    {line}\n"));
            }
        }
    }
    anyhow::ensure!(
        !out.is_empty(),
        "nothing is called so; `driftgate explain` lists everything that is, and with --plan PLAN \
         an address or a fingerprint of a finding is explained"
    );
    print(out.as_bytes())?;
    Ok(ExitCode::Clean)
}
