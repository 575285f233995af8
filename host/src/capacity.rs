//! What may be used and where: capacity targets, quotas, what is used of them, and placement.
//!
//! The one place that says yes or no to a use of capacity.

pub mod amounts;
pub mod api_quotas;
pub mod api_targets;
pub mod correct;
pub mod excess;
pub mod ledger;
pub mod placement;
pub mod quota;
pub mod recount;
pub mod room;
mod rules;
pub mod target;
pub mod tree;
pub mod wire;
