//! Event subscriptions: where events are posted to, and how that goes.

pub mod api;
pub mod delivery;
pub mod model;
pub mod send;
pub mod standing;
pub mod vault;
pub mod wire;
