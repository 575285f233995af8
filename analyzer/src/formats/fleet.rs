//! The formats of a fleet's report; as for one report, each is a pure function.

mod json;
mod markdown;
mod prometheus;
mod text;

use super::Style;
use crate::fleet::{Digest, Fleet, Shared};

/// One way to print a fleet's report.
pub struct FleetFormat {
    pub name: &'static str,
    pub summary: &'static str,
    pub render: fn(&Fleet, &Style) -> String,
}

/// All formats, sorted by name.
pub const FLEET_FORMATS: &[FleetFormat] =
    &[json::FORMAT, markdown::FORMAT, prometheus::FORMAT, text::FORMAT];

/// The outcomes of a workspace, the gravest first.
const OUTCOMES: [&str; 5] = ["drifted", "unreadable", "inconclusive", "clean", "foreign"];

/// `3 workspaces: 1 drifted, 2 clean`.
fn summary(fleet: &Fleet) -> String {
    let counts: Vec<String> = OUTCOMES
        .iter()
        .filter_map(|outcome| match (fleet.count(outcome), *outcome) {
            (0, _) => None,
            (count, "foreign") => Some(format!("{count} no plan")),
            (count, outcome) => Some(format!("{count} {outcome}")),
        })
        .collect();
    let all = super::words::number(fleet.members.len(), "workspace");
    if counts.is_empty() { all } else { format!("{all}: {}", counts.join(", ")) }
}

/// `2 findings, 1 planned change, incomplete`.
fn remarks(digest: &Digest) -> String {
    let counts = [
        (digest.findings.len(), "finding"),
        (digest.planned, "planned change"),
        (digest.suppressed, "ignored finding"),
        (digest.resolved, "resolved finding"),
    ];
    let mut remarks: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| super::words::number(count, noun))
        .collect();
    remarks.extend(digest.reasons.iter().map(|reason| reason.name().to_owned()));
    remarks.join(", ")
}

/// The first of the names, and how many there are besides.
fn listed(names: &[String], max: usize) -> (&[String], Option<String>) {
    let listed = &names[..names.len().min(max)];
    let left = names.len() - listed.len();
    (listed, (left > 0).then(|| format!("and {left} more")))
}

fn is_known(shared: &Shared) -> bool {
    shared.new == 0
}
