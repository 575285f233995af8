//! `gitlab-codequality`: for GitLab's `artifacts:reports:codequality`.
//!
//! GitLab takes issues with the same fingerprint for one, so alike ones are numbered.

use super::{
    Format, Layout, Style, json_text, place,
    problem::{Problem, new_problems},
    visible, words,
};
use crate::{
    report::{Place, Report, Standing},
    rule::Severity,
};
use serde_json::{Value, json};

pub(super) const FORMAT: Format =
    Format { name: "gitlab-codequality", summary: "code quality report of GitLab", render };

fn render(report: &Report, style: &Style) -> String {
    let mut issues = Vec::new();
    let numbers = words::numbered(report.findings.iter().map(|it| it.fingerprint.as_str()));
    for (finding, fingerprint) in report.findings.iter().zip(numbers) {
        if finding.standing == Standing::New {
            let text = format!("{} {}", visible(&finding.address), words::brief(finding));
            let place = place::of_finding(finding, style);
            let place = place.unwrap_or_else(|| place::fallback(style));
            issues.push(issue(finding.rule.id, &fingerprint, finding.severity, &place, &text));
        }
    }
    for problem in new_problems(report) {
        let place = place::of_problem(&problem, style);
        let place = place.unwrap_or_else(|| place::fallback(style));
        let Problem { rule, fingerprint, severity, text, .. } = &problem;
        issues.push(issue(rule, fingerprint, *severity, &place, text));
    }
    json_text(&Value::Array(issues), Layout::Lines) + "\n"
}

fn issue(name: &str, fingerprint: &str, severity: Severity, place: &Place, text: &str) -> Value {
    let severity = match severity {
        Severity::Info => "info",
        Severity::Low => "minor",
        Severity::Medium => "major",
        Severity::High => "critical",
        Severity::Critical => "blocker",
    };
    json!({
        "description": text,
        "check_name": format!("driftgate/{name}"),
        "fingerprint": fingerprint,
        "severity": severity,
        "location": { "path": place.file, "lines": { "begin": place.line } },
    })
}
