//! Whether a use has room, in its own quota and in all above it. Every one of them has to agree.
//!
//! A quota has up to two limits of a resource: `hard`, and its share with what it may borrow. A quota
//! under no other and without `hard` shares out what the shares under it add up to. What would be used of
//! it, and what it would have to keep for those under it that do not lend, must not grow beyond any.
//!
//! Less is always granted, and so is what others keep for oneself, whatever limits have become.

use super::{
    excess::{Excess, Rule},
    ledger::{Figures, Ledger, saturated},
    quota::Limit,
};
use crate::{
    ids::EnvironmentId,
    pools::template::Amounts,
    records::{Change, Record, Records},
};

/// The limits of a quota, in the order in which they are told.
pub fn limits(
    ledger: &Ledger,
    quota: &str,
    resource: &str,
) -> impl Iterator<Item = (Rule, u64)> + use<> {
    let limit = ledger.limit(quota, resource);
    let hard = limit.hard.map(|hard| (Rule::Hard, hard));
    let borrowing = limit.share.zip(limit.borrowing);
    let borrowing = borrowing.map(|(share, more)| (Rule::Borrowing, share.saturating_add(more)));
    let is_root = hard.is_none() && !ledger.has_parent(quota);
    let shares = is_root.then(|| ledger.figures(quota, resource).shares_below).flatten();
    let shares = shares.map(|sum| (Rule::Shares, saturated(sum)));
    [hard, borrowing, shares].into_iter().flatten()
}

/// Limits that so much more in an environment would exceed.
pub fn lacking(ledger: &Ledger, environment: EnvironmentId, more: &Amounts) -> Vec<Excess> {
    let chain = ledger.chain(environment);
    let mut lacking = Vec::new();
    for (resource, more) in more.iter().filter(|(_, more)| **more > 0) {
        let mut grown = u128::from(*more);
        for quota in &chain {
            let was = ledger.figures(quota, resource);
            let is = Figures {
                used: was.used + u128::from(*more),
                inside: was.inside + grown,
                taken: was.floor.max(was.inside + grown),
                ..was
            };
            let over = |(rule, limit)| over((quota, resource), (rule, limit), (&was, &is));
            lacking.extend(limits(ledger, quota, resource).filter_map(over));
            grown = is.taken - was.taken;
        }
    }
    lacking
}

/// Limits that so much in an environment would exceed if nothing else were used.
pub fn beyond(ledger: &Ledger, environment: EnvironmentId, all: &Amounts) -> Vec<Excess> {
    let chain = ledger.chain(environment);
    let mut beyond = Vec::new();
    for (resource, all) in all.iter().filter(|(_, all)| **all > 0) {
        let mut grown = u128::from(*all);
        for quota in &chain {
            let real = ledger.figures(quota, resource);
            let idle = Figures { used: 0, inside: real.idle_inside, ..real };
            let taken = real.floor.max(idle.inside + grown);
            let full =
                Figures { used: u128::from(*all), inside: idle.inside + grown, taken, ..idle };
            for (rule, limit) in limits(ledger, quota, resource) {
                if let Some(alone) = over((quota, resource), (rule, limit), (&idle, &full)) {
                    let used = saturated(real.used);
                    let kept = saturated(real.inside - real.used);
                    beyond.push(Excess { used, kept, ..alone });
                }
            }
            grown = taken - real.idle;
        }
    }
    beyond
}

/// How much more of a resource could be granted in an environment that is bound to a quota; `None` is
/// without end.
pub fn room(ledger: &Ledger, quota: &str, resource: &str) -> Option<u64> {
    let mut room: Option<u128> = None;
    // What is kept for it anyway, on the way from it to the quota that is looked at.
    let mut kept: u128 = 0;
    for quota in ledger.upwards(quota) {
        let it = ledger.figures(quota, resource);
        for (_, limit) in limits(ledger, quota, resource) {
            let limit = u128::from(limit);
            let unclaimed = kept + limit.saturating_sub(it.inside);
            let free = unclaimed.min(limit.saturating_sub(it.used));
            room = Some(room.map_or(free, |room| room.min(free)));
        }
        kept += it.taken - it.inside;
    }
    room.map(saturated)
}

/// Whether what is used of a quota, with so much more in an environment under it, is no more than what
/// is its own. It is looked at from the quota above.
pub fn is_own(ledger: &Ledger, quota: &str, resource: &str, more: u64) -> bool {
    let it = ledger.figures(quota, resource);
    it.used + u128::from(more) <= it.share.unwrap_or(0)
}

/// Limits that are exceeded after some changes, and of which less was used before them.
pub fn excesses(before: &Records, after: &Records, changes: &[Change]) -> Vec<Excess> {
    let mut excesses = Vec::new();
    for quota in concerned(before, after, changes) {
        for resource in after.ledger.resources(&quota) {
            let was = before.ledger.figures(&quota, resource);
            let is = after.ledger.figures(&quota, resource);
            let over = |limit| over((&quota, resource), limit, (&was, &is));
            excesses.extend(limits(&after.ledger, &quota, resource).filter_map(over));
        }
    }
    excesses
}

/// Names of the quotas of which more or less may be used after some changes, or that have changed
/// themselves; each before those above it.
pub fn concerned(before: &Records, after: &Records, changes: &[Change]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for change in changes {
        let record = match change {
            Change::Put(record) | Change::Remove(record) => record,
            Change::Recount => continue,
        };
        for records in [before, after] {
            let ledger = &records.ledger;
            let chain = match record {
                Record::CapacityLease(it) => ledger.chain(it.environment),
                Record::Environment(it) => ledger.chain(it.id),
                Record::Quota(it) => ledger.upwards(&it.meta.name),
                Record::WorkerPool(it) => ledger.chain(it.environment),
                Record::CapacityTarget(_)
                | Record::Conditions(..)
                | Record::Counter(..)
                | Record::EventSubscription(_)
                | Record::Operation(_)
                | Record::ServiceAccount(_)
                | Record::Token(_)
                | Record::Worker(_) => Vec::new(),
            };
            for name in chain {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }
    names
}

/// How a limit is exceeded by a use that grows.
fn over(
    (quota, resource): (&str, &str),
    (rule, limit): (Rule, u64),
    (was, is): (&Figures, &Figures),
) -> Option<Excess> {
    let most = u128::from(limit);
    let is_over = is.used > most || (is.inside > most && is.inside > was.inside);
    (is.used > was.used && is_over).then(|| Excess {
        quota: quota.to_owned(),
        resource: resource.to_owned(),
        rule,
        limit,
        used: saturated(was.used),
        kept: saturated(was.inside.saturating_sub(was.used)),
        requested: saturated(is.used - was.used),
        lent: Vec::new(),
        fits_at: None,
    })
}

/// Whether a limit that was exceeded would still be, now that less is used.
pub(super) fn is_exceeded(ledger: &Ledger, it: &Excess) -> bool {
    let figures = ledger.figures(&it.quota, &it.resource);
    figures.used.max(figures.inside) > u128::from(it.limit)
}

/// What is used of a quota, each resource that it limits named.
pub fn used(ledger: &Ledger, quota: &str) -> Amounts {
    let resources = ledger.resources(quota).into_iter();
    resources
        .map(|name| (name.to_owned(), saturated(ledger.figures(quota, name).used)))
        .filter(|(name, used)| *used > 0 || ledger.limit(quota, name) != Limit::default())
        .collect()
}
