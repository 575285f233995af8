//! Environments: named, isolated places where worker pools live.

pub mod api;
pub mod model;
pub mod wire;
