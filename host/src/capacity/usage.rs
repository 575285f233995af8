//! How much of a quota is used, and whether a change would use too much.
//!
//! Usage counts what is *asked for* in every environment bound to the quota: size times shape of every
//! pool, one that is being deleted included until its last worker is gone, and every granted lease.

use std::{collections::BTreeMap, fmt};

use super::{amounts, quota::Quota};
use crate::{ids::EnvironmentId, pools::template::Amounts, records::Records};

/// A hard limit that a change would exceed, in the units of [`Amounts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    pub quota: String,
    pub resource: String,
    pub limit: u64,
    /// Used before the change.
    pub used: u64,
    /// What the change would add.
    pub requested: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, resource, limit, used, requested } = self;
        let [limit, used, requested] =
            [limit, used, requested].map(|amount| amounts::shown(resource, *amount));
        write!(
            f,
            "quota `{quota}` has no room for {requested} more of {resource}: \
             {used} of at most {limit} is used"
        )
    }
}

/// What all that counts against a quota asks for, every limited resource named.
pub fn of_quota(records: &Records, quota: &Quota) -> Amounts {
    let mut used = nothing(quota);
    let environments = records.environments.values();
    environments
        .filter(|it| it.spec.quota.as_deref() == Some(&quota.meta.name))
        .for_each(|it| add_asked(&mut used, records, it.id));
    used
}

/// The same of all quotas, by name. It takes as long as that of one.
pub fn of_quotas(records: &Records) -> BTreeMap<&str, Amounts> {
    let quotas = records.quotas.values();
    let mut all: BTreeMap<_, _> = quotas.map(|quota| (&*quota.meta.name, nothing(quota))).collect();
    for environment in records.environments.values() {
        let quota = environment.spec.quota.as_deref();
        if let Some(used) = quota.and_then(|quota| all.get_mut(quota)) {
            add_asked(used, records, environment.id);
        }
    }
    all
}

fn nothing(quota: &Quota) -> Amounts {
    quota.spec.limits.keys().map(|name| (name.clone(), 0)).collect()
}

/// Adds what is asked for in an environment.
fn add_asked(used: &mut Amounts, records: &Records, environment: EnvironmentId) {
    for pool in records.pools_of(environment) {
        let count = u64::from(pool.spec.size);
        amounts::add(used, &amounts::of_workers(&pool.spec.worker.shape, count));
    }
    amounts::add(used, &records.capacity_leases.used_in(environment));
}

/// The quotas that uses in an environment count against.
pub fn quotas_of(records: &Records, environment: EnvironmentId) -> Vec<&Quota> {
    let environment = records.environments.get(&environment);
    let name = environment.and_then(|environment| environment.spec.quota.as_deref());
    name.and_then(|name| records.quota_named(name)).into_iter().map(|quota| &**quota).collect()
}

/// Hard limits that so much more in an environment would exceed.
pub fn lacking(records: &Records, environment: EnvironmentId, more: &Amounts) -> Vec<Excess> {
    let quotas = quotas_of(records, environment).into_iter();
    quotas.flat_map(|quota| over(quota, &of_quota(records, quota), more)).collect()
}

/// Hard limits that so much in an environment would exceed if nothing else were used.
pub fn beyond(records: &Records, environment: EnvironmentId, all: &Amounts) -> Vec<Excess> {
    let mut beyond = Vec::new();
    for quota in quotas_of(records, environment) {
        let alone = over(quota, &Amounts::new(), all);
        if !alone.is_empty() {
            let used = of_quota(records, quota);
            let real = |it: Excess| Excess { used: amounts::get(&used, &it.resource), ..it };
            beyond.extend(alone.into_iter().map(real));
        }
    }
    beyond
}

fn over(quota: &Quota, used: &Amounts, more: &Amounts) -> Vec<Excess> {
    let excess = |(resource, requested): (&String, &u64)| {
        let limit = quota.spec.limits.get(resource)?.hard?;
        let used = amounts::get(used, resource);
        (used.saturating_add(*requested) > limit).then(|| Excess {
            quota: quota.meta.name.clone(),
            resource: resource.clone(),
            limit,
            used,
            requested: *requested,
        })
    };
    more.iter().filter_map(excess).collect()
}

/// Hard limits that `after` exceeds and `before` did not use as much of. Lowering a limit or using
/// less is never an excess, however much is used.
pub fn excesses(before: &Records, after: &Records) -> Vec<Excess> {
    let mut excesses = Vec::new();
    let (was, is) = (of_quotas(before), of_quotas(after));
    let get = |all: &BTreeMap<&str, Amounts>, quota: &Quota, resource: &str| {
        all.get(&*quota.meta.name).map_or(0, |used| amounts::get(used, resource))
    };
    for quota in after.quotas.values() {
        for (resource, limit) in &quota.spec.limits {
            let (used, would) = (get(&was, quota, resource), get(&is, quota, resource));
            if let Some(limit) = limit.hard
                && would > limit
                && would > used
            {
                excesses.push(Excess {
                    quota: quota.meta.name.clone(),
                    resource: resource.clone(),
                    limit,
                    used,
                    requested: would - used,
                });
            }
        }
    }
    excesses
}
