//! `github`: workflow commands of GitHub Actions, which become annotations; and the outputs of a
//! step.
//!
//! - GitHub shows ten annotations of a level for each step: the gravest are printed, and the last
//!   one tells how many are missing.
//! - What was known before makes none.

use super::{
    Format, Layout, Style, facts, json_text, place, problem::new_problems, visible, words,
};
use crate::{
    report::{Place, Report, Standing},
    rule::Severity,
};
use serde_json::json;
use std::fmt::Write;

pub(super) const FORMAT: Format =
    Format { name: "github", summary: "annotations of GitHub Actions", render };

/// Of each level, in one step.
const SHOWN_MAX: usize = 10;

/// Addresses in the outputs.
const ADDRESSES_MAX: usize = 100;

struct Annotation {
    level: &'static str,
    command: String,
}

fn render(report: &Report, style: &Style) -> String {
    let annotations = annotations(report, style);
    let mut out = String::new();
    for level in ["error", "warning", "notice"] {
        let same: Vec<&Annotation> = annotations.iter().filter(|it| it.level == level).collect();
        let shown = if same.len() > SHOWN_MAX { SHOWN_MAX - 1 } else { same.len() };
        out.extend(same.iter().take(shown).map(|annotation| annotation.command.as_str()));
        if shown < same.len() {
            let more = words::number(same.len() - shown, "more finding");
            let text = format!("{more} of this level, see the full report");
            out.push_str(&command(level, "driftgate", None, &text));
        }
    }
    out
}

fn annotations(report: &Report, style: &Style) -> Vec<Annotation> {
    let mut annotations = Vec::new();
    let mut add = |level, title: &str, place: Option<Place>, text: &str| {
        let command = command(level, title, place.as_ref(), text);
        annotations.push(Annotation { level, command });
    };
    for reason in &report.reasons {
        add("warning", &format!("driftgate: {}", reason.name()), None, reason.meaning());
    }
    for problem in new_problems(report) {
        let title = format!("driftgate: {}", problem.rule);
        let place = place::of_problem(&problem, style);
        add(level(problem.severity), &title, place, &problem.text);
    }
    let findings = words::by_severity(report);
    for finding in findings.into_iter().filter(|it| it.standing == Standing::New) {
        let title = format!("driftgate: {} ({})", finding.rule.title, finding.severity.name());
        let text = format!("{} {}", finding.address, words::brief(finding));
        add(level(finding.severity), &title, place::of_finding(finding, style), &text);
    }
    annotations
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "notice",
    }
}

fn command(level: &str, title: &str, place: Option<&Place>, text: &str) -> String {
    let mut out = format!("::{level} ");
    if let Some(place) = place {
        let _ = write!(out, "file={},line={},", property(&place.file), place.line);
    }
    let _ = writeln!(out, "title={}::{}", property(title), data(text));
    out
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The outputs of a step, for the file that `GITHUB_OUTPUT` names. The delimiter is to be a text
/// that nobody can guess, of letters and digits.
pub fn outputs(report: &Report, delimiter: &str) -> String {
    let addresses: Vec<&str> =
        report.findings.iter().take(ADDRESSES_MAX).map(|it| it.address.as_str()).collect();
    let mut outputs = facts::facts(report);
    outputs.push(("summary", words::headline(report)));
    outputs.push(("addresses", json_text(&json!(addresses), Layout::Compact)));
    outputs
        .iter()
        .map(|(name, value)| format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_command() {
        let place = Place { file: "a,b:c.tf".to_owned(), line: 7 };
        let hostile = "::error::x\n::set-output name=a::b, 100%";
        assert_eq!(
            command("error", hostile, Some(&place), hostile),
            "::error file=a%2Cb%3Ac.tf,line=7,title=%3A%3Aerror%3A%3Ax\\n%3A%3Aset-output \
             name=a%3A%3Ab%2C 100%25::::error::x\\n::set-output name=a::b, 100%25\n"
        );
    }
}
