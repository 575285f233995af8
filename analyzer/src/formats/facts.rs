//! What later steps of a pipeline want to know: a few names, each with a word or a number.
//!
//! - Names are promises: they stand in pipelines. One may be added.
//! - No value holds a text of the plan, so that no reader can be tricked by one.

use super::words;
use crate::report::{Report, Standing};

/// Names and values, in a fixed order.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let counts = &report.counts;
    let new = report.findings.iter().filter(|it| it.standing == Standing::New).count();
    let gravest = words::severities(report).first().map_or("none", |(severity, _)| severity.name());
    vec![
        ("verdict", report.verdict.name().to_owned()),
        ("severity", gravest.to_owned()),
        ("drifted", counts.drifted.to_string()),
        ("actionable", counts.actionable.to_string()),
        ("new", new.to_string()),
        ("ignored", report.suppressed.len().to_string()),
        ("resolved", report.resolved.len().to_string()),
        ("violations", report.violations.len().to_string()),
        ("conditions", report.checks.len().to_string()),
        ("planned", counts.planned.to_string()),
    ]
}
