//! What a configuration and a baseline make of findings.

use super::{Finding, Place};
use crate::rule::Severity;

/// What the baseline says of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not in the baseline, or there is none.
    #[default]
    New,
    /// Accepted before; since when, RFC 3339.
    Known { since: String },
    /// Seen in fewer runs in a row than an alert takes.
    Awaiting { runs: u32, wanted: u32 },
}

impl Standing {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Known { .. } => "known",
            Self::Awaiting { .. } => "awaiting",
        }
    }
}

/// Something that breaks a policy; cleared of secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The policy's name in the configuration.
    pub policy: String,
    /// Empty when the policy looks at the plan as a whole.
    pub address: String,
    pub message: String,
    pub severity: Severity,
    pub fingerprint: String,
    /// Against the baseline.
    pub standing: Standing,
    pub place: Option<Place>,
}

/// A finding that an ignore rule hit.
#[derive(Clone, Debug)]
pub struct Suppressed {
    pub finding: Finding,
    /// The name of the ignore rule.
    pub by: String,
    pub reason: String,
}

/// A finding of the baseline that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub fingerprint: String,
    pub address: String,
    pub rule: String,
}

/// An ignore rule of the configuration, and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreUse {
    pub name: String,
    pub owner: String,
    pub reason: String,
    /// A day, as written.
    pub expires: Option<String>,
    pub state: IgnoreState,
    /// How many findings it took out of the gate, or would have, had it not expired.
    pub hits: usize,
}

/// Whether an ignore rule is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoreState {
    Used,
    Unused,
    Expired,
}

impl IgnoreState {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Unused => "unused",
            Self::Expired => "expired",
        }
    }
}
