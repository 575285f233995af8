//! `text`: for a terminal.

use super::{FleetFormat, OUTCOMES, is_known, listed, remarks, summary};
use crate::{
    fleet::{Fleet, Outcome, Shared},
    formats::{Style, visible, words},
};
use std::fmt::Write;

pub(super) const FORMAT: FleetFormat =
    FleetFormat { name: "text", summary: "for a terminal", render };

const WORKSPACES_MAX: usize = 20;
const PATHS_MAX: usize = 10;

fn render(fleet: &Fleet, _style: &Style) -> String {
    let mut out = format!("{}: {}\n", fleet.verdict.name(), summary(fleet));
    for shared in &fleet.findings {
        out.push('\n');
        finding(&mut out, shared);
    }
    for outcome in OUTCOMES.iter().filter(|outcome| **outcome != "clean") {
        let members = fleet.members.iter().filter(|member| member.outcome.name() == *outcome);
        for (position, member) in members.enumerate() {
            if position == 0 {
                let _ = writeln!(out, "\n{outcome}");
            }
            let remark = match &member.outcome {
                Outcome::Read(digest) => remarks(digest),
                Outcome::Unreadable(why) | Outcome::Foreign(why) => why.clone(),
            };
            let _ = writeln!(out, "  {}: {}", visible(&member.name), visible(&remark));
        }
    }
    out
}

fn finding(out: &mut String, shared: &Shared) {
    let known = if is_known(shared) { ", known" } else { "" };
    let _ = writeln!(
        out,
        "{} {} ({}{known})",
        shared.severity.name(),
        visible(&shared.address),
        shared.rule.id
    );
    let (paths, more) = listed(&shared.paths, PATHS_MAX);
    let paths: Vec<String> = paths.iter().map(|path| visible(path)).chain(more).collect();
    if !paths.is_empty() {
        let _ = writeln!(out, "  changed: {}", paths.join(", "));
    }
    let (names, more) = listed(&shared.workspaces, WORKSPACES_MAX);
    let names: Vec<String> = names.iter().map(|name| visible(name)).chain(more).collect();
    let count = words::number(shared.workspaces.len(), "workspace");
    let _ = writeln!(out, "  in {count}: {}", names.join(", "));
}
