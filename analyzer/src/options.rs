//! How inputs are to be read, and what is known beside them.

use crate::{Limits, Schemas, noise::Noise, policy::Policies};
use std::sync::Arc;

/// Bounds, and what is to be looked at beside the drift.
#[derive(Clone, Debug)]
pub struct Options {
    pub limits: Limits,
    /// Kinds of noise that count as drift.
    pub as_drift: Vec<Noise>,
    /// They tell sets from lists, and what is secret.
    pub schemas: Option<Arc<Schemas>>,
    /// What is asked about each planned change.
    pub policies: Option<Arc<Policies>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::STANDARD, as_drift: Vec::new(), schemas: None, policies: None }
    }
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}
