//! One element of `resource_drift` or `resource_changes`, as raw slices of the input.
//!
//! - Nothing is decoded before somebody asks: for most entries only `before` and `after` are
//!   compared, as bytes.
//! - A missing field is an empty slice; a missing address is rebuilt from its parts.

use super::text::{self, Fields, decode, fields, items};
use crate::{action::Action, address::Key, value::Value};
use std::{borrow::Cow, fmt::Write};

/// What Terraform and OpenTofu write into `action_reason`.
const ACTION_REASONS: &[&str] = &[
    "delete_because_count_index",
    "delete_because_each_key",
    "delete_because_enabled_false",
    "delete_because_no_module",
    "delete_because_no_move_target",
    "delete_because_no_resource_config",
    "delete_because_wrong_repetition",
    "forgot_because_lifecycle_destroy_in_config",
    "forgot_because_lifecycle_destroy_in_state",
    "read_because_check_nested",
    "read_because_config_unknown",
    "read_because_dependency_pending",
    "replace_because_cannot_update",
    "replace_because_tainted",
    "replace_by_request",
    "replace_by_triggers",
];

/// A resource's change, borrowed from the buffer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry<'a> {
    raw: &'a [u8],
    address: &'a [u8],
    previous_address: &'a [u8],
    module_address: &'a [u8],
    mode: &'a [u8],
    kind: &'a [u8],
    name: &'a [u8],
    index: &'a [u8],
    provider_name: &'a [u8],
    deposed: &'a [u8],
    action_reason: &'a [u8],
    actions: &'a [u8],
    before: &'a [u8],
    after: &'a [u8],
    after_unknown: &'a [u8],
    before_sensitive: &'a [u8],
    after_sensitive: &'a [u8],
    importing: &'a [u8],
    before_identity: &'a [u8],
    after_identity: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Finds the fields; `None` when the value is no object with a `change`.
    pub(crate) fn find(raw: &'a [u8]) -> Option<Self> {
        let mut entry = Self { raw, ..Self::default() };
        let mut has_change = false;
        let mut outer = fields(raw);
        while let Some(key) = outer.key() {
            if key.as_ref() == b"change" {
                has_change = outer.enter(|inner| entry.find_change(inner));
                continue;
            }
            let value = outer.value();
            match key.as_ref() {
                b"address" => entry.address = value,
                b"previous_address" => entry.previous_address = value,
                b"module_address" => entry.module_address = value,
                b"mode" => entry.mode = value,
                b"type" => entry.kind = value,
                b"name" => entry.name = value,
                b"index" => entry.index = value,
                b"provider_name" => entry.provider_name = value,
                b"deposed" => entry.deposed = value,
                b"action_reason" => entry.action_reason = value,
                _ => {}
            }
        }
        has_change.then_some(entry)
    }

    fn find_change(&mut self, fields: &mut Fields<'a>) {
        while let Some(key) = fields.key() {
            // Most objects do not change.
            if key.as_ref() == b"after"
                && let Some(same) = fields.value_like(self.before)
            {
                self.after = same;
                continue;
            }
            let value = fields.value();
            match key.as_ref() {
                b"actions" => self.actions = value,
                b"before" => self.before = value,
                b"after" => self.after = value,
                b"after_unknown" => self.after_unknown = value,
                b"before_sensitive" => self.before_sensitive = value,
                b"after_sensitive" => self.after_sensitive = value,
                b"importing" => self.importing = value,
                b"before_identity" => self.before_identity = value,
                b"after_identity" => self.after_identity = value,
                _ => {}
            }
        }
    }

    /// Calls `found` with each value that a mask marks, on either side, and the keys that lead
    /// there.
    pub(crate) fn for_each_secret(&self, mut found: impl FnMut(&[Cow<'_, [u8]>], &Value)) {
        let mut path = Vec::new();
        marked(self.before, self.before_sensitive, &mut path, &mut found);
        if self.before != self.after || self.before_sensitive != self.after_sensitive {
            marked(self.after, self.after_sensitive, &mut path, &mut found);
        }
    }

    /// The full instance address. Versions before 1.0.1 leave it out of drift entries.
    pub(crate) fn address(&self) -> Cow<'a, str> {
        if !self.address.is_empty() {
            return decode(self.address);
        }
        let mut address = String::new();
        if !self.module_address.is_empty() {
            let _ = write!(address, "{}.", decode(self.module_address));
        }
        if self.mode == b"\"data\"" {
            address.push_str("data.");
        }
        let _ = write!(address, "{}.{}", decode(self.kind), decode(self.name));
        match self.index {
            b"" | b"null" => {}
            [b'"', ..] => {
                let _ = write!(address, "{}", Key::Text(decode(self.index).into_owned()));
            }
            number => {
                let _ = write!(address, "[{}]", String::from_utf8_lossy(number));
            }
        }
        Cow::Owned(address)
    }

    /// What tells objects apart: a deposed object shares the address of its successor.
    pub(crate) fn key(&self) -> (String, String) {
        (self.address().into_owned(), self.deposed())
    }

    pub(crate) fn deposed(&self) -> String {
        optional(self.deposed).unwrap_or_default()
    }

    pub(crate) fn previous_address(&self) -> Option<String> {
        optional(self.previous_address)
    }

    pub(crate) fn module_address(&self) -> String {
        optional(self.module_address).unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> Cow<'a, str> {
        decode(self.kind)
    }

    pub(crate) fn name(&self) -> Cow<'a, str> {
        decode(self.name)
    }

    pub(crate) fn provider_name(&self) -> Cow<'a, str> {
        decode(self.provider_name)
    }

    /// Reasons that no engine writes are none.
    pub(crate) fn action_reason(&self) -> Option<String> {
        let reason = optional(self.action_reason)?;
        ACTION_REASONS.contains(&reason.as_str()).then_some(reason)
    }

    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.mode, b"" | b"\"managed\"")
    }

    /// `managed`, `data` or another kind of object.
    pub(crate) fn mode(&self) -> Cow<'a, str> {
        if self.mode.is_empty() { Cow::Borrowed("managed") } else { decode(self.mode) }
    }

    /// The verbs of the planned action, as the plan has them.
    pub(crate) fn verbs(&self) -> Vec<Cow<'a, str>> {
        items(self.actions).map(decode).collect()
    }

    /// True when there is no object any more, and none is wanted.
    pub(crate) fn is_gone(&self) -> bool {
        self.after == b"null" && !matches!(self.before, b"null" | b"")
    }

    pub(crate) fn is_import(&self) -> bool {
        self.importing.starts_with(b"{")
    }

    pub(crate) fn action(&self) -> Action {
        if self.actions == b"[\"no-op\"]" {
            return Action::NoOp;
        }
        let verbs = self.verbs();
        let verbs: Vec<&str> = verbs.iter().map(AsRef::as_ref).collect();
        Action::parse(&verbs)
    }

    /// True when both sides have an identity, and they are not the same: it is another object.
    pub(crate) fn identity_changed(&self) -> bool {
        let [before, after] = [self.before_identity, self.after_identity];
        before.starts_with(b"{")
            && after.starts_with(b"{")
            && before != after
            && text::value(before) != text::value(after)
    }

    /// True when there is anything that could be compared.
    pub(crate) fn has_values(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }

    /// True when something is marked as sensitive, on either side.
    pub(crate) fn hides_something(&self) -> bool {
        marks(self.before_sensitive) || marks(self.after_sensitive)
    }

    /// True when both sides are the same bytes.
    pub(crate) fn sides_are_alike(&self) -> bool {
        self.before == self.after
    }

    pub(crate) fn before(&self) -> Value {
        text::value(self.before)
    }

    pub(crate) fn after(&self) -> Value {
        text::value(self.after)
    }

    pub(crate) fn after_unknown(&self) -> Value {
        mask(self.after_unknown)
    }

    pub(crate) fn before_sensitive(&self) -> Value {
        mask(self.before_sensitive)
    }

    pub(crate) fn after_sensitive(&self) -> Value {
        mask(self.after_sensitive)
    }

    /// True when the entry says what is sensitive, even if it is nothing.
    pub(crate) fn has_masks(&self) -> bool {
        !self.before_sensitive.is_empty() || !self.after_sensitive.is_empty()
    }

    /// True when the entry names its address itself.
    pub(crate) fn has_address(&self) -> bool {
        !self.address.is_empty()
    }

    /// True when some values are known only after apply.
    pub(crate) fn leaves_something_open(&self) -> bool {
        marks(self.after_unknown)
    }

    /// A document with all that a later join needs. What changes nothing keeps its name only: the
    /// join then finds that reality is what is wanted.
    pub(crate) fn essence(&self) -> Vec<u8> {
        if self.action() != Action::NoOp || self.importing.starts_with(b"{") {
            return self.raw.to_vec();
        }
        let mut document = b"{".to_vec();
        for (key, value) in [
            ("address", self.address),
            ("previous_address", self.previous_address),
            ("module_address", self.module_address),
            ("mode", self.mode),
            ("type", self.kind),
            ("name", self.name),
            ("index", self.index),
            ("deposed", self.deposed),
        ] {
            if !value.is_empty() {
                document.extend_from_slice(format!("\"{key}\":").as_bytes());
                document.extend_from_slice(value);
                document.push(b',');
            }
        }
        document.extend_from_slice(br#""change":{"actions":["no-op"]}}"#);
        document
    }
}

/// A mask that marks nothing is not worth a tree.
fn mask(raw: &[u8]) -> Value {
    if marks(raw) { text::value(raw) } else { Value::Bool(false) }
}

/// Walks a value and its mask side by side and decodes only what is marked.
fn marked<'a>(
    raw: &[u8],
    mask: &'a [u8],
    path: &mut Vec<Cow<'a, [u8]>>,
    found: &mut impl FnMut(&[Cow<'_, [u8]>], &Value),
) {
    match mask.first() {
        Some(b't') => found(path, &text::value(raw)),
        Some(b'{') if marks(mask) => {
            let mut masks = fields(mask);
            while let Some(name) = masks.key() {
                let mask = masks.value();
                if !marks(mask) {
                    continue;
                }
                path.push(name);
                let mut fields = fields(raw);
                while let Some(key) = fields.key() {
                    let field = fields.value();
                    // Of duplicate keys the last wins; hiding the others too does no harm.
                    if path.last() == Some(&key) {
                        marked(field, mask, path, found);
                    }
                }
                path.pop();
            }
        }
        Some(b'[') if marks(mask) => {
            items(raw).zip(items(mask)).for_each(|(item, mask)| marked(item, mask, path, found));
        }
        _ => {}
    }
}

fn marks(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"true").is_some()
}

fn optional(raw: &[u8]) -> Option<String> {
    raw.starts_with(b"\"").then(|| decode(raw).into_owned()).filter(|text| !text.is_empty())
}
