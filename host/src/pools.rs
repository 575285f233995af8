//! Worker pools and the life of each worker.

pub mod template;
