//! Quotas and capacity targets, to and from the API's messages.

use proto::runtimecloud::v1;

use super::{
    amounts,
    quota::{self, Limit, Quota, QuotaSpec},
    target::{self, CapacityTarget, CapacityTargetSpec, DriverKind},
    usage,
};
use crate::{
    api::{View, convert},
    violations::Violations,
};

pub(super) fn read_quota(spec: Option<v1::QuotaSpec>, found: &mut Violations) -> QuotaSpec {
    let spec = convert::spec(spec, found);
    let limit = |limit: v1::Limit| Limit { hard: limit.hard, soft: limit.soft };
    QuotaSpec {
        limits: spec.limits.into_iter().map(|(name, it)| (name, limit(it))).collect(),
        deletion_protection: spec.deletion_protection,
    }
}

pub(crate) fn quota(quota: &Quota, view: &View) -> v1::Quota {
    let id = quota.id.to_string();
    let limit = |limit: &Limit| v1::Limit { hard: limit.hard, soft: limit.soft };
    let used = usage::of_quota(&view.records, quota);
    let said = quota::conditions(quota, &used);
    v1::Quota {
        spec: Some(v1::QuotaSpec {
            limits: quota.spec.limits.iter().map(|(name, it)| (name.clone(), limit(it))).collect(),
            deletion_protection: quota.spec.deletion_protection,
        }),
        observed: Some(v1::QuotaObserved {
            conditions: convert::conditions(view, (&id, quota.meta.generation), &said),
            used: Some(convert::amounts(&used)),
            observed_at: Some(convert::timestamp(view.now)),
        }),
        metadata: Some(convert::metadata(id, &quota.meta)),
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
