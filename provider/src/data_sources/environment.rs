//! `runtimecloud_environment`: what it is bound to, and how many workers live in it.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources,
};

pub(super) struct Environment;

impl Look for Environment {
    type Kind = resources::Environment;
    const KIND: resources::Environment = resources::Environment;
    const DESCRIPTION: &'static str = "An environment: what it is bound to, and how many workers \
        live in it now.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            observed::count("worker_pool_count", "How many worker pools are in it."),
            observed::count("worker_count", "How many workers its pools have."),
            observed::count("ready_worker_count", "Of those, how many are ready."),
        ]
    }

    fn conditions<'a>(&self, environment: &'a api::Environment) -> &'a [api::Condition] {
        environment.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, environment: &api::Environment) -> Vec<(&'static str, Value)> {
        let observed = environment.observed.clone().unwrap_or_default();
        vec![
            ("worker_pool_count", observed.worker_pools.into()),
            ("worker_count", observed.workers.into()),
            ("ready_worker_count", observed.ready_workers.into()),
        ]
    }
}
