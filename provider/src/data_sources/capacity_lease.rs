//! `runtimecloud_capacity_lease`: whether a lease waits, is granted or has ended.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources,
};

pub(super) struct CapacityLease;

impl Look for CapacityLease {
    type Kind = resources::CapacityLease;
    const KIND: resources::CapacityLease = resources::CapacityLease;
    const DESCRIPTION: &'static str = "A capacity lease: what it asks for, and whether it waits, is \
        granted or has ended. By name it is the one that lives, or else the last that ended.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::string(
                "state",
                "`waiting`, `granted`, `expired`, `reclaimed`, `released` or `refused`.",
            )
            .computed(),
            observed::count("position", "Its place in line, from 1; null when it does not wait."),
            observed::time("wait_until", "When it is refused unless it is granted before."),
            observed::time("expires_at", "When it ends unless it is renewed; null: it has no end."),
            observed::time(
                "reclaimed_at",
                "When it gives back what it borrows, while its owner waits for that; null otherwise.",
            ),
            observed::time("ended_at", "When it ended; null while it lives."),
        ]
    }

    fn conditions<'a>(&self, lease: &'a api::CapacityLease) -> &'a [api::Condition] {
        lease.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, lease: &api::CapacityLease) -> Vec<(&'static str, Value)> {
        let observed = lease.observed.clone().unwrap_or_default();
        vec![
            ("state", resources::lease_state(observed.state()).into()),
            ("position", observed.position.into()),
            ("wait_until", observed::time_value(observed.wait_until.as_ref())),
            ("expires_at", observed::time_value(observed.expires_at.as_ref())),
            ("reclaimed_at", observed::time_value(observed.reclaimed_at.as_ref())),
            ("ended_at", observed::time_value(observed.ended_at.as_ref())),
        ]
    }
}
