//! The resources: what users declare, one type a file.
//!
//! A file declares what is its own: attributes, rules, and how its values and the host's
//! specification translate into each other. All else that a resource of the host does (planning,
//! creating, reading, conflicts, deletion) is the same for all and in `managed.rs`.
//!
//! Invariant: a resource holds intent only. What the host observes changes by itself and is in the
//! data sources, so that a healthy fleet never shows as drift.

pub(crate) mod managed;

pub(crate) mod capacity_lease;
mod capacity_target;
mod environment;
mod event_subscription;
mod quota;
mod service_account;
mod service_account_token;
mod worker_pool;

pub(crate) mod amounts;
pub(crate) mod attributes;
pub(crate) mod field;
pub(crate) mod labels;

use self::managed::Managed;
use crate::{client::Client, framework::Resource};

pub(crate) use self::{
    capacity_lease::{CapacityLease, word as lease_state},
    capacity_target::CapacityTarget,
    environment::Environment,
    event_subscription::EventSubscription,
    quota::Quota,
    service_account::{ROLE, ServiceAccount, role_name, role_to_api},
    service_account_token::ServiceAccountToken,
    worker_pool::{WorkerPool, phase},
};

/// All resources, sorted by type.
pub static RESOURCES: &[&dyn Resource<Client>] = &[
    &Managed(CapacityLease),
    &Managed(CapacityTarget),
    &Managed(Environment),
    &Managed(EventSubscription),
    &Managed(Quota),
    &Managed(ServiceAccount),
    &Managed(ServiceAccountToken),
    &Managed(WorkerPool),
];
