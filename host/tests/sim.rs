//! An in-memory host for scenarios, properties and benchmarks.

#[path = "sim/script.rs"]
pub(crate) mod script;
#[path = "sim/world.rs"]
pub(crate) mod world;
