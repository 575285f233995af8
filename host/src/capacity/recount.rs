//! Counts anew what is used of every quota, from the documents alone, and compares.
//!
//! It is written as the sums are defined and not as they are kept, so that it proves something.

use std::collections::BTreeMap;

use super::ledger::{DEPTH_MAX, Figures};
use crate::{ids::EnvironmentId, records::Records};

/// What a recount has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recount {
    pub quotas: usize,
    pub environments: usize,
    pub pools: usize,
    /// Granted ones.
    pub leases: usize,
    pub differences: Vec<Difference>,
}

/// A quota of which another use is on the books than there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub quota: String,
    pub resource: String,
    pub booked: Figures,
    pub counted: Figures,
}

struct Counted<'a> {
    records: &'a Records,
    /// By name of the quota that environments are bound to.
    direct: BTreeMap<&'a str, BTreeMap<String, u128>>,
    children: BTreeMap<&'a str, Vec<&'a str>>,
}

pub fn recount(records: &Records) -> Recount {
    let mut used: BTreeMap<EnvironmentId, BTreeMap<String, u128>> = BTreeMap::new();
    let mut recount = Recount {
        quotas: records.quotas.len(),
        environments: records.environments.len(),
        pools: records.worker_pools.len(),
        ..Recount::default()
    };
    let pools = records.worker_pools.values().map(|pool| (pool.environment, pool.asks()));
    let leases = records.capacity_leases.iter().map(|lease| (lease.environment, lease.holds()));
    let leases = leases.filter(|(_, holds)| !holds.is_empty()).inspect(|_| recount.leases += 1);
    for (environment, amounts) in pools.chain(leases) {
        let sums = used.entry(environment).or_default();
        for (resource, amount) in amounts {
            *sums.entry(resource).or_default() += u128::from(amount);
        }
    }
    let mut counted = Counted { records, direct: BTreeMap::new(), children: BTreeMap::new() };
    for environment in records.environments.values() {
        let Some(quota) = &environment.spec.quota else { continue };
        let direct = counted.direct.entry(quota.as_str()).or_default();
        for (resource, sum) in used.get(&environment.id).into_iter().flatten() {
            *direct.entry(resource.clone()).or_default() += sum;
        }
    }
    for quota in records.quotas.values() {
        if let Some(parent) = &quota.spec.parent {
            counted.children.entry(parent.as_str()).or_default().push(&quota.meta.name);
        }
    }
    recount.differences = counted.differences();
    recount
}

impl Counted<'_> {
    fn differences(&self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for quota in self.records.quotas.values() {
            let quota = quota.meta.name.as_str();
            for resource in self.resources(quota, 0) {
                let booked = self.records.ledger.figures(quota, &resource);
                let counted = self.figures(quota, &resource, 0);
                if booked != counted {
                    let quota = quota.to_owned();
                    differences.push(Difference { quota, resource, booked, counted });
                }
            }
        }
        differences
    }

    /// All that is limited or used at a quota or under it, or booked there.
    fn resources(&self, quota: &str, depth: usize) -> std::collections::BTreeSet<String> {
        let limits = self.records.quota_named(quota).map(|quota| &quota.spec.limits);
        let limited = limits.into_iter().flat_map(BTreeMap::keys).cloned();
        let direct = self.direct.get(quota).into_iter().flat_map(BTreeMap::keys).cloned();
        let booked = self.records.ledger.resources(quota).into_iter().map(str::to_owned);
        let below = self.below(quota, depth).flat_map(|it| self.resources(it, depth + 1));
        limited.chain(direct).chain(booked).chain(below.collect::<Vec<_>>()).collect()
    }

    fn below(&self, quota: &str, depth: usize) -> impl Iterator<Item = &str> {
        let children = self.children.get(quota).filter(|_| depth < DEPTH_MAX);
        children.into_iter().flatten().copied()
    }

    fn figures(&self, quota: &str, resource: &str, depth: usize) -> Figures {
        let limit = self.records.quota_named(quota).and_then(|it| it.spec.limits.get(resource));
        let limit = limit.copied().unwrap_or_default();
        let below: Vec<_> =
            self.below(quota, depth).map(|it| self.figures(it, resource, depth + 1)).collect();
        let sum = |pick: fn(&Figures) -> u128| below.iter().map(pick).sum::<u128>();
        let shares: Vec<_> = below.iter().filter_map(|it| it.share).collect();
        let shares_below = (!shares.is_empty()).then(|| shares.iter().sum());
        let direct = self.direct.get(quota).and_then(|it| it.get(resource)).copied().unwrap_or(0);
        let floor = match (limit.share, limit.lending) {
            (Some(share), Some(lending)) => u128::from(share.saturating_sub(lending)),
            _ => 0,
        };
        let (inside, idle_inside) = (direct + sum(|it| it.taken), sum(|it| it.idle));
        Figures {
            used: direct + sum(|it| it.used),
            direct,
            inside,
            taken: inside.max(floor),
            idle: idle_inside.max(floor),
            idle_inside,
            floor,
            share: limit.share.map(u128::from).or(shares_below),
            shares_below,
        }
    }
}
