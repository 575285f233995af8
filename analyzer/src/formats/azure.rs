//! `azure`: logging commands of Azure Pipelines: an issue for each finding, and variables.
//!
//! - A text of the plan cannot begin or end a command: its brackets are spelled out.
//! - Variables are set for later steps and, as outputs, for later jobs.

use super::{Format, Style, facts, place, problem::new_problems, visible, words};
use crate::{
    report::{Place, Report, Standing},
    rule::Severity,
};
use std::fmt::Write;

pub(super) const FORMAT: Format =
    Format { name: "azure", summary: "logging commands of Azure Pipelines", render };

/// More would hide the rest of a job's page.
const ISSUES_MAX: usize = 50;

fn render(report: &Report, style: &Style) -> String {
    let mut issues = Vec::new();
    for reason in &report.reasons {
        let text = format!("driftgate: the plan proves little: {}", reason.meaning());
        issues.push(issue(Severity::Medium, reason.name(), None, &text));
    }
    for problem in new_problems(report) {
        let place = place::of_problem(&problem, style);
        issues.push(issue(problem.severity, &problem.rule, place.as_ref(), &problem.text));
    }
    let findings = words::by_severity(report);
    for finding in findings.into_iter().filter(|it| it.standing == Standing::New) {
        let text = format!("{} {}", visible(&finding.address), words::brief(finding));
        let place = place::of_finding(finding, style);
        issues.push(issue(finding.severity, finding.rule.id, place.as_ref(), &text));
    }
    let mut out: String = issues.iter().take(ISSUES_MAX).map(String::as_str).collect();
    if issues.len() > ISSUES_MAX {
        let more = words::number(issues.len() - ISSUES_MAX, "more issue");
        let text = format!("driftgate: {more}, see the full report");
        out.push_str(&issue(Severity::Medium, "more", None, &text));
    }
    for (name, value) in facts::facts(report) {
        let value = data(&value);
        let _ = writeln!(out, "##vso[task.setvariable variable=driftgate_{name}]{value}");
        let _ = writeln!(out, "##vso[task.setvariable variable={name};isOutput=true]{value}");
    }
    out
}

fn issue(severity: Severity, code: &str, place: Option<&Place>, text: &str) -> String {
    let kind = if severity >= Severity::High { "error" } else { "warning" };
    let mut command = format!("##vso[task.logissue type={kind};code={};", property(code));
    if let Some(place) = place {
        let _ = write!(command, "sourcepath={};linenumber={};", property(&place.file), place.line);
    }
    format!("{command}]{}\n", data(text))
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%AZP25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(']', "%5D").replace(';', "%3B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_command() {
        let hostile = "x]##vso[task.complete result=Succeeded;]\r\ny;100%";
        let line = issue(Severity::High, hostile, None, hostile);
        assert_eq!(line.matches("##vso[").count(), 1, "{line}");
        assert_eq!(line.lines().count(), 1);
        assert!(line.starts_with("##vso[task.logissue type=error;code=x%5D##vso\\u{5b}task"));
        assert!(line.ends_with("y;100%AZP25\n"));
    }
}
