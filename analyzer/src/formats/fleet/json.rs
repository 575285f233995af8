//! `json`: for programs. The schema is published as `schema/fleet.v1.json`.
//!
//! Fields are added within a version, never renamed or dropped.

use super::FleetFormat;
use crate::{
    fleet::{Fleet, Member, Outcome, Shared},
    formats::{Layout, Style, json_text},
};
use serde_json::{Value, json};

pub(super) const FORMAT: FleetFormat =
    FleetFormat { name: "json", summary: "for programs", render };

const SCHEMA_VERSION: u32 = 1;

fn render(fleet: &Fleet, _style: &Style) -> String {
    let document = json!({
        "schema_version": SCHEMA_VERSION,
        "driftgate_version": env!("CARGO_PKG_VERSION"),
        "verdict": fleet.verdict.name(),
        "exit_code": fleet.exit_code as u8,
        "counts": {
            "workspaces": fleet.members.len(),
            "drifted": fleet.count("drifted"),
            "inconclusive": fleet.count("inconclusive"),
            "clean": fleet.count("clean"),
            "unreadable": fleet.count("unreadable"),
            "foreign": fleet.count("foreign"),
            "findings": fleet.findings.len(),
        },
        "findings": fleet.findings.iter().map(finding).collect::<Vec<_>>(),
        "workspaces": fleet.members.iter().map(workspace).collect::<Vec<_>>(),
    });
    json_text(&document, Layout::Lines) + "\n"
}

fn finding(shared: &Shared) -> Value {
    json!({
        "fingerprint": shared.fingerprint,
        "rule": shared.rule.id,
        "severity": shared.severity.name(),
        "address": shared.address,
        "type": shared.resource_type,
        "paths": shared.paths,
        "workspaces": shared.workspaces,
        "new_in": shared.new,
    })
}

fn workspace(member: &Member) -> Value {
    let outcome = member.outcome.name();
    match &member.outcome {
        Outcome::Read(digest) => json!({
            "name": member.name,
            "outcome": outcome,
            "reasons": digest.reasons.iter().map(|reason| reason.name()).collect::<Vec<_>>(),
            "resources": digest.resources,
            "findings": digest.findings.len(),
            "planned": digest.planned,
            "suppressed": digest.suppressed,
            "resolved": digest.resolved,
        }),
        Outcome::Unreadable(why) | Outcome::Foreign(why) => json!({
            "name": member.name,
            "outcome": outcome,
            "message": why,
        }),
    }
}
