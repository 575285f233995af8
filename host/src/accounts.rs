//! Service accounts: programs that call, each with a role of its own.

pub mod api;
pub mod model;
pub mod wire;
