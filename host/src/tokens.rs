//! Tokens: who may call, and as what.

pub mod api;
pub mod model;
pub mod secret;
