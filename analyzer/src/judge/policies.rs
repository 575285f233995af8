//! Findings and the plan as a whole, as policies see them.

use crate::{
    config::Each,
    fingerprint,
    policy::{Broken, Policies, Subject, from_shown, list, map, text},
    redact::Secrets,
    report::{Finding, Report, Standing, Violation},
};
use cel::Value;
use std::collections::BTreeMap;

/// The words for what a plan does, each of which `actions` counts.
const ACTIONS: &[&str] = &[
    "create",
    "delete",
    "forget",
    "forget-and-create",
    "gone",
    "no-op",
    "open",
    "other",
    "read",
    "replace",
    "update",
];

/// Adds what breaks policies about findings and about the plan.
pub(super) fn ask(report: &mut Report, policies: &Policies, secrets: &Secrets) {
    let mut broken = Vec::new();
    if policies.ask_for(Each::Finding) {
        let subjects = report.findings.iter().map(of_finding);
        broken.extend(subjects.flat_map(|subject| policies.broken_by(&subject)));
    }
    if policies.ask_for(Each::Plan) {
        broken.extend(policies.broken_by(&of_plan(report)));
    }
    report.violations.extend(broken.into_iter().map(|it| violation(&it, secrets)));
    report.violations.sort_by(|left, right| {
        (&left.policy, &left.address, &left.message).cmp(&(
            &right.policy,
            &right.address,
            &right.message,
        ))
    });
}

/// A broken policy as it may be shown.
pub(crate) fn violation(broken: &Broken, secrets: &Secrets) -> Violation {
    let policy = secrets.text(&broken.policy);
    let address = secrets.address(&broken.address);
    let fingerprint = fingerprint::of(&format!("policy/{policy}"), &address, &broken.deposed, &[]);
    Violation {
        policy,
        address,
        message: secrets.text(&broken.message),
        severity: broken.severity,
        fingerprint,
        standing: Standing::New,
        place: None,
    }
}

fn of_finding(finding: &Finding) -> Subject {
    let attributes = finding.attributes.iter().map(|attribute| {
        map([
            ("path", text(attribute.path.as_str())),
            ("before", from_shown(&attribute.before)),
            ("after", from_shown(&attribute.after)),
            ("desired", attribute.desired.as_ref().map_or(Value::Null, from_shown)),
            ("outcome", text(attribute.fate.name())),
        ])
    });
    let variables = BTreeMap::from([
        ("action", finding.action.as_ref().map_or(Value::Null, |it| text(it.word()))),
        ("actionable", Value::Bool(finding.is_actionable())),
        ("address", text(finding.address.as_str())),
        ("attributes", list(attributes)),
        ("deposed", text(finding.deposed.as_str())),
        ("one_way", Value::Bool(finding.one_way)),
        ("outcome", text(finding.fate.name())),
        ("outside", text(finding.outside.name())),
        ("owner", finding.owner.as_deref().map_or(Value::Null, text)),
        ("provider", text(finding.provider.as_str())),
        ("rule", text(finding.rule.id)),
        ("severity", text(finding.severity.name())),
        ("type", text(finding.resource_type.as_str())),
    ]);
    Subject {
        each: Each::Finding,
        address: finding.address.clone(),
        deposed: finding.deposed.clone(),
        is_idle: false,
        variables,
    }
}

fn of_plan(report: &Report) -> Subject {
    let count = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let of_type = |counts: &BTreeMap<&str, usize>| {
        map(ACTIONS.iter().map(|word| (*word, count(counts.get(word).copied().unwrap_or(0)))))
    };
    let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
    for (word, number) in report.changes.values().flatten() {
        *actions.entry(word).or_default() += number;
    }
    let types = report.changes.iter().map(|(kind, counts)| (kind.as_str(), of_type(counts)));
    let optional = |it: &Option<String>| it.as_deref().map_or(Value::Null, text);
    let variables = BTreeMap::from([
        ("actionable", count(report.counts.actionable)),
        ("actions", of_type(&actions)),
        ("drifted", count(report.counts.drifted)),
        ("mode", text(report.plan.mode.name())),
        ("planned", count(report.counts.planned)),
        ("reasons", list(report.reasons.iter().map(|reason| text(reason.name())))),
        ("resources", count(report.counts.resources)),
        ("tool_version", optional(&report.plan.tool_version)),
        ("types", map(types)),
        ("workspace", optional(&report.workspace)),
    ]);
    let (address, deposed) = (String::new(), String::new());
    Subject { each: Each::Plan, address, deposed, is_idle: false, variables }
}
