//! Conditions that a configuration states: `check` blocks, pre- and postconditions, validations.

use super::Standing;
use crate::rule::{self, Rule, Severity};

/// A condition that does not hold, or of which the plan does not know whether it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Of the object that states it, such as `check.health` or `output.url`.
    pub address: String,
    pub status: CheckStatus,
    /// What the configuration says about it; cleared of secrets.
    pub messages: Vec<String>,
    pub rule: &'static Rule,
    pub severity: Severity,
    pub fingerprint: String,
    /// Against the baseline.
    pub standing: Standing,
}

/// How a condition turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// It is false.
    Failed,
    /// It could not be computed.
    Errored,
    /// It is known only after apply.
    Unknown,
}

impl CheckStatus {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn rule(self) -> &'static Rule {
        let id = match self {
            Self::Failed | Self::Errored => "check-failed",
            Self::Unknown => "check-unknown",
        };
        rule::find(id).unwrap_or(&rule::RULES[0])
    }
}
