//! What the host does by itself. A task takes no input: woken by a signal or by a timer, it reads
//! the truth again and does the same thing either way.

pub mod deliver;
pub mod leases;
pub mod prune;
pub mod reconcile;
pub mod recount;
