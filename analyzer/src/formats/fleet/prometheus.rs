//! `prometheus`: metrics for the textfile collector of node exporter, or for a push gateway.
//!
//! Labels are workspaces, severities and outcomes: never an address.

use super::{FleetFormat, OUTCOMES};
use crate::{
    fleet::Fleet,
    formats::{Style, prometheus::label},
    rule::Severity,
};
use std::fmt::Write;

pub(super) const FORMAT: FleetFormat =
    FleetFormat { name: "prometheus", summary: "metrics for a textfile collector", render };

fn render(fleet: &Fleet, style: &Style) -> String {
    let mut out = String::new();
    family(&mut out, "workspaces", "Workspaces by outcome");
    for outcome in OUTCOMES {
        let count = fleet.count(outcome);
        let _ = writeln!(out, "driftgate_fleet_workspaces{{outcome=\"{outcome}\"}} {count}");
    }
    family(&mut out, "findings", "Findings by severity, each counted once however many have it");
    for severity in Severity::ALL {
        let count = fleet.findings.iter().filter(|shared| shared.severity == *severity).count();
        let name = severity.name();
        let _ = writeln!(out, "driftgate_fleet_findings{{severity=\"{name}\"}} {count}");
    }
    family(&mut out, "workspace_outcome", "1 for the outcome of a workspace");
    for member in &fleet.members {
        let (name, outcome) = (label(&member.name), member.outcome.name());
        let _ = writeln!(
            out,
            "driftgate_fleet_workspace_outcome{{workspace=\"{name}\",outcome=\"{outcome}\"}} 1"
        );
    }
    family(&mut out, "workspace_findings", "Findings of a workspace");
    for (name, digest) in fleet.read() {
        let (name, count) = (label(name), digest.findings.len());
        let _ = writeln!(out, "driftgate_fleet_workspace_findings{{workspace=\"{name}\"}} {count}");
    }
    if let Some(now) = style.now {
        family(&mut out, "last_run_timestamp_seconds", "When the fleet was checked");
        let _ = writeln!(out, "driftgate_fleet_last_run_timestamp_seconds {now}");
    }
    out
}

fn family(out: &mut String, name: &str, help: &str) {
    let name = format!("driftgate_fleet_{name}");
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} gauge");
}
