//! Two plans: which findings are new or gone, and which planned changes are other ones.
//!
//! - A planned change is compared by its action and by what it would leave behind. A value that is
//!   known only after apply counts as that, not as absent.
//! - What changes nothing is no planned change.

use super::pairing::{Found, Pairing};
use crate::{
    Checked,
    action::Action,
    address::{Address, Mode},
    analysis::{Plans, report_of_plans},
    read::{Documents, Entry, Limits, ReadError, Sink, WrongKind},
    redact::mask_by_names,
    report::{Finding, Report, Resolved, Subject, Verdict},
    state::{Object, Receiver as _},
    value::Value,
};
use std::collections::BTreeMap;

/// Stands for what is known only after apply.
const UNKNOWN: &str = "(known after apply)";

/// Hands the planned changes of an input to a pairing.
pub(super) fn read(
    input: &mut dyn std::io::Read,
    limits: Limits,
    pairing: &mut Pairing,
) -> Result<(), ReadError> {
    let mut documents = Documents::new(input, limits);
    let mut changes = Changes(pairing);
    documents.next(&mut changes)?;
    if documents.next(&mut changes)?.is_some() {
        // Of several workspaces, so that an address says nothing.
        return Err(WrongKind::SeveralDocuments.into());
    }
    Ok(())
}

struct Changes<'p>(&'p mut Pairing);

impl Sink for Changes<'_> {
    fn drift(&mut self, _: &Entry<'_>) -> Result<(), ReadError> {
        Ok(())
    }

    fn change(&mut self, entry: &Entry<'_>) -> Result<(), ReadError> {
        let action = entry.action();
        if action.is_idle() && !entry.is_import() && entry.previous_address().is_none() {
            return Ok(());
        }
        let (text, deposed) = entry.key();
        let mut address = Address::parse(&text).unwrap_or_else(|_| Address {
            modules: Vec::new(),
            mode: if entry.is_managed() { Mode::Managed } else { Mode::Data },
            resource_type: entry.kind().into_owned(),
            name: text,
            key: None,
            deposed: None,
        });
        address.deposed = Some(deposed).filter(|id| !id.is_empty());
        let after = entry.after();
        let mask = if entry.has_masks() { entry.after_sensitive() } else { mask_by_names(&after) };
        let after = overlay(after, &entry.after_unknown());
        self.0.object(planned(address, &action, after, mask));
        Ok(())
    }

    fn output(&mut self, name: &str, change: Value) {
        let verbs: Vec<&str> = match change.get("actions") {
            Some(Value::List(verbs)) => verbs.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let action = Action::parse(&verbs);
        if verbs.is_empty() || action.is_idle() {
            return;
        }
        let part = |key: &str| change.get(key).cloned();
        let unknown = part("after_unknown").unwrap_or(Value::Bool(false));
        let address = Address::of_output(name);
        let mask = part("after_sensitive").unwrap_or(Value::Bool(false));
        let after = overlay(part("after").unwrap_or(Value::Null), &unknown);
        self.0.object(planned(address, &action, after, mask));
    }

    fn redacted(&mut self) {}
    fn announced(&mut self, _: &Entry<'_>) -> Result<(), ReadError> {
        Ok(())
    }
    fn drift_begins(&mut self) {}
    fn variable(&mut self, _: &str, _: Value) {}
    fn sensitive_variable(&mut self, _: &str) {}
    fn deferred(&mut self, _: &Entry<'_>, _: &str) {}
    fn invocation(&mut self, _: &Value, _: Option<&str>) {}
    fn check(&mut self, _: &Value) {}
    fn relevant(&mut self, _: &str, _: &Value) {}
}

/// A planned change in the shape of an object, so that two of them are compared like objects.
fn planned(address: Address, action: &Action, after: Value, mask: Value) -> Object {
    let values = [
        ("action".to_owned(), Value::String(action.word().to_owned())),
        ("after".to_owned(), after),
    ];
    Object {
        address,
        provider: String::new(),
        tainted: false,
        values: Value::Object(values.into()),
        mask: Value::Object([("after".to_owned(), mask)].into()),
        has_mask: true,
        is_flat: false,
    }
}

/// The value with a mark wherever it is known only after apply.
fn overlay(value: Value, unknown: &Value) -> Value {
    match (value, unknown) {
        (_, Value::Bool(true)) => Value::String(UNKNOWN.to_owned()),
        (Value::Object(mut fields), Value::Object(unknown)) => {
            for (key, below) in unknown {
                if crate::path::any_true(below) {
                    let field = fields.remove(key).unwrap_or(Value::Null);
                    fields.insert(key.clone(), overlay(field, below));
                }
            }
            Value::Object(fields)
        }
        (Value::List(items), Value::List(unknown)) => {
            let mut unknown = unknown.iter();
            let known = Value::Bool(false);
            Value::List(
                items
                    .into_iter()
                    .map(|item| overlay(item, unknown.next().unwrap_or(&known)))
                    .collect(),
            )
        }
        (value, _) => value,
    }
}

/// The report: the second plan's drift against that of the first, and the changes that differ.
pub(super) fn report(mut left: Plans, mut right: Plans, mut found: Found) -> Checked {
    let mut secrets = left.take_secrets();
    secrets.take_over(right.take_secrets());
    secrets.take_over(std::mem::take(&mut found.secrets));
    let before = left.finish_with(&secrets);
    let mut report = right.finish_with(&secrets);
    let changes = report_of_plans(found, &secrets);
    let kept = settle(&mut report, &before);
    report.subject = Subject::Plans;
    report.reasons.extend(before.reasons);
    report.reasons.sort();
    report.reasons.dedup();
    report.warnings.extend(before.warnings);
    report.warnings.sort();
    report.warnings.dedup();
    if kept > 0 {
        let findings =
            if kept == 1 { "1 finding is".to_owned() } else { format!("{kept} findings are") };
        report.warnings.push(format!("{findings} in both plans, and left out here"));
    }
    report.findings.extend(changes.findings);
    report.findings.sort_by(|left, right| left.address.cmp(&right.address));
    report.noise.extend(changes.noise);
    report.noise.sort();
    report.counts.count_findings(&report.findings);
    for (kind, count) in changes.counts.noise {
        *report.counts.noise.entry(kind).or_default() += count;
    }
    report.verdict =
        match (report.findings.len() + report.resolved.len(), report.reasons.is_empty()) {
            (0, true) => Verdict::Clean,
            (0, false) => Verdict::Inconclusive,
            _ => Verdict::Drifted,
        };
    Checked { report, secrets }
}

/// Takes out what the first plan has too, and lists what only it has; how many are in both.
fn settle(report: &mut Report, before: &Report) -> usize {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &before.findings {
        *known.entry(&finding.fingerprint).or_default() += 1;
    }
    let mut take = |finding: &Finding| {
        let left = known.get_mut(finding.fingerprint.as_str()).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let all = report.findings.len();
    report.findings.retain(|finding| !take(finding));
    report.resolved = before
        .findings
        .iter()
        .filter(|finding| take(finding))
        .map(|finding| Resolved {
            fingerprint: finding.fingerprint.clone(),
            address: finding.address.clone(),
            rule: finding.rule.id.to_owned(),
        })
        .collect();
    all - report.findings.len()
}
