//! `driftgate ignores`: what each ignore rule hits in a plan, without ignoring anything.

use super::{judging::Settings, print, read};
use crate::cli::Ignores;
use driftgate::{
    config::{Config, Day},
    exit_code::ExitCode,
    formats::visible,
    judge::{hits, state, today},
    report::Report,
};
use jiff::Timestamp;

pub(crate) fn run(arguments: &Ignores) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let checked = read(&arguments.input, settings.options(arguments.input.limits()))?;
    let text = render(&checked.report, &settings.config, today(Timestamp::now()));
    print(checked.secrets.text(&text).as_bytes())?;
    Ok(ExitCode::Clean)
}

fn render(report: &Report, config: &Config, today: Day) -> String {
    let mut hit_lines: Vec<Vec<String>> = vec![Vec::new(); config.ignore.len()];
    for finding in &report.findings {
        for hit in hits(finding, &config.ignore) {
            let is_whole = hit.attributes.len() == finding.attributes.len();
            let paths: Vec<String> =
                hit.attributes.iter().map(|at| visible(&finding.attributes[*at].path)).collect();
            let what = if is_whole { "as a whole".to_owned() } else { paths.join(", ") };
            hit_lines[hit.rule].push(format!("    {}: {what}\n", visible(&finding.address)));
        }
    }
    let mut out = String::new();
    for (position, (rule, lines)) in config.ignore.iter().zip(hit_lines).enumerate() {
        let expires = rule.expires.map(|day| format!(", expires {day}")).unwrap_or_default();
        out.push_str(&format!(
            "{} ({}{expires}): {}\n",
            visible(&rule.name(position)),
            state(rule, lines.len(), today).name(),
            visible(&format!("{} ({})", rule.reason, rule.owner)),
        ));
        out.extend(lines);
    }
    if out.is_empty() {
        out.push_str("the configuration has no ignore rules\n");
    }
    out
}
