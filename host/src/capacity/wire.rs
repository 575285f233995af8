//! Quotas and capacity targets, to and from the API's messages.

use proto::runtimecloud::v1;

use super::{
    amounts,
    ledger::{Ledger, saturated},
    quota::{self, Limit, Quota, QuotaSpec},
    recount::{Difference, Recount},
    room,
    target::{self, CapacityTarget, CapacityTargetSpec, DriverKind},
};
use crate::{
    api::{View, convert},
    violations::Violations,
};

pub(super) fn read_quota(spec: Option<v1::QuotaSpec>, found: &mut Violations) -> QuotaSpec {
    let spec = convert::spec(spec, found);
    let limit = |it: v1::Limit| Limit {
        hard: it.hard,
        soft: it.soft,
        share: it.share,
        borrowing: it.borrowing,
        lending: it.lending,
    };
    let notice = spec.reclaim_notice.as_ref();
    QuotaSpec {
        limits: spec.limits.into_iter().map(|(name, it)| (name, limit(it))).collect(),
        deletion_protection: spec.deletion_protection,
        reclaim_notice: convert::read_duration("spec.reclaim_notice", notice, found),
        parent: convert::text(spec.parent),
    }
}

fn quota_spec(spec: &QuotaSpec) -> v1::QuotaSpec {
    let limit = |it: &Limit| v1::Limit {
        hard: it.hard,
        soft: it.soft,
        share: it.share,
        borrowing: it.borrowing,
        lending: it.lending,
    };
    v1::QuotaSpec {
        limits: spec.limits.iter().map(|(name, it)| (name.clone(), limit(it))).collect(),
        deletion_protection: spec.deletion_protection,
        parent: spec.parent.clone().unwrap_or_default(),
        reclaim_notice: spec.reclaim_notice.map(convert::duration),
    }
}

pub(crate) fn quota(quota: &Quota, view: &View) -> v1::Quota {
    let (id, name) = (quota.id.to_string(), quota.meta.name.as_str());
    let ledger = &view.records.ledger;
    let used = room::used(ledger, name);
    let said = quota::conditions(quota, &used, ledger);
    let resources = ledger.resources(name).into_iter();
    let resources = resources.map(|it| (it.to_owned(), quota_use(ledger, name, it)));
    v1::Quota {
        spec: Some(quota_spec(&quota.spec)),
        observed: Some(v1::QuotaObserved {
            conditions: convert::conditions(view, (&id, quota.meta.generation), &said),
            used: Some(convert::amounts(&used)),
            observed_at: Some(convert::timestamp(view.now)),
            resources: resources.collect(),
            children: ledger.children(name).map(str::to_owned).collect(),
        }),
        metadata: Some(convert::metadata(id, &quota.meta)),
    }
}

fn quota_use(ledger: &Ledger, quota: &str, resource: &str) -> v1::QuotaUse {
    let it = ledger.figures(quota, resource);
    let room = room::room(ledger, quota, resource);
    let unused = it.share.map_or(0, |share| share.saturating_sub(it.used));
    // A root shares with nobody, so it neither borrows nor lends.
    let is_shared = it.share.is_some() && ledger.has_parent(quota);
    let lent = room.map_or(0, |room| unused.saturating_sub(u128::from(room)));
    let borrowed = it.used.saturating_sub(it.share.unwrap_or(0));
    let if_shared = |amount: u128| if is_shared { saturated(amount) } else { 0 };
    v1::QuotaUse {
        used: saturated(it.used),
        used_directly: saturated(it.direct),
        share: it.share.map(saturated),
        borrowed: if_shared(borrowed),
        lent: if_shared(lent),
        kept: saturated(it.inside - it.used),
        room,
    }
}

pub(super) fn recount(it: &Recount, now: jiff::Timestamp) -> v1::RecountQuotasResponse {
    let difference = |it: &Difference| v1::QuotaDifference {
        quota: it.quota.clone(),
        resource: it.resource.clone(),
        booked: saturated(it.booked.used),
        counted: saturated(it.counted.used),
    };
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    v1::RecountQuotasResponse {
        quotas: number(it.quotas),
        environments: number(it.environments),
        worker_pools: number(it.pools),
        capacity_leases: number(it.leases),
        differences: it.differences.iter().map(difference).collect(),
        counted_at: Some(convert::timestamp(now)),
    }
}

pub(super) fn read_target(
    spec: Option<v1::CapacityTargetSpec>,
    found: &mut Violations,
) -> CapacityTargetSpec {
    let spec = convert::spec(spec, found);
    let driver = match spec.driver.and_then(|driver| driver.kind) {
        Some(v1::driver::Kind::Process(v1::ProcessDriver {})) => DriverKind::Process,
        None => {
            let message = "no driver that this host knows is given: use `process`";
            found.add("spec.driver", message);
            DriverKind::Process
        }
    };
    CapacityTargetSpec {
        driver,
        capacity: convert::read_amounts(spec.capacity),
        cordoned: spec.cordoned,
        deletion_protection: spec.deletion_protection,
    }
}

pub(crate) fn target(target: &CapacityTarget, view: &View) -> v1::CapacityTarget {
    let id = target.id.to_string();
    let kind = match target.spec.driver {
        DriverKind::Process => v1::driver::Kind::Process(v1::ProcessDriver {}),
    };
    let said = target::conditions(target, &view.observed);
    let used = target::used(target, &view.records);
    let workers = amounts::get(&used, amounts::WORKERS);
    let seen = view.observed.targets.get(&target.id);
    v1::CapacityTarget {
        spec: Some(v1::CapacityTargetSpec {
            driver: Some(v1::Driver { kind: Some(kind) }),
            capacity: Some(convert::amounts(&target.spec.capacity)),
            cordoned: target.spec.cordoned,
            deletion_protection: target.spec.deletion_protection,
        }),
        observed: Some(v1::CapacityTargetObserved {
            conditions: convert::conditions(view, (&id, target.meta.generation), &said),
            used: Some(convert::amounts(&used)),
            workers: u32::try_from(workers).unwrap_or(u32::MAX),
            observed_at: seen.map(|seen| convert::timestamp(seen.observed_at)),
        }),
        metadata: Some(convert::metadata(id, &target.meta)),
    }
}
