//! `markdown`: for a comment or a page.
//!
//! Whatever comes from a plan or a file's name stands in code spans. The result is cut between
//! findings and workspaces; the summary and the number of what is missing always stay.

use super::{FleetFormat, OUTCOMES, is_known, listed, remarks, summary};
use crate::{
    fleet::{Fleet, Outcome, Shared},
    formats::{Style, markdown::code},
};

pub(super) const FORMAT: FleetFormat =
    FleetFormat { name: "markdown", summary: "for a comment on a pull request", render };

const WORKSPACES_MAX: usize = 30;
const PATHS_MAX: usize = 10;
/// What the notes on what is missing take.
const NOTES: usize = 200;

fn render(fleet: &Fleet, style: &Style) -> String {
    let bytes_max = style.comment_bytes_max.max(Style::COMMENT_BYTES_MIN) - NOTES;
    let mut out = format!(
        "<!-- driftgate-fleet -->\n## Fleet: {}\n\n{}.\n",
        fleet.verdict.name(),
        summary(fleet)
    );
    let findings = fleet.findings.iter().map(finding);
    list(&mut out, "Drift", findings, bytes_max);
    let members = OUTCOMES.iter().filter(|outcome| **outcome != "clean").flat_map(|outcome| {
        fleet.members.iter().filter(move |member| member.outcome.name() == *outcome)
    });
    let members = members.map(|member| {
        let remark = match &member.outcome {
            Outcome::Read(digest) => remarks(digest),
            Outcome::Unreadable(why) | Outcome::Foreign(why) => code(why),
        };
        format!("- {} {}: {remark}\n", code(&member.name), member.outcome.name())
    });
    list(&mut out, "Workspaces", members, bytes_max);
    out
}

/// As many of the items as fit.
fn list(out: &mut String, title: &str, items: impl Iterator<Item = String>, bytes_max: usize) {
    let mut left = 0;
    for (position, item) in items.enumerate() {
        if position == 0 {
            out.push_str(&format!("\n### {title}\n\n"));
        }
        if left > 0 || out.len() + item.len() > bytes_max {
            left += 1;
        } else {
            out.push_str(&item);
        }
    }
    if left > 0 {
        out.push_str(&format!("\n{left} more are left out.\n"));
    }
}

fn finding(shared: &Shared) -> String {
    let spans = |names: &[String], max| {
        let (names, more) = listed(names, max);
        names.iter().map(|name| code(name)).chain(more).collect::<Vec<_>>().join(", ")
    };
    let paths = match shared.paths.is_empty() {
        true => String::new(),
        false => format!(", changed {}", spans(&shared.paths, PATHS_MAX)),
    };
    format!(
        "- **{}** {} ({}{}){paths}; in {}: {}\n",
        shared.severity.name(),
        code(&shared.address),
        shared.rule.id,
        if is_known(shared) { ", known" } else { "" },
        shared.workspaces.len(),
        spans(&shared.workspaces, WORKSPACES_MAX),
    )
}
