//! The exit codes of `driftgate`: a promise to pipelines.
//!
//! The worst one wins, in the order error, drift, inconclusive, planned, clean.

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Nothing that was asked to fail the job was found.
    Clean = 0,
    /// The input could not be read, or the command was used wrongly. Nothing is known.
    Error = 1,
    /// Something was changed outside.
    Drift = 2,
    /// No drift, but changes are planned, and `--fail-on planned` was given.
    Planned = 3,
    /// No drift was found, but the plan cannot prove that there is none.
    Inconclusive = 4,
}

/// Every code with its meaning, in numeric order; help and documentation are made of it.
pub const EXIT_CODES: &[(ExitCode, &str)] = &[
    (ExitCode::Clean, "clean: nothing was changed outside"),
    (ExitCode::Error, "error: the input cannot be read, or wrong use"),
    (ExitCode::Drift, "drift: something was changed outside"),
    (ExitCode::Planned, "only planned changes, and --fail-on planned was given"),
    (ExitCode::Inconclusive, "inconclusive: the plan cannot prove that there is no drift"),
];

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
