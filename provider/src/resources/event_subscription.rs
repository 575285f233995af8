//! `runtimecloud_event_subscription`: where the host's events are posted to.
//!
//! Invariant: the secret is in the configuration and in calls of the host, and nowhere else.

use std::time::Duration;

use proto::{duration, runtimecloud::v1 as api};

use super::{
    attributes::{self, DAY, check_time, deletion_protection_of, time_from_api, time_to_api},
    managed::Kind,
};
use crate::framework::{Attribute, Diagnostics, Path, Type, Validator, Value};

pub(crate) struct EventSubscription;

/// The rule for how long an attempt may take.
const TIMEOUT: Validator = Validator::Custom(|value| {
    check_time(value, Duration::from_millis(100)..=Duration::from_secs(60))
});

/// The rule for the first pause between attempts.
const FIRST_PAUSE: Validator = Validator::Custom(|value| {
    check_time(value, Duration::from_millis(10)..=Duration::from_secs(60 * 60))
});

/// The rule for the longest.
const LONGEST_PAUSE: Validator =
    Validator::Custom(|value| check_time(value, Duration::from_millis(10)..=DAY));

impl Kind for EventSubscription {
    type Noun = api::EventSubscription;

    const TYPE: &'static str = "runtimecloud_event_subscription";
    const DESCRIPTION: &'static str = "Where events are posted to, as signed CloudEvents: in order, at \
        least once, and again when that fails. It begins with what happens after its creation. How \
        deliveries go is in the data source. The secret is in no state and no plan.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name(
                "Name, unique among event subscriptions. A change replaces the subscription.",
            ),
            Attribute::string(
                "url",
                "Address of `http` or `https`, without a user. Redirects are not followed.",
            )
            .required()
            .check(Validator::pattern("an address of `http` or `https`", is_address)),
            filter(
                "types",
                "Only events of these types, such as `WorkerPoolStateChanged`; all if left out.",
            ),
            filter("subject_ids", "Only events about the resources of these ids; all if left out."),
            filter(
                "environments",
                "Only events about the environments of these names and what lies in them; all if \
                 left out.",
            ),
            attributes::description(),
            Attribute::bool(
                "suspended",
                "While `true`, nothing is sent; then it goes on where it stopped. `false` if left \
                 out.",
            )
            .default(false),
            attributes::time(
                "timeout",
                "How long one attempt may take: `100ms` to `60s`. `10s` if left out.",
            )
            .default("10s")
            .check(TIMEOUT),
            Attribute::number(
                "max_attempts",
                "How often an event is tried before it is put aside: 1 to 100. `12` if left out.",
            )
            .default(12_u32)
            .check(Validator::Integer)
            .check(Validator::range(1_u32..=100)),
            attributes::time(
                "retry_min",
                "The first pause between attempts, which doubles each time: `10ms` to `1h`. `1s` if \
                 left out.",
            )
            .default("1s")
            .check(FIRST_PAUSE),
            attributes::time(
                "retry_max",
                "The longest pause between attempts, no shorter than `retry_min`: up to `24h`. `10m` \
                 if left out.",
            )
            .default("10m")
            .check(LONGEST_PAUSE),
            Attribute::string(
                "secret_wo",
                "What signs, as the Standard Webhooks convention says: `whsec_` and 24 to 64 random \
                 bytes in base64. It is sent when the subscription is created, and when \
                 `secret_wo_version` changes. Needs Terraform 1.11 or newer.",
            )
            .required()
            .sensitive()
            .write_only()
            .check(Validator::Custom(check_secret)),
            Attribute::number(
                "secret_wo_version",
                "Any number. Change it together with `secret_wo`: for a day, the secret before signs \
                 as well.",
            ),
        ]
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        let time = |name, default| match config.get(name) {
            Value::Null => duration::parse(default).ok(),
            text => duration::parse(text.as_str()?).ok(),
        };
        if let (Some(first), Some(longest)) = (time("retry_min", "1s"), time("retry_max", "10m"))
            && first > longest
        {
            diagnostics.error(
                Path::attribute("retry_min"),
                "First pause above the longest",
                "Pauses grow from `retry_min` to `retry_max`: lower `retry_min`, or raise \
                 `retry_max`.",
            );
        }
    }

    fn spec(&self, values: &Value) -> api::EventSubscriptionSpec {
        api::EventSubscriptionSpec {
            url: values.text("url").to_owned(),
            types: values.get("types").strings(),
            subject_ids: values.get("subject_ids").strings(),
            environments: values.get("environments").strings(),
            description: values.text("description").to_owned(),
            suspended: values.get("suspended").as_bool().unwrap_or(false),
            timeout: time_to_api(values.get("timeout")),
            max_attempts: values.get("max_attempts").as_u32().unwrap_or_default(),
            retry_min: time_to_api(values.get("retry_min")),
            retry_max: time_to_api(values.get("retry_max")),
            deletion_protection: deletion_protection_of(values),
            secret: values.text("secret_wo").to_owned(),
        }
    }

    fn values(&self, spec: &api::EventSubscriptionSpec) -> Vec<(&'static str, Value)> {
        let filter = |of: &Vec<String>| {
            if of.is_empty() { Value::Null } else { Value::set(of.iter().map(String::as_str)) }
        };
        vec![
            ("url", spec.url.as_str().into()),
            ("types", filter(&spec.types)),
            ("subject_ids", filter(&spec.subject_ids)),
            ("environments", filter(&spec.environments)),
            ("description", attributes::text_or_null(&spec.description)),
            ("suspended", spec.suspended.into()),
            ("timeout", time_from_api(spec.timeout.as_ref())),
            ("max_attempts", spec.max_attempts.into()),
            ("retry_min", time_from_api(spec.retry_min.as_ref())),
            ("retry_max", time_from_api(spec.retry_max.as_ref())),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }
}

/// Names, of which at least one is given.
fn filter(name: &'static str, description: &'static str) -> Attribute {
    Attribute::value(name, Type::set(Type::String), description)
        .check(Validator::length(1..=100))
        .check(Validator::each(Validator::length(1..=128)))
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && text.len() <= 2048 && !text.contains('#'))
}

fn check_secret(value: &Value) -> Result<(), String> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let encoded = value.as_str().unwrap_or_default().strip_prefix("whsec_");
    let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
    if bytes.is_some_and(|bytes| (24..=64).contains(&bytes.len())) {
        return Ok(());
    }
    // What it is instead stays unsaid.
    Err("must be `whsec_` and 24 to 64 bytes in base64".to_owned())
}
