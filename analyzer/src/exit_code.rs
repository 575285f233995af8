//! The exit codes of `driftgate`: a promise to pipelines.
//!
//! The worst one wins, in the order error, drift, inconclusive, refused, clean.

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
    /// A policy is broken; or a check fails or changes are planned, and that was asked for.
    Refused = 3,
    /// No drift was found, but the plan cannot prove that there is none.
    Inconclusive = 4,
}

/// Every code with its meaning, in numeric order; help and documentation are made of it.
pub const EXIT_CODES: &[(ExitCode, &str)] = &[
    (ExitCode::Clean, "clean: nothing was found that fails the job"),
    (ExitCode::Error, "error: the input cannot be read, or wrong use"),
    (ExitCode::Drift, "drift: something was changed outside"),
    (
        ExitCode::Refused,
        "refused: a policy is broken, or --fail-on check or pending and there is one",
    ),
    (ExitCode::Inconclusive, "inconclusive: the plan cannot prove that there is no drift"),
];

/// The order in which codes win, the worst first.
pub const WORST_FIRST: &str = "1, 2, 4, 3, 0";

impl ExitCode {
    /// The worse of the two.
    pub fn worst(self, other: Self) -> Self {
        if self.weight() >= other.weight() { self } else { other }
    }

    fn weight(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Refused => 1,
            Self::Inconclusive => 2,
            Self::Drift => 3,
            Self::Error => 4,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
