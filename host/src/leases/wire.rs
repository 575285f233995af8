//! Leases, to and from the API's messages.

use proto::runtimecloud::v1::{self, CapacityLeaseState};

use super::{
    conditions::{self, Checked},
    line,
    model::{CapacityLease, CapacityLeaseSpec, Ending, Preemption, State},
};
use crate::{
    api::{View, convert},
    violations::Violations,
};

pub(super) fn read(
    spec: Option<v1::CapacityLeaseSpec>,
    found: &mut Violations,
) -> CapacityLeaseSpec {
    let spec = convert::spec(spec, found);
    let preemption = read_preemption(spec.preemption, found);
    let mut length = |field, length: Option<&_>| convert::read_duration(field, length, found);
    CapacityLeaseSpec {
        ttl: length("spec.ttl", spec.ttl.as_ref()),
        max_life: length("spec.max_life", spec.max_life.as_ref()),
        wait: length("spec.wait", spec.wait.as_ref()),
        amounts: convert::read_amounts(spec.amounts),
        holder: spec.holder,
        purpose: spec.purpose,
        priority: spec.priority,
        deletion_protection: spec.deletion_protection,
        preemption,
    }
}

fn read_preemption(number: i32, found: &mut Violations) -> Preemption {
    match v1::Preemption::try_from(number) {
        Ok(v1::Preemption::Unspecified | v1::Preemption::Never) => Preemption::Never,
        Ok(v1::Preemption::Reclaimable) => Preemption::Reclaimable,
        Err(_) => {
            found.add("spec.preemption", "this host does not know it: use never or reclaimable");
            Preemption::Never
        }
    }
}

fn spec(spec: &CapacityLeaseSpec) -> v1::CapacityLeaseSpec {
    v1::CapacityLeaseSpec {
        amounts: Some(convert::amounts(&spec.amounts)),
        ttl: spec.ttl.map(convert::duration),
        max_life: spec.max_life.map(convert::duration),
        holder: spec.holder.clone(),
        purpose: spec.purpose.clone(),
        priority: spec.priority,
        wait: spec.wait.map(convert::duration),
        deletion_protection: spec.deletion_protection,
        preemption: match spec.preemption {
            Preemption::Never => v1::Preemption::Never,
            Preemption::Reclaimable => v1::Preemption::Reclaimable,
        }
        .into(),
    }
}

pub(crate) fn lease(it: &CapacityLease, view: &View) -> v1::CapacityLease {
    let id = it.id.to_string();
    let said = conditions::conditions(it, &view.records);
    let mut said = convert::conditions(view, (&id, it.meta.generation), &said);
    for condition in &mut said {
        condition.changed_at = Some(convert::timestamp(conditions::changed_at(it)));
    }
    let mut observed = v1::CapacityLeaseObserved {
        conditions: said,
        observed_at: Some(convert::timestamp(view.now)),
        ..v1::CapacityLeaseObserved::default()
    };
    let state = match &it.state {
        State::Waiting { until, .. } => {
            observed.position = Some(line::position(&view.records, it));
            observed.wait_until = Some(convert::timestamp(*until));
            CapacityLeaseState::Waiting
        }
        State::Granted(_) => CapacityLeaseState::Granted,
        State::Ended { how, at, .. } => {
            observed.ended_at = Some(convert::timestamp(*at));
            match how {
                Ending::Expired => CapacityLeaseState::Expired,
                Ending::Reclaimed => CapacityLeaseState::Reclaimed,
                Ending::Released => CapacityLeaseState::Released,
                Ending::Refused => CapacityLeaseState::Refused,
            }
        }
    };
    observed.set_state(state);
    if let Some(grant) = it.grant() {
        observed.fencing_token = Some(grant.fencing_token);
        observed.granted_at = Some(convert::timestamp(grant.at));
        observed.expires_at = grant.expires_at.map(convert::timestamp);
    }
    observed.reclaimed_at = it.reclaim().map(|it| convert::timestamp(it.ends_at));
    let environment = view.records.environments.get(&it.environment);
    v1::CapacityLease {
        metadata: Some(convert::metadata(id, &it.meta)),
        environment: environment.map(|it| it.meta.name.clone()).unwrap_or_default(),
        spec: Some(spec(&it.spec)),
        observed: Some(observed),
    }
}

pub(super) fn checked(it: Checked, now: jiff::Timestamp) -> v1::CheckCapacityLeaseResponse {
    v1::CheckCapacityLeaseResponse {
        valid: it.valid,
        reason: it.reason.to_owned(),
        message: it.message,
        expires_at: it.expires_at.map(convert::timestamp),
        checked_at: Some(convert::timestamp(now)),
    }
}
