//! The list resources: one for each managed type, so that a query finds what is not yet in code.
//!
//! How one works is the same for all, and in `resources/managed/list.rs`.

use crate::{
    client::Client,
    framework::List,
    resources::{
        CapacityLease, CapacityTarget, Environment, EventSubscription, Quota, ServiceAccount,
        ServiceAccountToken, WorkerPool, managed::Managed,
    },
};

/// All list resources, sorted by type.
pub static LIST_RESOURCES: &[&dyn List<Client>] = &[
    &Managed(CapacityLease),
    &Managed(CapacityTarget),
    &Managed(Environment),
    &Managed(EventSubscription),
    &Managed(Quota),
    &Managed(ServiceAccount),
    &Managed(ServiceAccountToken),
    &Managed(WorkerPool),
];
