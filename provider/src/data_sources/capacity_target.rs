//! `runtimecloud_capacity_target`: capacity, use, and whether workers can be placed there.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources,
};

pub(super) struct CapacityTarget;

impl Look for CapacityTarget {
    type Kind = resources::CapacityTarget;
    const KIND: resources::CapacityTarget = resources::CapacityTarget;
    const DESCRIPTION: &'static str = "A capacity target: its capacity, what is used of it now, and \
        whether workers can be placed there.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            observed::used("What the workers placed here may use together, by resource."),
            observed::count("worker_count", "How many workers are placed here."),
        ]
    }

    fn conditions<'a>(&self, target: &'a api::CapacityTarget) -> &'a [api::Condition] {
        target.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, target: &api::CapacityTarget) -> Vec<(&'static str, Value)> {
        let observed = target.observed.clone().unwrap_or_default();
        vec![
            ("used", observed::used_value(observed.used.as_ref())),
            ("worker_count", observed.workers.into()),
        ]
    }
}
