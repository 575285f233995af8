//! `runtimecloud_quota`: limits and use.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources,
};

pub(super) struct Quota;

impl Look for Quota {
    type Kind = resources::Quota;
    const KIND: resources::Quota = resources::Quota;
    const DESCRIPTION: &'static str = "A quota: its limits, and what is used of them now.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![observed::used(
            "What all worker pools and granted leases of the environments bound to it, and to the \
             quotas under it, ask for, by resource.",
        )]
    }

    fn conditions<'a>(&self, quota: &'a api::Quota) -> &'a [api::Condition] {
        quota.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, quota: &api::Quota) -> Vec<(&'static str, Value)> {
        let used = quota.observed.as_ref().and_then(|observed| observed.used.as_ref());
        vec![("used", observed::used_value(used))]
    }
}
