//! The data sources: what there is, as intent and as the host observes it now.
//!
//! A data source of one resource shows what its resource declares, and adds what changes by itself:
//! use, counts, conditions, workers. It is found by id or by name. That of many shows the same of
//! each, as far as that takes no calls for each.

mod found;
mod many;

mod capacity_lease;
mod capacity_target;
mod environment;
mod event_subscription;
mod events;
mod host;
mod quota;
mod quota_usage;
mod service_account;
mod service_account_token;
mod worker_pool;
mod workers;

mod observed;
mod worker;

use self::{
    capacity_lease::CapacityLease, capacity_target::CapacityTarget, environment::Environment,
    event_subscription::EventSubscription, events::Events, found::Found, host::Host, many::Many,
    quota::Quota, quota_usage::QuotaUsage, service_account::ServiceAccount,
    service_account_token::ServiceAccountToken, worker_pool::WorkerPool, workers::Workers,
};
use crate::{client::Client, framework::DataSource};

/// All data sources, sorted by type.
pub static DATA_SOURCES: &[&dyn DataSource<Client>] = &[
    &Found(CapacityLease),
    &Many(
        CapacityLease,
        "runtimecloud_capacity_leases",
        "Capacity leases, those that have ended lately among them.",
    ),
    &Found(CapacityTarget),
    &Many(CapacityTarget, "runtimecloud_capacity_targets", "Capacity targets, with their use."),
    &Found(Environment),
    &Many(
        Environment,
        "runtimecloud_environments",
        "Environments, with how many workers live in each.",
    ),
    &Found(EventSubscription),
    &Many(
        EventSubscription,
        "runtimecloud_event_subscriptions",
        "Event subscriptions, with how their deliveries go.",
    ),
    &Events,
    &Host,
    &Found(Quota),
    &QuotaUsage,
    &Many(Quota, "runtimecloud_quotas", "Quotas, with what is used of each."),
    &Found(ServiceAccount),
    &Found(ServiceAccountToken),
    &Many(
        ServiceAccount,
        "runtimecloud_service_accounts",
        "Service accounts, with how many tokens each has.",
    ),
    &Found(WorkerPool),
    &Many(
        WorkerPool,
        "runtimecloud_worker_pools",
        "Worker pools, with how many workers are ready in each.",
    ),
    &Workers,
];
