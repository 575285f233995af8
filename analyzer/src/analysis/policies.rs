//! Planned changes, as policies see them.
//!
//! Nothing that the plan marks as sensitive is handed on; what a policy says is cleared of secrets at
//! the end, when all of them are known.

use super::{Analysis, sensitive::Side};
use crate::{
    action::Action,
    config::Each,
    policy::{Broken, Subject, from_value, list, text},
    read::Entry,
    redact::unite,
    report::Report,
    value::Value,
};
use std::collections::BTreeMap;

/// What policies made of the planned changes.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) broken: Vec<Broken>,
    /// How many more there were than are kept.
    pub(super) more: usize,
    /// How many changes of each type, by action.
    pub(super) types: BTreeMap<String, BTreeMap<&'static str, usize>>,
}

impl Analysis {
    /// Asks the policies about a planned change.
    pub(super) fn ask_policies(&mut self, entry: &Entry<'_>) {
        let Some(policies) = self.options.policies.clone() else { return };
        let action = action_of(entry);
        if policies.ask_for(Each::Plan) && entry.is_managed() {
            let of_type = self.judged.types.entry(entry.kind().into_owned()).or_default();
            *of_type.entry(action).or_default() += 1;
        }
        if !policies.ask_for(Each::Change) {
            return;
        }
        let is_idle = action == "no-op";
        // Most objects do not change, and most policies do not ask for them.
        if is_idle && !policies.ask_for_idle() {
            return;
        }
        let broken = policies.broken_by(&self.subject(entry, action, is_idle));
        for item in broken {
            if self.judged.broken.len() < Report::LISTED_MAX {
                self.judged.broken.push(item);
            } else {
                self.judged.more += 1;
            }
        }
    }

    fn subject(&self, entry: &Entry<'_>, action: &'static str, is_idle: bool) -> Subject {
        let optional = |it: Option<String>| it.map_or(cel::Value::Null, text);
        let address = entry.address().into_owned();
        let unknown = entry.after_unknown();
        // Marked on either side is hidden on both, as in reports.
        let mask = unite(self.mask_of(entry, Side::Before), self.mask_of(entry, Side::After));
        let variables = BTreeMap::from([
            ("action", text(action)),
            ("actions", list(entry.verbs().into_iter().map(text))),
            ("address", text(address.as_str())),
            ("after", from_value(&entry.after(), &mask)),
            ("before", from_value(&entry.before(), &mask)),
            ("deposed", text(entry.deposed())),
            ("importing", cel::Value::Bool(entry.is_import())),
            ("mode", text(entry.mode())),
            ("module", text(entry.module_address())),
            ("name", text(entry.name())),
            ("previous_address", optional(entry.previous_address())),
            ("provider", text(entry.provider_name())),
            ("reason", optional(entry.action_reason())),
            ("type", text(entry.kind())),
            ("unknown", from_value(&unknown, &Value::Null)),
        ]);
        Subject { each: Each::Change, address, deposed: entry.deposed(), is_idle, variables }
    }
}

/// The planned action in one word; `gone` for an object that no longer exists and that nobody wants.
fn action_of(entry: &Entry<'_>) -> &'static str {
    match entry.action() {
        Action::NoOp if entry.is_gone() => "gone",
        Action::NoOp => "no-op",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Forget => "forget",
        Action::ForgetAndCreate => "forget-and-create",
        Action::Open => "open",
        Action::Invoke | Action::Other(_) => "other",
    }
}
