//! Event subscriptions, to and from the API's messages.

use proto::runtimecloud::v1;

use super::{
    delivery::{DeadLetter, conditions},
    model::{
        ATTEMPTS_DEFAULT, EventSubscription, EventSubscriptionSpec, RETRY_MAX_DEFAULT,
        RETRY_MIN_DEFAULT, TIMEOUT_DEFAULT,
    },
    vault::Vault,
};
use crate::{
    api::{View, convert},
    violations::Violations,
};

pub(super) fn read(
    spec: Option<v1::EventSubscriptionSpec>,
    vault: &Vault,
    found: &mut Violations,
) -> EventSubscriptionSpec {
    let spec = convert::spec(spec, found);
    let mut duration = |field: &str, time: &Option<prost_types::Duration>, default| {
        convert::read_duration(field, time.as_ref(), found).unwrap_or(default)
    };
    let timeout = duration("spec.timeout", &spec.timeout, TIMEOUT_DEFAULT);
    let retry_min = duration("spec.retry_min", &spec.retry_min, RETRY_MIN_DEFAULT);
    let retry_max = duration("spec.retry_max", &spec.retry_max, RETRY_MAX_DEFAULT.max(retry_min));
    let secret = convert::text(spec.secret).and_then(|secret| match vault.seal(&secret) {
        Ok(sealed) => Some(sealed),
        Err(fault) => {
            found.add("spec.secret", fault.to_string());
            None
        }
    });
    EventSubscriptionSpec {
        url: spec.url,
        types: in_order(spec.types),
        subject_ids: in_order(spec.subject_ids),
        environments: in_order(spec.environments),
        description: spec.description,
        suspended: spec.suspended,
        timeout,
        max_attempts: if spec.max_attempts == 0 { ATTEMPTS_DEFAULT } else { spec.max_attempts },
        retry_min,
        retry_max,
        deletion_protection: spec.deletion_protection,
        secret,
    }
}

/// A filter means the same in any order.
fn in_order(mut filter: Vec<String>) -> Vec<String> {
    filter.sort();
    filter.dedup();
    filter
}

pub(crate) fn subscription(it: &EventSubscription, view: &View) -> v1::EventSubscription {
    let id = it.id.to_string();
    let stand = view.stands.get(&it.id).cloned().unwrap_or_default();
    let (delivery, dead_letters) = (&stand.delivery, stand.dead_letters);
    let said = conditions(it, delivery, (dead_letters, view.last_position));
    let spec = &it.spec;
    v1::EventSubscription {
        metadata: Some(convert::metadata(id.clone(), &it.meta)),
        spec: Some(v1::EventSubscriptionSpec {
            url: spec.url.clone(),
            types: spec.types.clone(),
            subject_ids: spec.subject_ids.clone(),
            environments: spec.environments.clone(),
            description: spec.description.clone(),
            suspended: spec.suspended,
            timeout: Some(convert::duration(spec.timeout)),
            max_attempts: spec.max_attempts,
            retry_min: Some(convert::duration(spec.retry_min)),
            retry_max: Some(convert::duration(spec.retry_max)),
            deletion_protection: spec.deletion_protection,
            secret: String::new(),
        }),
        observed: Some(v1::EventSubscriptionObserved {
            conditions: convert::conditions(view, (&id, it.meta.generation), &said),
            position: delivery.position,
            behind: view.last_position.saturating_sub(delivery.position),
            delivered: delivery.delivered,
            dead_letters,
            attempts: delivery.attempts,
            next_attempt_at: delivery.next_attempt_at.map(convert::timestamp),
            delivered_at: delivery.delivered_at.map(convert::timestamp),
            failed_at: delivery.failure.as_ref().map(|it| convert::timestamp(it.at)),
            failure: delivery.failure.as_ref().map(|it| it.why.clone()).unwrap_or_default(),
            secret_changed_at: Some(convert::timestamp(it.secret_changed_at)),
            observed_at: Some(convert::timestamp(view.now)),
        }),
    }
}

pub(super) fn dead_letter(it: DeadLetter) -> v1::DeadLetter {
    v1::DeadLetter {
        position: it.position,
        event_id: it.event_id,
        event_type: it.event_type,
        body: it.body,
        attempts: it.attempts,
        failure: it.failure.why,
        failed_at: Some(convert::timestamp(it.failure.at)),
        redelivering: it.redelivering,
    }
}
