//! `json`: for programs. The schema is published as `schema/report.v1.json`.
//!
//! - Fields are added within a version, never renamed or dropped.
//! - Hidden characters are escaped, so that the output is safe on a terminal too.

use super::{Format, Layout, Style, json_text, words};
use crate::{
    proposal::Proposal,
    redact::PLACEHOLDER,
    report::{
        Attribute, FailedCheck, Finding, IgnoreUse, Place, Planned, PlannedNote, Report, Resolved,
        Shown, Standing, Violation,
    },
};
use serde_json::{Map, Value, json};

pub(super) const FORMAT: Format = Format { name: "json", summary: "for programs", render };

/// The version of the shape; it changes when a reader would break.
const SCHEMA_VERSION: u32 = 1;

fn render(report: &Report, _style: &Style) -> String {
    json_text(&document(report), Layout::Lines) + "\n"
}

/// The whole report.
pub(super) fn document(report: &Report) -> Value {
    let suppressed = report
        .suppressed
        .iter()
        .map(|it| json!({ "by": it.by, "reason": it.reason, "finding": finding(&it.finding) }));
    json!({
        "schema_version": SCHEMA_VERSION,
        "driftgate_version": env!("CARGO_PKG_VERSION"),
        "workspace": report.workspace,
        "plan": {
            "format_version": report.plan.format_version,
            "tool_version": report.plan.tool_version,
            "timestamp": report.plan.timestamp,
            "mode": report.plan.mode.name(),
        },
        "verdict": report.verdict.name(),
        "reasons": report.reasons.iter().map(|reason| json!({
            "code": reason.name(),
            "message": reason.meaning(),
        })).collect::<Vec<_>>(),
        "warnings": report.warnings,
        "counts": counts(report),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "violations": report.violations.iter().map(violation).collect::<Vec<_>>(),
        "suppressed": suppressed.collect::<Vec<_>>(),
        "resolved": report.resolved.iter().map(resolved).collect::<Vec<_>>(),
        "ignores": report.ignores.iter().map(ignore).collect::<Vec<_>>(),
        "planned": report.planned.iter().map(planned).collect::<Vec<_>>(),
        "noise": report.noise.iter().map(|item| json!({
            "address": item.address,
            "path": item.path,
            "kind": item.kind.name(),
        })).collect::<Vec<_>>(),
        "checks": report.checks.iter().map(check).collect::<Vec<_>>(),
        "patch": report.patch,
        "documents": report.documents,
    })
}

pub(super) fn counts(report: &Report) -> Value {
    let severities: Map<String, Value> = words::severities(report)
        .into_iter()
        .map(|(severity, count)| (severity.name().to_owned(), json!(count)))
        .collect();
    json!({
        "resources": report.counts.resources,
        "drifted": report.counts.drifted,
        "actionable": report.counts.actionable,
        "outcomes": report.counts.fates,
        "severities": severities,
        "planned": report.counts.planned,
        "noise": report.counts.noise,
    })
}

pub(super) fn violation(violation: &Violation) -> Value {
    json!({
        "policy": violation.policy,
        "address": violation.address,
        "message": violation.message,
        "severity": violation.severity.name(),
        "fingerprint": violation.fingerprint,
        "standing": standing(&violation.standing),
        "place": violation.place.as_ref().map(place),
    })
}

pub(super) fn resolved(resolved: &Resolved) -> Value {
    json!({
        "fingerprint": resolved.fingerprint,
        "address": resolved.address,
        "rule": resolved.rule,
    })
}

fn ignore(ignore: &IgnoreUse) -> Value {
    json!({
        "name": ignore.name,
        "owner": ignore.owner,
        "reason": ignore.reason,
        "expires": ignore.expires,
        "state": ignore.state.name(),
        "hits": ignore.hits,
    })
}

fn standing(standing: &Standing) -> Value {
    match standing {
        Standing::New => json!({ "state": standing.name() }),
        Standing::Known { since } => json!({ "state": standing.name(), "since": since }),
        Standing::Awaiting { runs, wanted } => {
            json!({ "state": standing.name(), "runs": runs, "wanted": wanted })
        }
    }
}

pub(super) fn finding(finding: &Finding) -> Value {
    json!({
        "address": finding.address,
        "deposed": finding.deposed,
        "type": finding.resource_type,
        "provider": finding.provider,
        "moved_from": finding.moved_from,
        "outside": finding.outside.name(),
        "outcome": finding.fate.name(),
        "rule": finding.rule.id,
        "severity": finding.severity.name(),
        "fingerprint": finding.fingerprint,
        "standing": standing(&finding.standing),
        "owner": finding.owner,
        "dependents": finding.dependents,
        "dependents_count": finding.dependents_count,
        "action": finding.action.as_ref().map(crate::action::Action::word),
        "action_reason": finding.action_reason,
        "one_way": finding.one_way,
        "identity_changed": finding.identity_changed,
        "shown_by_engine": finding.shown_by_engine,
        "declared": finding.declared.as_ref().map(place),
        "attributes": finding.attributes.iter().map(attribute).collect::<Vec<_>>(),
        "pending": finding.pending,
        "document": finding.document,
        "proposals": finding.proposals.iter().map(proposal).collect::<Vec<_>>(),
    })
}

fn attribute(attribute: &Attribute) -> Value {
    let sensitive = [&attribute.before, &attribute.after].into_iter().any(hides);
    let mut object = Map::new();
    object.insert("path".into(), json!(attribute.path));
    object.insert("outcome".into(), json!(attribute.fate.name()));
    object.insert("sensitive".into(), json!(sensitive));
    object.insert("declared".into(), json!(attribute.declared.as_ref().map(place)));
    // A side that is not set is left out: null is a value.
    let sides = [
        ("before", Some(&attribute.before)),
        ("after", Some(&attribute.after)),
        ("desired", attribute.desired.as_ref()),
    ];
    for (name, side) in sides {
        if let Some(value) = side.and_then(value) {
            object.insert(name.into(), value);
        }
    }
    if attribute.desired == Some(Shown::Unknown) {
        object.insert("desired_unknown".into(), json!(true));
    }
    Value::Object(object)
}

fn hides(shown: &Shown) -> bool {
    match shown {
        Shown::Sensitive | Shown::Concealed(_) => true,
        Shown::List(items) => items.iter().any(hides),
        Shown::Object(fields) => fields.values().any(hides),
        _ => false,
    }
}

fn value(shown: &Shown) -> Option<Value> {
    Some(match shown {
        Shown::Absent | Shown::Unknown => return None,
        Shown::Null => Value::Null,
        Shown::Bool(flag) => json!(flag),
        // Digits are kept as they are.
        Shown::Number(text) => serde_json::from_str(text).unwrap_or(json!(text)),
        Shown::String(text) | Shown::Concealed(text) => json!(text),
        Shown::Sensitive => json!(PLACEHOLDER),
        Shown::List(items) => {
            Value::Array(items.iter().map(|item| value(item).unwrap_or_default()).collect())
        }
        Shown::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| (key.clone(), value(field).unwrap_or_default()))
                .collect(),
        ),
    })
}

fn proposal(proposal: &Proposal) -> Value {
    json!({
        "kind": proposal.kind.name(),
        "risk": proposal.risk.name(),
        "summary": proposal.summary,
        "commands": proposal.commands,
        "diff": proposal.diff,
        "refusals": proposal.refusals.iter().map(|refusal| json!({
            "path": refusal.path,
            "reason": refusal.reason,
            "place": refusal.place.as_ref().map(place),
            "instead": refusal.instead.map(crate::proposal::ProposalKind::name),
        })).collect::<Vec<_>>(),
    })
}

pub(super) fn check(check: &FailedCheck) -> Value {
    json!({
        "address": check.address,
        "status": check.status.name(),
        "messages": check.messages,
        "rule": check.rule.id,
        "severity": check.severity.name(),
        "fingerprint": check.fingerprint,
        "standing": standing(&check.standing),
    })
}

fn place(place: &Place) -> Value {
    json!({ "file": place.file, "line": place.line })
}

fn planned(item: &Planned) -> Value {
    json!({
        "address": item.address,
        "action": item.action.word(),
        "reason": item.reason,
        "note": item.note.as_ref().map(PlannedNote::name),
        "detail": item.note.as_ref().and_then(PlannedNote::detail),
    })
}
