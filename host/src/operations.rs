//! Operations on the workers of a pool: drain, restart and replace, some workers at a time.

pub mod api;
pub mod decide;
pub mod model;
