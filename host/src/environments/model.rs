//! An environment, the rules it must keep, and what is true of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    admission::Declared,
    capacity::placement,
    conditions::{Condition, Status},
    ids::{EnvironmentId, IdSource},
    observed::Observed,
    pools::{self, template},
    records::{Record, Records},
    resource::{self, Kind, Meta},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub id: EnvironmentId,
    pub meta: Meta,
    pub spec: EnvironmentSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentSpec {
    /// Name of the quota that its pools and leases count against.
    pub quota: Option<String>,
    /// Workers are placed only on targets that carry all these labels.
    pub target_selector: BTreeMap<String, String>,
    pub description: String,
    /// Given to every worker; a pool's own win.
    pub variables: BTreeMap<String, String>,
    pub deletion_protection: bool,
}

const DESCRIPTION_LENGTH_MAX: usize = 4096;

/// What lies in an environment.
impl Environment {
    /// Finds the environment that something shall lie in, or says that it does not exist.
    pub fn around(records: &Records, key: &str, found: &mut Violations) -> Option<EnvironmentId> {
        let environment = records.environment(key);
        if environment.is_none() {
            let key = resource::quoted(key);
            found.add("environment", format!("environment {key} does not exist: create it first"));
        }
        environment.map(|environment| environment.id)
    }

    /// The key of what has this name in it.
    pub fn qualify(records: &Records, environment: EnvironmentId, name: &str) -> String {
        let environment = records.environments.get(&environment);
        format!("{}/{name}", environment.map_or("", |environment| &environment.meta.name))
    }
}

impl Declared for Environment {
    type Spec = EnvironmentSpec;
    type Parent = ();
    const KIND: Kind = Kind::Environment;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.environment(key)
    }

    fn new(ids: &dyn IdSource, (): (), meta: Meta, spec: EnvironmentSpec) -> Self {
        Self { id: EnvironmentId::new(ids), meta, spec }
    }

    fn with(&self, meta: Meta, spec: EnvironmentSpec) -> Self {
        Self { id: self.id, meta, spec }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &EnvironmentSpec {
        &self.spec
    }

    fn is_protected(spec: &EnvironmentSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(_: &Records, _: &str, _: &mut Violations) -> Option<()> {
        Some(())
    }

    fn check(records: &Records, _: Option<&Self>, spec: &EnvironmentSpec, found: &mut Violations) {
        if let Some(quota) = &spec.quota
            && records.quota_named(quota).is_none()
        {
            let quota = resource::quoted(quota);
            found.add("spec.quota", format!("quota {quota} does not exist: create it first"));
        }
        resource::check_labels("spec.target_selector", &spec.target_selector, found);
        template::check_variables("spec.variables", &spec.variables, found);
        if spec.description.len() > DESCRIPTION_LENGTH_MAX {
            found.add(
                "spec.description",
                format!("it is longer than {DESCRIPTION_LENGTH_MAX} bytes: shorten it"),
            );
        }
    }

    fn users(&self, records: &Records) -> Vec<String> {
        let pools = records.pools_of(self.id).map(|pool| match pool.meta.deleting_since {
            None => format!("worker pool `{}`", pool.meta.name),
            Some(_) => format!("worker pool `{}`, which is being deleted", pool.meta.name),
        });
        let leases = records.capacity_leases.of_environment(self.id);
        let leases = leases.filter(|lease| lease.is_living());
        pools.chain(leases.map(|lease| format!("capacity lease `{}`", lease.meta.name))).collect()
    }

    fn record(self) -> Record {
        Record::Environment(self.into())
    }
}

/// `Ready` (all pools are) and `TargetAvailable`.
pub fn conditions(it: &Environment, records: &Records, observed: &Observed) -> Vec<Condition> {
    let unready: Vec<_> = records
        .pools_of(it.id)
        .filter(|pool| !pools::conditions::is_ready(pool, records, observed))
        .map(|pool| format!("`{}`", pool.meta.name))
        .collect();
    let ready = if unready.is_empty() {
        Condition::new("Ready", Status::True, "PoolsReady", "all its worker pools are ready")
    } else {
        let message = format!("worker pools that are not ready: {}", unready.join(", "));
        Condition::new("Ready", Status::False, "PoolsNotReady", message)
    };
    let matching = || {
        let selector = &it.spec.target_selector;
        records.capacity_targets.values().filter(|it| resource::matches(selector, &it.meta.labels))
    };
    let available = if matching().any(|target| placement::is_open(target, observed)) {
        Condition::new(
            "TargetAvailable",
            Status::True,
            "TargetMatches",
            "a capacity target is open",
        )
    } else if matching().next().is_some() {
        let message = "every capacity target that matches is cordoned or does not answer";
        Condition::new("TargetAvailable", Status::False, "TargetsClosed", message)
    } else {
        let message = "no capacity target carries the labels of `target_selector`";
        Condition::new("TargetAvailable", Status::False, "NoTarget", message)
    };
    vec![ready, available]
}
