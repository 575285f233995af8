//! The ephemeral resources: what a run holds while it lasts, one type a file.
//!
//! Invariant: each ends by itself when the run that opened it dies.

mod access_token;
mod capacity_lease;

use self::{access_token::AccessToken, capacity_lease::CapacityLease};
use crate::{client::Client, framework::Ephemeral};

/// All ephemeral resources, sorted by type.
pub static EPHEMERAL_RESOURCES: &[&dyn Ephemeral<Client>] = &[&AccessToken, &CapacityLease];
