//! The actions: what is done on demand and leaves no state, one type a file.

mod drain_workers;
mod on_workers;
mod replace_workers;
mod restart_workers;

use crate::{client::Client, framework::Action};

/// All actions, sorted by type.
pub static ACTIONS: &[&dyn Action<Client>] = &[
    &drain_workers::DRAIN_WORKERS,
    &replace_workers::REPLACE_WORKERS,
    &restart_workers::RESTART_WORKERS,
];
