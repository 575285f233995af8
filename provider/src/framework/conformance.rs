//! Terraform's own rules for a provider, restated as checks.
//!
//! [`proposed_new_state`] is what Terraform sends with a plan request; [`check_plan`],
//! [`check_final_plan`], [`check_apply`] and [`check_state`] are what it holds answers against;
//! [`check_schema`], [`check_unstored_schema`], [`check_identity_schema`] and [`check_signature`] are
//! what it takes for granted of schemas and functions, and [`check_identity`] of an identity. The tests
//! of each type run them, so that "Provider produced invalid plan" and its kin are found without a CLI.

mod apply;
mod identity;
mod plan;
mod proposed;
mod schema;
mod signature;

pub use self::{
    apply::{check_apply, check_final_plan, check_state},
    identity::{check_identity, check_identity_schema},
    plan::check_plan,
    proposed::proposed_new_state,
    schema::{check_schema, check_unstored_schema},
    signature::check_signature,
};

pub use super::walk::absent;

use super::Path;
use std::fmt;

/// A rule that is broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The attribute.
    pub path: Path,
    /// What is wrong with it; never a value.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

fn violation(path: &Path, what: impl Into<String>) -> Violation {
    Violation { path: path.clone(), what: what.into() }
}
