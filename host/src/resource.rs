//! What all resources have in common: kinds, names, labels and counters.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::violations::Violations;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    CapacityLease,
    CapacityTarget,
    Environment,
    EventSubscription,
    Quota,
    ServiceAccount,
    Token,
    Worker,
    WorkerOperation,
    WorkerPool,
}

impl Kind {
    /// The word of events and of the store, such as `worker_pool`.
    pub fn code(self) -> &'static str {
        match self {
            Self::CapacityLease => "capacity_lease",
            Self::CapacityTarget => "capacity_target",
            Self::Environment => "environment",
            Self::EventSubscription => "event_subscription",
            Self::Quota => "quota",
            Self::ServiceAccount => "service_account",
            Self::Token => "token",
            Self::Worker => "worker",
            Self::WorkerOperation => "worker_operation",
            Self::WorkerPool => "worker_pool",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code().replace('_', " "))
    }
}

/// The fields that every declared resource carries besides its id and specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub name: String,
    /// Counts changes of the intent, from 1.
    pub generation: u64,
    /// Counts every stored change, from 1.
    pub revision: u64,
    pub labels: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleting_since: Option<Timestamp>,
}

impl Meta {
    pub fn first(name: String, labels: BTreeMap<String, String>, now: Timestamp) -> Self {
        Self {
            name,
            generation: 1,
            revision: 1,
            labels,
            created_at: now,
            updated_at: now,
            deleting_since: None,
        }
    }

    /// After a change of the intent.
    pub fn declared_anew(&self, labels: BTreeMap<String, String>, now: Timestamp) -> Self {
        Self {
            generation: self.generation + 1,
            revision: self.revision + 1,
            labels,
            updated_at: now,
            ..self.clone()
        }
    }
}

pub const NAME_LENGTH_MAX: usize = 63;
pub const LABELS_MAX: usize = 64;
const LABEL_KEY_LENGTH_MAX: usize = 128;
const LABEL_VALUE_LENGTH_MAX: usize = 256;

/// 1 to 63 of `a-z`, `0-9` and `-`, beginning with a letter and not ending with `-`.
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= NAME_LENGTH_MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.bytes().all(fits)
}

pub fn check_name(field: &str, text: &str, found: &mut Violations) {
    if !is_name(text) {
        found.add(
            field,
            format!(
                "{} is not a name: use 1 to {NAME_LENGTH_MAX} of `a-z`, `0-9` and `-`, \
                 beginning with a letter and not ending with `-`",
                quoted(text)
            ),
        );
    }
}

pub fn check_labels(field: &str, labels: &BTreeMap<String, String>, found: &mut Violations) {
    if labels.len() > LABELS_MAX {
        found.add(field, format!("{} labels are too many: use at most {LABELS_MAX}", labels.len()));
        return;
    }
    for (key, value) in labels {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if key.is_empty() || key.len() > LABEL_KEY_LENGTH_MAX || !key.bytes().all(fits) {
            found.add(
                field,
                format!(
                    "{} is not a label's name: use 1 to {LABEL_KEY_LENGTH_MAX} letters, digits, \
                     `.`, `_`, `-` and `/`",
                    quoted(key)
                ),
            );
        }
        if value.len() > LABEL_VALUE_LENGTH_MAX || value.chars().any(char::is_control) {
            found.add(
                &format!("{field}[{}]", quoted(key)),
                format!(
                    "the value must be at most {LABEL_VALUE_LENGTH_MAX} bytes without control \
                     characters"
                ),
            );
        }
    }
}

/// True when `labels` carries all of `selector`.
pub fn matches(selector: &BTreeMap<String, String>, labels: &BTreeMap<String, String>) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// A user's text within a message: in backticks, shortened, without control characters.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_rule() {
        for name in ["a", "web", "team-a2", &"a".repeat(63)] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "A", "1a", "-a", "a-", "a_b", "a/b", "ä", "a b", &"a".repeat(64)] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn a_hostile_text_is_shown_short_and_harmless() {
        assert_eq!(quoted("a\n\u{1b}[31mb"), "`a\\n\\u{1b}[31mb`");
        assert!(quoted(&"x".repeat(1_000_000)).len() < 100);
    }
}
