//! How a plan is to be read.

use crate::{Limits, noise::Noise};

/// Bounds, and what is to be looked at beside the drift.
#[derive(Clone, Debug)]
pub struct Options {
    pub limits: Limits,
    /// Kinds of noise that count as drift.
    pub as_drift: Vec<Noise>,
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::STANDARD, as_drift: Vec::new() }
    }
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}
