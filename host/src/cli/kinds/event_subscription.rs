//! Event subscriptions.

use proto::runtimecloud::v1::{EventSubscription, EventSubscriptionSpec};
use serde_json::{Map, Value};

use super::{Declared, Resource, object, text_or_null};
use crate::{
    cli::{document::fields::Fields, text},
    subscriptions::model::{
        ATTEMPTS_DEFAULT, RETRY_MAX_DEFAULT, RETRY_MIN_DEFAULT, TIMEOUT_DEFAULT,
    },
};

pub const HEADERS: &[&str] = &["NAME", "URL", "BEHIND", "DELIVERED", "DEAD", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> EventSubscriptionSpec {
    fields.require("url", r#"url = "https://example.com/hooks""#);
    EventSubscriptionSpec {
        url: fields.text("url"),
        types: fields.texts("types"),
        subject_ids: fields.texts("subject_ids"),
        environments: fields.texts("environments"),
        description: fields.text("description"),
        suspended: fields.flag("suspended"),
        timeout: fields.duration("timeout"),
        max_attempts: fields.count("max_attempts", 1..=100),
        retry_min: fields.duration("retry_min"),
        retry_max: fields.duration("retry_max"),
        deletion_protection: fields.flag("deletion_protection"),
        secret: fields.text("secret"),
    }
}

/// Without the secret, which nobody shows.
pub fn show(spec: &EventSubscriptionSpec) -> Map<String, Value> {
    let time = |given: &Option<prost_types::Duration>, default| {
        let given = given.and_then(|it| std::time::Duration::try_from(it).ok());
        Value::from(proto::duration::print(given.unwrap_or(default)))
    };
    let filter = |of: &[String]| {
        let mut of = of.to_vec();
        of.sort();
        of.dedup();
        if of.is_empty() { Value::Null } else { of.into() }
    };
    let attempts = if spec.max_attempts == 0 { ATTEMPTS_DEFAULT } else { spec.max_attempts };
    object([
        ("url", spec.url.as_str().into()),
        ("types", filter(&spec.types)),
        ("subject_ids", filter(&spec.subject_ids)),
        ("environments", filter(&spec.environments)),
        ("description", text_or_null(&spec.description)),
        ("suspended", spec.suspended.into()),
        ("timeout", time(&spec.timeout, TIMEOUT_DEFAULT)),
        ("max_attempts", attempts.into()),
        ("retry_min", time(&spec.retry_min, RETRY_MIN_DEFAULT)),
        ("retry_max", time(&spec.retry_max, RETRY_MAX_DEFAULT)),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

pub fn row(resource: &Resource) -> Vec<String> {
    let url = resource.spec.get("url").and_then(Value::as_str).unwrap_or("-");
    let seen = |name: &str| resource.seen(name).to_string();
    vec![url.to_owned(), seen("behind"), seen("delivered"), seen("dead_letters")]
}

impl From<EventSubscription> for Resource {
    fn from(subscription: EventSubscription) -> Self {
        let observed = subscription.observed.unwrap_or_default();
        let metadata = subscription.metadata.unwrap_or_default();
        let time = |time: &Option<prost_types::Timestamp>| text::time(time.as_ref());
        Self {
            kind: Declared::EventSubscription,
            key: metadata.name.clone(),
            metadata,
            spec: show(&subscription.spec.unwrap_or_default()),
            observed: object([
                ("position", observed.position.into()),
                ("behind", observed.behind.into()),
                ("delivered", observed.delivered.into()),
                ("dead_letters", observed.dead_letters.into()),
                ("attempts", observed.attempts.into()),
                ("next_attempt_at", time(&observed.next_attempt_at)),
                ("delivered_at", time(&observed.delivered_at)),
                ("failed_at", time(&observed.failed_at)),
                ("failure", text_or_null(&observed.failure)),
                ("secret_changed_at", time(&observed.secret_changed_at)),
                ("observed_at", time(&observed.observed_at)),
            ]),
            conditions: observed.conditions,
        }
    }
}
