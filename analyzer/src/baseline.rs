//! The baseline: what a team has accepted, by fingerprint.
//!
//! - An entry stands for one finding; two objects of a block with `count` that changed alike have
//!   the same fingerprint and take two entries.
//! - A finding of a moved object is known by the fingerprint of its old address too.
//! - Only a plan that covers everything shows that something is resolved.

use crate::{
    config::Day,
    judge::{Item, items},
    report::{Report, Resolved, Standing},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the file's shape.
const SCHEMA_VERSION: u32 = 1;

/// The accepted findings of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    schema_version: u32,
    pub workspace: Option<String>,
    pub entries: Vec<Entry>,
}

/// One accepted finding, broken policy or failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub fingerprint: String,
    pub address: String,
    /// The id of a rule, or `policy/` and the name of a policy.
    pub rule: String,
    pub since: Timestamp,
    /// The last day on which it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Day>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is said of the entries that a new baseline gets.
#[derive(Clone, Debug)]
pub struct Acceptance {
    pub now: Timestamp,
    pub expires: Option<Day>,
    pub reason: Option<String>,
}

impl Baseline {
    /// Reads the text of a baseline file.
    pub fn parse(text: &str) -> Result<Self, KeptError> {
        let baseline: Self = parse(text)?;
        check_version(baseline.schema_version)?;
        Ok(baseline)
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Accepts all that is in a report. What `old` knew keeps its entry; what it knows and the plan
    /// could not see stays.
    pub fn of(report: &mut Report, old: Option<&Self>, acceptance: &Acceptance) -> Self {
        let mut known = Entries::new(old);
        let mut entries = Vec::new();
        let workspace = report.workspace.clone();
        let is_whole = report.reasons.is_empty();
        let now = Timestamp::from_second(acceptance.now.as_second()).unwrap_or(acceptance.now);
        for item in items(report) {
            let entry = known.take(&item).cloned();
            entries.push(Entry {
                fingerprint: item.fingerprint,
                address: item.address,
                rule: item.rule,
                since: entry.as_ref().map_or(now, |entry| entry.since),
                expires: acceptance.expires.or(entry.as_ref().and_then(|entry| entry.expires)),
                reason: acceptance.reason.clone().or(entry.and_then(|entry| entry.reason)),
            });
        }
        if !is_whole {
            entries.extend(known.left().cloned());
        }
        entries.sort_by(|left, right| {
            (&left.address, &left.fingerprint).cmp(&(&right.address, &right.fingerprint))
        });
        Self { schema_version: SCHEMA_VERSION, workspace, entries }
    }

    /// Tells what of the report is known, and what is resolved.
    pub(crate) fn compare(&self, report: &mut Report, today: Day) {
        let mut known = Entries::new(Some(self));
        for item in items(report) {
            let entry = known.take(&item);
            if let Some(entry) =
                entry.filter(|entry| entry.expires.is_none_or(|last| last >= today))
            {
                *item.standing = Standing::Known { since: entry.since.to_string() };
            }
        }
        for suppressed in &report.suppressed {
            known.take_fingerprint(&suppressed.finding.fingerprint);
        }
        if report.reasons.is_empty() {
            report.resolved = known
                .left()
                .map(|entry| Resolved {
                    fingerprint: entry.fingerprint.clone(),
                    address: entry.address.clone(),
                    rule: entry.rule.clone(),
                })
                .collect();
        }
    }
}

/// Entries that still wait for what they know.
struct Entries<'a>(BTreeMap<&'a str, Vec<&'a Entry>>);

impl<'a> Entries<'a> {
    fn new(baseline: Option<&'a Baseline>) -> Self {
        let mut by_fingerprint: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in baseline.into_iter().flat_map(|baseline| baseline.entries.iter().rev()) {
            by_fingerprint.entry(&entry.fingerprint).or_default().push(entry);
        }
        Self(by_fingerprint)
    }

    fn take(&mut self, item: &Item<'_>) -> Option<&'a Entry> {
        let former = item.former.as_deref();
        self.take_fingerprint(&item.fingerprint).or_else(|| self.take_fingerprint(former?))
    }

    fn take_fingerprint(&mut self, fingerprint: &str) -> Option<&'a Entry> {
        self.0.get_mut(fingerprint)?.pop()
    }

    fn left(&self) -> impl Iterator<Item = &'a Entry> {
        self.0.values().flat_map(|entries| entries.iter().rev().copied())
    }
}

/// Why a file that was kept from an earlier run cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeptError {
    #[error("it is cut off: restore it, or remove it to begin anew")]
    CutOff,
    #[error("{0}: it was not written by driftgate, and was left as it is")]
    Foreign(String),
    #[error(
        "it has version {0}, and this driftgate knows version {SCHEMA_VERSION} only: use a newer one"
    )]
    Version(u32),
    #[error("it belongs to workspace `{0}`, not to `{1}`: give each workspace a file of its own")]
    Workspace(String, String),
}

/// Reads the JSON of a file that was kept.
pub(crate) fn parse<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, KeptError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| {
        if error.is_eof() { KeptError::CutOff } else { KeptError::Foreign(error.to_string()) }
    })
}

pub(crate) fn check_version(version: u32) -> Result<(), KeptError> {
    if version == SCHEMA_VERSION { Ok(()) } else { Err(KeptError::Version(version)) }
}

/// Fails when a file was made for another workspace.
pub fn check_workspace(of_file: Option<&str>, of_run: Option<&str>) -> Result<(), KeptError> {
    match (of_file, of_run) {
        (Some(file), Some(run)) if file != run => {
            Err(KeptError::Workspace(file.to_owned(), run.to_owned()))
        }
        _ => Ok(()),
    }
}
