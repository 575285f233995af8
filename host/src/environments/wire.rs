//! Environments, to and from the API's messages.

use proto::runtimecloud::v1;

use super::model::{self, Environment, EnvironmentSpec};
use crate::{
    api::{View, convert},
    pools,
    violations::Violations,
};

pub(super) fn read(spec: Option<v1::EnvironmentSpec>, found: &mut Violations) -> EnvironmentSpec {
    let spec = convert::spec(spec, found);
    EnvironmentSpec {
        quota: convert::text(spec.quota),
        target_selector: spec.target_selector,
        description: spec.description,
        variables: spec.variables,
        deletion_protection: spec.deletion_protection,
    }
}

pub(crate) fn environment(it: &Environment, view: &View) -> v1::Environment {
    let id = it.id.to_string();
    let said = model::conditions(it, &view.records, &view.observed);
    let mut observed = v1::EnvironmentObserved {
        conditions: convert::conditions(view, (&id, it.meta.generation), &said),
        observed_at: view.observed.newest().map(convert::timestamp),
        ..v1::EnvironmentObserved::default()
    };
    for pool in view.records.pools_of(it.id) {
        let tally = pools::conditions::tally(pool, &view.records, &view.observed);
        observed.worker_pools += 1;
        observed.workers += tally.workers;
        observed.ready_workers += tally.ready;
    }
    v1::Environment {
        metadata: Some(convert::metadata(id, &it.meta)),
        spec: Some(v1::EnvironmentSpec {
            quota: it.spec.quota.clone().unwrap_or_default(),
            target_selector: it.spec.target_selector.clone(),
            description: it.spec.description.clone(),
            variables: it.spec.variables.clone(),
            deletion_protection: it.spec.deletion_protection,
        }),
        observed: Some(observed),
    }
}
