//! Statements about a resource, computed from intent and observation whenever somebody asks.
//!
//! Only *when a status last changed* can not be computed, so that much is recorded.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// In the positive, such as `Ready`.
    pub name: &'static str,
    pub status: Status,
    /// One word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    True,
    False,
    Unknown,
}

impl Condition {
    pub fn new(
        name: &'static str,
        status: Status,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { name, status, reason: reason.into(), message: message.into() }
    }
}

/// The last recorded statuses of one resource, by condition.
pub type Recorded = BTreeMap<String, RecordedStatus>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatus {
    pub status: Status,
    pub reason: String,
    pub changed_at: Timestamp,
}

/// Brings the record up to date. `None` when every status is as recorded.
pub fn record(before: Option<&Recorded>, now: Timestamp, said: &[Condition]) -> Option<Recorded> {
    let old = |condition: &Condition| before.and_then(|before| before.get(condition.name));
    let changed =
        |condition: &Condition| old(condition).map(|it| it.status) != Some(condition.status);
    if !said.iter().any(changed) {
        return None;
    }
    let entry = |condition: &Condition| {
        let changed_at = match old(condition) {
            Some(old) if old.status == condition.status => old.changed_at,
            _ => now,
        };
        let Condition { status, reason, .. } = condition.clone();
        (condition.name.to_owned(), RecordedStatus { status, reason, changed_at })
    };
    Some(said.iter().map(entry).collect())
}

/// Since when the condition has its status: as recorded, or else since `now`.
pub fn changed_at(recorded: Option<&Recorded>, said: &Condition, now: Timestamp) -> Timestamp {
    recorded
        .and_then(|recorded| recorded.get(said.name))
        .filter(|recorded| recorded.status == said.status)
        .map_or(now, |recorded| recorded.changed_at)
}
