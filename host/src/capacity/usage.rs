//! How much of a quota is used, and whether a change would use too much.
//!
//! Usage counts what is *asked for* in every environment bound to the quota: size times shape of every
//! pool, one that is being deleted included until its last worker is gone, and every granted lease.

use std::fmt;

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
    let mut used: Amounts = quota.spec.limits.keys().map(|name| (name.clone(), 0)).collect();
    for pool in records.worker_pools.values() {
        let bound = records
            .environments
            .get(&pool.environment)
            .is_some_and(|it| it.spec.quota.as_deref() == Some(&quota.meta.name));
        if bound {
            let asked = amounts::of_workers(&pool.spec.worker.shape, u64::from(pool.spec.size));
            amounts::add(&mut used, &asked);
        }
    }
    let environments = records.environments.values();
    let bound = environments.filter(|it| it.spec.quota.as_deref() == Some(&quota.meta.name));
    for environment in bound {
        amounts::add(&mut used, &records.capacity_leases.used_in(environment.id));
    }
    used
}

/// The quotas that uses in an environment count against.
pub fn quotas_of(records: &Records, environment: EnvironmentId) -> Vec<&Quota> {
    let environment = records.environments.get(&environment);
    let name = environment.and_then(|environment| environment.spec.quota.as_deref());
    let quotas = records.quotas.values().filter(|quota| Some(&*quota.meta.name) == name);
    quotas.map(|quota| &**quota).collect()
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
    for quota in after.quotas.values() {
        let (was, is) = (of_quota(before, quota), of_quota(after, quota));
        for (resource, limit) in &quota.spec.limits {
            let (used, would) = (amounts::get(&was, resource), amounts::get(&is, resource));
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
