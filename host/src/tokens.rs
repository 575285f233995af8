//! Tokens: who may call, and as what.

pub mod api;
pub mod decide;
pub mod model;
pub mod secret;
pub(crate) mod wire;

/// What is said where a role is missing.
pub(crate) const NO_ROLE: &str = "it is not a role: use `viewer`, `editor` or `admin`";
