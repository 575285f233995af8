//! Worker pools and the life of each worker.

pub mod api;
pub mod conditions;
pub mod model;
pub mod rules;
pub mod template;
pub mod wire;
pub mod worker;
pub mod workers_api;
