//! How much of a quota is used, and whether a change would use too much.
//!
//! Usage counts what is *asked for*: size times shape of every pool of every environment bound to
//! the quota, a pool that is being deleted included until its last worker is gone.

use std::fmt;

use super::{amounts, quota::Quota};
use crate::{pools::template::Amounts, records::Records};

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

/// What all pools that count against a quota ask for, every limited resource named.
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
    used
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
