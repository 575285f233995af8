//! Where quotas lie: each under one other at most, never under itself.

use std::time::Duration;

use super::{
    amounts,
    ledger::{DEPTH_MAX, Ledger, saturated},
    quota::{Quota, QuotaSpec},
    room,
};
use crate::{
    conditions::{Condition, Status},
    records::Records,
    resource,
    violations::Violations,
};

const RECLAIM_NOTICE: Duration = Duration::from_secs(30);

/// `before` is the quota as it is, if it is there already.
pub(super) fn check_parent(
    records: &Records,
    before: Option<&Quota>,
    spec: &QuotaSpec,
    found: &mut Violations,
) {
    const FIELD: &str = "spec.parent";
    let Some(parent) = &spec.parent else { return };
    if records.quota_named(parent).is_none() {
        let parent = resource::quoted(parent);
        found.add(FIELD, format!("quota {parent} does not exist: create it first"));
        return;
    }
    let ledger = &records.ledger;
    let above = ledger.upwards(parent);
    let name = before.map(|before| before.meta.name.as_str());
    if name.is_some_and(|name| above.contains(&name)) {
        let line = above.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" under ");
        found.add(
            FIELD,
            format!(
                "it would lie under itself ({line}): choose a quota that does not lie under it"
            ),
        );
        return;
    }
    let depth = above.len() + name.map_or(1, |name| ledger.height(name));
    if depth > DEPTH_MAX {
        found.add(
            FIELD,
            format!(
                "the tree would be {depth} quotas deep, and {DEPTH_MAX} is the most: choose a quota \
                 further up"
            ),
        );
    }
}

/// `SharesCovered`, when shares are given under it: whether there is as much as they promise.
pub(super) fn shares_covered(quota: &Quota, ledger: &Ledger) -> Option<Condition> {
    const NAME: &str = "SharesCovered";
    let name = quota.meta.name.as_str();
    let mut has_shares = false;
    let mut short = Vec::new();
    for resource in ledger.resources(name) {
        let Some(promised) = ledger.figures(name, resource).shares_below else { continue };
        has_shares = true;
        let own = ledger.limit(name, resource).share;
        let limits = room::limits(ledger, name, resource).map(|(_, limit)| limit);
        let Some(has) = own.into_iter().chain(limits).min() else { continue };
        if promised > u128::from(has) {
            let [promised, has] =
                [saturated(promised), has].map(|amount| amounts::shown(resource, amount));
            short.push(format!("{resource}: shares of {promised} are given of {has}"));
        }
    }
    has_shares.then(|| {
        if short.is_empty() {
            let message = "there is as much as the shares under it add up to";
            Condition::new(NAME, Status::True, "Covered", message)
        } else {
            Condition::new(NAME, Status::False, "SharesTooLarge", short.join("; "))
        }
    })
}

/// How long leases live on that are reclaimed for a share under a quota.
pub fn reclaim_notice(records: &Records, quota: &str) -> Duration {
    let above = records.ledger.upwards(quota).into_iter();
    let mut notices = above.filter_map(|name| records.quota_named(name)?.spec.reclaim_notice);
    notices.next().unwrap_or(RECLAIM_NOTICE)
}
