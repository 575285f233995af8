//! What fails a job: from a report to an exit code.

use crate::{
    exit_code::ExitCode,
    report::{Report, Verdict},
};

/// From which outcome on a job fails; each level includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailOn {
    /// Never because of the outcome; only an input that cannot be read fails.
    Nothing,
    /// Drift about which apply does something, or may; and plans that prove nothing.
    Actionable,
    /// Anything changed outside, and plans that prove nothing.
    Drift,
    /// Planned changes too.
    Planned,
}

impl FailOn {
    /// Every level with its name, from the mildest.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Nothing, "nothing"),
        (Self::Actionable, "actionable"),
        (Self::Drift, "drift"),
        (Self::Planned, "planned"),
    ];

    /// What it stands for, in half a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Nothing => "never because of what is found",
            Self::Actionable => "drift about which apply does something, or may",
            Self::Drift => "anything changed outside",
            Self::Planned => "planned changes too",
        }
    }
}

/// The exit code of a report: the worst of what is in it and is asked for.
pub fn exit_code(report: &Report, fail_on: FailOn) -> ExitCode {
    let drifted = match fail_on {
        FailOn::Nothing => return ExitCode::Clean,
        FailOn::Actionable => report.counts.actionable > 0,
        FailOn::Drift | FailOn::Planned => report.verdict == Verdict::Drifted,
    };
    if drifted {
        ExitCode::Drift
    } else if !report.reasons.is_empty() {
        ExitCode::Inconclusive
    } else if fail_on == FailOn::Planned && report.counts.planned > 0 {
        ExitCode::Planned
    } else {
        ExitCode::Clean
    }
}
