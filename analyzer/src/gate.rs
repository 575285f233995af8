//! What fails a job: from a report to an exit code.
//!
//! - A class that is asked for fails the job when something of it is in the report.
//! - Whoever asks for anything is also told when the plan cannot answer: a gate must never pass
//!   because it failed to look. Only [`Gate::allow_inconclusive`] turns that off.
//! - What the baseline knows, and what waits for more runs, fails nothing.

use crate::{
    exit_code::ExitCode,
    report::{CheckStatus, Finding, Report, Standing},
    rule::Severity,
};
use std::{collections::BTreeSet, str::FromStr};

/// What a job may be failed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Drift about which apply does something, or may.
    Actionable,
    /// Conditions of the configuration that do not hold.
    Check,
    /// Anything changed outside.
    Drift,
    /// The plan cannot prove that there is no drift.
    Inconclusive,
    /// Changes that the configuration asks for.
    Pending,
    /// Broken policies.
    Policy,
}

impl Class {
    /// Every class, sorted by name.
    pub const ALL: &[Self] = &[
        Self::Actionable,
        Self::Check,
        Self::Drift,
        Self::Inconclusive,
        Self::Pending,
        Self::Policy,
    ];

    /// The name on the command line and in the configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Actionable => "actionable",
            Self::Check => "check",
            Self::Drift => "drift",
            Self::Inconclusive => "inconclusive",
            Self::Pending => "pending",
            Self::Policy => "policy",
        }
    }

    /// What it stands for, in half a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Actionable => "drift about which apply does something, or may",
            Self::Check => "conditions of the configuration that do not hold",
            Self::Drift => "anything changed outside",
            Self::Inconclusive => "a plan that cannot prove that there is no drift",
            Self::Pending => "planned changes",
            Self::Policy => "broken policies",
        }
    }

    /// True when things of this class have a severity.
    fn is_weighed(self) -> bool {
        match self {
            Self::Actionable | Self::Check | Self::Drift | Self::Policy => true,
            Self::Inconclusive | Self::Pending => false,
        }
    }
}

/// A class, from a severity on: `drift`, `policy=medium`; `severity=high` is that severity of any
/// class that has severities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailOn {
    /// `None` stands for every class that has severities.
    class: Option<Class>,
    from: Severity,
}

impl FailOn {
    /// The whole of a class.
    pub fn class(class: Class) -> Self {
        Self { class: Some(class), from: Severity::Info }
    }

    fn asks_for(self, class: Class, severity: Severity) -> bool {
        self.class.map_or_else(|| class.is_weighed(), |asked| asked == class)
            && severity >= self.from
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, from) = match text.split_once('=') {
            Some((name, severity)) => (name, Some(severity.parse::<Severity>()?)),
            None => (text, None),
        };
        let class = Class::ALL.iter().copied().find(|class| class.name() == name);
        match (class, from) {
            (None, Some(from)) if name == "severity" => Ok(Self { class: None, from }),
            (Some(class), None) => Ok(Self::class(class)),
            (Some(class), Some(from)) if class.is_weighed() => {
                Ok(Self { class: Some(class), from })
            }
            (Some(class), Some(_)) => Err(format!("{} has no severities", class.name())),
            (None, _) => {
                let names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
                Err(format!(
                    "`{text}` is no class; there are {}, each of the weighed ones also as \
                     `drift=high`, and `severity=high` for all of them",
                    names.join(", ")
                ))
            }
        }
    }
}

/// What fails a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub fail_on: BTreeSet<FailOn>,
    /// Pass plans that prove nothing, unless [`Class::Inconclusive`] is asked for.
    pub allow_inconclusive: bool,
    /// Report, and never fail because of what was found.
    pub exit_zero: bool,
}

impl Default for Gate {
    /// Drift, broken policies, and plans that prove nothing.
    fn default() -> Self {
        let fail_on = [Class::Drift, Class::Policy].map(FailOn::class).into();
        Self { fail_on, allow_inconclusive: false, exit_zero: false }
    }
}

impl Gate {
    /// The exit code of a report: the worst of what is in it and is asked for.
    pub fn exit_code(&self, report: &Report) -> ExitCode {
        self.exit_code_of(&Facts::of(report))
    }

    /// As [`Self::exit_code`], from what it looks at.
    pub fn exit_code_of(&self, facts: &Facts) -> ExitCode {
        if self.exit_zero {
            ExitCode::Clean
        } else if facts.drift.iter().any(|drifted| self.minds_drifted(*drifted)) {
            ExitCode::Drift
        } else if facts.inconclusive && self.minds_inconclusive() {
            ExitCode::Inconclusive
        } else if self.is_refused(facts) {
            ExitCode::Refused
        } else {
            ExitCode::Clean
        }
    }

    /// True when the finding alone would fail the job.
    pub fn minds(&self, finding: &Finding) -> bool {
        Drifted::of(finding).is_some_and(|drifted| self.minds_drifted(drifted))
    }

    fn minds_drifted(&self, drifted: Drifted) -> bool {
        self.asks_for(Class::Drift, drifted.severity)
            || drifted.actionable && self.asks_for(Class::Actionable, drifted.severity)
    }

    fn asks_for(&self, class: Class, severity: Severity) -> bool {
        self.fail_on.iter().any(|term| term.asks_for(class, severity))
    }

    fn minds_inconclusive(&self) -> bool {
        let asks_for_it = self.fail_on.contains(&FailOn::class(Class::Inconclusive));
        asks_for_it || !self.allow_inconclusive && !self.fail_on.is_empty()
    }

    fn is_refused(&self, facts: &Facts) -> bool {
        let mut broken = facts.violations.iter();
        let mut failed = facts.checks.iter();
        broken.any(|severity| self.asks_for(Class::Policy, *severity))
            || failed.any(|severity| self.asks_for(Class::Check, *severity))
            || facts.pending && self.asks_for(Class::Pending, Severity::Info)
    }
}

/// All that a gate looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub drift: Vec<Drifted>,
    /// Of the policies that are newly broken.
    pub violations: Vec<Severity>,
    /// Of the conditions that do not hold.
    pub checks: Vec<Severity>,
    /// Changes are planned.
    pub pending: bool,
    /// There is a reason why the absence of drift is not proven.
    pub inconclusive: bool,
}

/// A finding that the baseline does not know and that waits for no more runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drifted {
    pub severity: Severity,
    /// Apply does something about it, or may.
    pub actionable: bool,
}

impl Drifted {
    fn of(finding: &Finding) -> Option<Self> {
        let Finding { severity, .. } = *finding;
        (finding.standing == Standing::New)
            .then(|| Self { severity, actionable: finding.is_actionable() })
    }
}

impl Facts {
    /// What a report has for a gate.
    pub fn of(report: &Report) -> Self {
        let violations =
            report.violations.iter().filter(|violation| violation.standing == Standing::New);
        let failed = report.checks.iter().filter(|check| check.status != CheckStatus::Unknown);
        Self {
            drift: report.findings.iter().filter_map(Drifted::of).collect(),
            violations: violations.map(|violation| violation.severity).collect(),
            checks: failed.map(|check| check.severity).collect(),
            pending: report.counts.planned > 0,
            inconclusive: !report.reasons.is_empty(),
        }
    }
}
