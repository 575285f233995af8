//! `prometheus`: metrics for the textfile collector of node exporter, or for a push gateway.
//!
//! - Labels are the workspace, rules, severities and verdicts: never an address, so that the
//!   number of series does not grow with the plan.
//! - Every series is there in every run, with 0 where there is nothing: alerts need no `absent`.

use super::{Format, Style, visible};
use crate::{
    report::{Report, Standing, Verdict},
    rule::{RULES, Severity},
};
use std::{collections::BTreeMap, fmt::Write};

pub(super) const FORMAT: Format =
    Format { name: "prometheus", summary: "metrics for a textfile collector", render };

struct Page {
    out: String,
    workspace: String,
}

fn render(report: &Report, style: &Style) -> String {
    let workspace = label(report.workspace.as_deref().unwrap_or("default"));
    let mut page = Page { out: String::new(), workspace };
    page.findings(report);
    page.family("driftgate_verdict", "1 for the verdict of the last run");
    for verdict in [Verdict::Clean, Verdict::Drifted, Verdict::Inconclusive] {
        let held = i64::from(report.verdict == verdict);
        page.sample("driftgate_verdict", &[("verdict", verdict.name())], held);
    }
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let inconclusive = i64::from(!report.reasons.is_empty());
    let noise = report.counts.noise.values().sum();
    let gauges = [
        ("inconclusive", "1 when the plan cannot prove the absence of drift", inconclusive),
        ("resources", "Resources in the plan", count(report.counts.resources)),
        ("drifted", "Resources changed outside", count(report.counts.drifted)),
        (
            "actionable",
            "Drifted resources that apply acts on, or may",
            count(report.counts.actionable),
        ),
        ("planned_changes", "Planned changes that are not drift", count(report.counts.planned)),
        ("noise", "Differences without meaning", count(noise)),
        ("conditions", "Conditions that do not hold, or may not", count(report.checks.len())),
        ("ignored", "Findings that an ignore rule hit", count(report.suppressed.len())),
        ("resolved", "Findings of the baseline that are gone", count(report.resolved.len())),
    ];
    for (name, help, value) in gauges {
        let name = format!("driftgate_{name}");
        page.family(&name, help);
        page.sample(&name, &[], value);
    }
    page.violations(report);
    page.times(report, style);
    page.out
}

impl Page {
    fn family(&mut self, name: &str, help: &str) {
        let _ = writeln!(self.out, "# HELP {name} {help}.\n# TYPE {name} gauge");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: i64) {
        let _ = write!(self.out, "{name}{{workspace=\"{}\"", self.workspace);
        for (name, value) in labels {
            let _ = write!(self.out, ",{name}=\"{}\"", label(value));
        }
        let _ = writeln!(self.out, "}} {value}");
    }

    fn findings(&mut self, report: &Report) {
        let standings = ["new", "known", "awaiting"];
        let mut counts: BTreeMap<(&str, Severity, &str), i64> = RULES
            .iter()
            .flat_map(|rule| standings.map(|standing| ((rule.id, rule.severity, standing), 0)))
            .collect();
        for finding in &report.findings {
            let standing = match finding.standing {
                Standing::New => standings[0],
                Standing::Known { .. } => standings[1],
                Standing::Awaiting { .. } => standings[2],
            };
            *counts.entry((finding.rule.id, finding.severity, standing)).or_default() += 1;
        }
        self.family("driftgate_findings", "Findings by rule, severity and standing");
        for ((rule, severity, standing), count) in counts {
            let labels = [("rule", rule), ("severity", severity.name()), ("standing", standing)];
            self.sample("driftgate_findings", &labels, count);
        }
    }

    fn violations(&mut self, report: &Report) {
        self.family("driftgate_violations", "Policy violations by severity");
        for severity in Severity::ALL {
            let count = report.violations.iter().filter(|it| it.severity == *severity).count();
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.sample("driftgate_violations", &[("severity", severity.name())], count);
        }
    }

    fn times(&mut self, report: &Report, style: &Style) {
        let made = report.plan.timestamp.as_deref();
        let made = made.and_then(|it| it.parse::<jiff::Timestamp>().ok());
        let times = [
            ("plan", "When the plan was made", made.map(jiff::Timestamp::as_second)),
            ("last_run", "When the plan was checked", style.now),
        ];
        for (name, help, time) in times {
            if let Some(time) = time {
                let name = format!("driftgate_{name}_timestamp_seconds");
                self.family(&name, help);
                self.sample(&name, &[], time);
            }
        }
    }
}

pub(super) fn label(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"")
}
