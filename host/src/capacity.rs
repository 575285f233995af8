//! What may be used and where: capacity targets, quotas, usage and placement.
//!
//! The one place that says yes or no to a use of capacity.

pub mod amounts;
pub mod api_quotas;
pub mod api_targets;
pub mod placement;
pub mod quota;
pub mod target;
pub mod usage;
pub mod wire;
