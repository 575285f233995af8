//! The data sources: what there is, as intent and as the host observes it now.
//!
//! A data source shows what its resource declares, and adds what changes by itself: use, counts,
//! conditions, workers. It is found by id or by name.

mod found;

mod capacity_target;
mod environment;
mod quota;
mod worker_pool;

mod observed;

use self::{
    capacity_target::CapacityTarget, environment::Environment, found::Found, quota::Quota,
    worker_pool::WorkerPool,
};
use crate::{client::Client, framework::DataSource};

/// All data sources, sorted by type.
pub static DATA_SOURCES: &[&dyn DataSource<Client>] =
    &[&Found(CapacityTarget), &Found(Environment), &Found(Quota), &Found(WorkerPool)];
