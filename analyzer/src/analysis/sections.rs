//! What the smaller sections of a plan add: conditions, actions, deferred changes, relevance.

use super::Analysis;
use crate::{
    action::Action,
    fingerprint,
    path::{Path, Step},
    read::Entry,
    report::{CheckStatus, FailedCheck, Planned, PlannedNote, Standing},
    value::Value,
};

/// How many messages of one condition are kept.
const MESSAGES_MAX: usize = 10;

impl Analysis {
    pub(super) fn add_deferred(&mut self, entry: &Entry<'_>, reason: &str) {
        self.learn_secrets(entry);
        self.from_sections.add_planned(Planned {
            address: entry.address().into_owned(),
            action: entry.action(),
            reason: entry.action_reason(),
            note: Some(PlannedNote::Deferred(reason.to_owned())),
        });
    }

    pub(super) fn add_invocation(&mut self, invocation: &Value, deferred: Option<&str>) {
        let text =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(values), Some(mask)) =
            (invocation.get("config_values"), invocation.get("config_sensitive"))
        {
            self.secrets.learn(values, mask);
        }
        let trigger = invocation.get("lifecycle_action_trigger").and_then(|trigger| {
            let resource = text(trigger, "triggering_resource_address")?;
            let event = text(trigger, "action_trigger_event").unwrap_or_default();
            Some(PlannedNote::TriggeredBy(format!("{resource} {event}").trim_end().to_owned()))
        });
        let deferred = deferred.map(|reason| PlannedNote::Deferred(reason.to_owned()));
        self.from_sections.add_planned(Planned {
            address: text(invocation, "address").unwrap_or_default(),
            action: Action::Invoke,
            reason: None,
            note: deferred.or(trigger),
        });
    }

    /// The instances say more than the whole; a condition without any speaks for itself.
    pub(super) fn add_check(&mut self, check: &Value) {
        let instances = match check.get("instances") {
            Some(Value::List(instances)) if !instances.is_empty() => instances.as_slice(),
            _ => std::slice::from_ref(check),
        };
        for instance in instances {
            let Some(status) = status(instance) else { continue };
            let shown = |of: &Value| {
                of.get("address")?.get("to_display").and_then(Value::as_str).map(str::to_owned)
            };
            let address = shown(instance).or_else(|| shown(check)).unwrap_or_default();
            let messages = match instance.get("problems") {
                Some(Value::List(problems)) => problems
                    .iter()
                    .filter_map(|problem| problem.get("message")?.as_str())
                    .take(MESSAGES_MAX)
                    .map(str::to_owned)
                    .collect(),
                _ => Vec::new(),
            };
            let rule = status.rule();
            self.checks.push(FailedCheck {
                fingerprint: fingerprint::of(rule.id, &address, "", &[]),
                address,
                status,
                messages,
                rule,
                severity: rule.severity,
                standing: Standing::New,
            });
        }
    }

    pub(super) fn add_relevant(&mut self, resource: &str, attribute: &Value) {
        let key = (resource.to_owned(), String::new());
        let Some(record) = self.records.get_mut(&key).filter(|record| !record.relevant) else {
            return;
        };
        let steps = match attribute {
            Value::List(steps) => steps.iter().map_while(step).collect(),
            _ => Vec::new(),
        };
        let path = Path(steps);
        record.relevant = record.drift.changes.is_empty()
            || record.drift.changes.iter().any(|change| change.path.overlaps(&path));
    }
}

fn step(value: &Value) -> Option<Step> {
    match value {
        Value::String(key) => Some(Step::Key(key.clone())),
        Value::Number(number) => number.as_str().parse().ok().map(Step::Index),
        _ => None,
    }
}

/// `None` for a condition that holds.
fn status(check: &Value) -> Option<CheckStatus> {
    match check.get("status").and_then(Value::as_str) {
        Some("pass") => None,
        Some("fail") => Some(CheckStatus::Failed),
        Some("error") => Some(CheckStatus::Errored),
        _ => Some(CheckStatus::Unknown),
    }
}
