//! `cloudevents`: one event in structured JSON a line, for brokers and webhooks: the run, then each
//! finding, violation and resolved finding.
//!
//! - `data` has the shapes of the JSON report; `schema/cloudevents.v1.json` is the schema.
//! - The same plan in the same workspace makes events with the same ids, so that a receiver can
//!   drop what it has seen.

use super::{Format, Layout, Style, json, json_text, place, words};
use crate::report::Report;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(super) const FORMAT: Format =
    Format { name: "cloudevents", summary: "events in JSON, one a line", render };

struct Event<'a> {
    kind: &'static str,
    /// An address, or nothing.
    subject: &'a str,
    /// What tells it from the others of its kind in a run.
    number: String,
    data: Value,
}

fn render(report: &Report, _style: &Style) -> String {
    let workspace = place::percent(report.workspace.as_deref().unwrap_or("default"));
    let source = format!("/driftgate/{workspace}");
    let plan = report.plan.timestamp.as_deref().unwrap_or_default();
    let time = plan.parse::<jiff::Timestamp>().is_ok().then_some(plan);
    let mut out = String::new();
    for event in events(report) {
        let mut hash = Sha256::new();
        for part in [&source, plan, event.kind, &event.number] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        let id: String = hash.finalize().iter().take(16).map(|it| format!("{it:02x}")).collect();
        let mut document = json!({
            "specversion": "1.0",
            "id": id,
            "source": source,
            "type": format!("driftgate.{}.v1", event.kind),
            "datacontenttype": "application/json",
            "data": event.data,
        });
        if let Some(time) = time {
            document["time"] = json!(time);
        }
        if !event.subject.is_empty() {
            document["subject"] = json!(event.subject);
        }
        out += &(json_text(&document, Layout::Compact) + "\n");
    }
    out
}

fn events(report: &Report) -> Vec<Event<'_>> {
    let run = json!({
        "workspace": report.workspace,
        "verdict": report.verdict.name(),
        "reasons": report.reasons.iter().map(|reason| reason.name()).collect::<Vec<_>>(),
        "summary": words::headline(report),
        "counts": json::counts(report),
    });
    let mut events = vec![Event { kind: "run", subject: "", number: String::new(), data: run }];
    let numbers = words::numbered(report.findings.iter().map(|it| it.fingerprint.as_str()));
    events.extend(report.findings.iter().zip(numbers).map(|(finding, number)| Event {
        kind: "finding",
        subject: &finding.address,
        number,
        data: json::finding(finding),
    }));
    let numbers = words::numbered(report.violations.iter().map(|it| it.fingerprint.as_str()));
    events.extend(report.violations.iter().zip(numbers).map(|(violation, number)| Event {
        kind: "violation",
        subject: &violation.address,
        number,
        data: json::violation(violation),
    }));
    let numbers = words::numbered(report.checks.iter().map(|it| it.fingerprint.as_str()));
    events.extend(report.checks.iter().zip(numbers).map(|(check, number)| Event {
        kind: "check",
        subject: &check.address,
        number,
        data: json::check(check),
    }));
    let numbers = words::numbered(report.resolved.iter().map(|it| it.fingerprint.as_str()));
    events.extend(report.resolved.iter().zip(numbers).map(|(resolved, number)| Event {
        kind: "resolved",
        subject: &resolved.address,
        number,
        data: json::resolved(resolved),
    }));
    events
}
