//! `runtimecloud_capacity_lease`: the right to use an amount of a quota for a time.

mod grant;

use std::time::Duration;

use proto::{
    duration,
    runtimecloud::v1::{self as api, CapacityLeaseState},
};

use super::{
    amounts,
    attributes::{
        self, DAY, check_time, deletion_protection_of, text_or_null, time, time_from_api,
        time_of_api, time_to_api,
    },
    managed::{Kind, Settled, lifecycle::TAINTED},
};
use crate::{
    client::Client,
    framework::{
        Attribute, BoxFuture, Context, Diagnostics, Path, Reported, Timeouts, Validator, Value,
    },
};

pub(crate) use self::grant::wait_until_granted;

pub(crate) struct CapacityLease;

impl Kind for CapacityLease {
    type Noun = api::CapacityLease;

    const TYPE: &'static str = "runtimecloud_capacity_lease";
    const DESCRIPTION: &'static str = "The right to use an amount of an environment's quota, for a \
        time or until it is destroyed. Creating it waits until it is granted. Terraform does not \
        renew it: with `ttl` or `max_life` it ends by itself, and the next plan makes another.";
    const PARENT: Option<&'static str> = Some("environment");

    fn attributes(&self) -> Vec<Attribute> {
        let head = [
            attributes::name(
                "Name, unique among the environment's leases that have not ended. A change \
                 replaces the lease.",
            ),
            attributes::name_of(
                "environment",
                "Name of the environment whose quota is used. A change replaces the lease.",
            )
            .required()
            .replace(),
        ];
        head.into_iter()
            .chain(asked_for())
            .chain(given().map(Attribute::keep_prior_unless_null))
            .collect()
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        check(config, ("create", Timeouts::of(config).create), diagnostics);
    }

    fn spec(&self, values: &Value) -> api::CapacityLeaseSpec {
        api::CapacityLeaseSpec {
            deletion_protection: deletion_protection_of(values),
            ..spec(values)
        }
    }

    fn values(&self, spec: &api::CapacityLeaseSpec) -> Vec<(&'static str, Value)> {
        vec![
            ("amounts", amounts::from_api(spec.amounts.as_ref())),
            ("ttl", time_from_api(spec.ttl.as_ref())),
            ("max_life", time_from_api(spec.max_life.as_ref())),
            ("holder", text_or_null(&spec.holder)),
            ("purpose", text_or_null(&spec.purpose)),
            ("priority", spec.priority.into()),
            ("wait", time_from_api(spec.wait.as_ref())),
            ("preemption", preemption_from_api(spec.preemption()).into()),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }

    fn given(&self, lease: &api::CapacityLease) -> Vec<(&'static str, Value)> {
        let observed = lease.observed.clone().unwrap_or_default();
        vec![
            ("fencing_token", observed.fencing_token.into()),
            ("granted_at", time_of_api(observed.granted_at.as_ref())),
        ]
    }

    fn ending(&self, lease: &api::CapacityLease) -> Option<String> {
        grant::ending(lease)
    }

    fn frees_room(&self, prior: &Value, planned: &Value) -> bool {
        !prior.is_null() && asks_for_less(prior, planned)
    }

    fn takes_room(&self, prior: &Value, planned: &Value) -> bool {
        !planned.is_null() && asks_for_less(planned, prior)
    }

    fn settle<'a>(
        &'a self,
        context: &'a Context<Client>,
        asked: &'a mut api::CapacityLease,
        (prior, _): (&'a Value, &'a Value),
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Settled, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let tainted = if prior.is_null() { TAINTED } else { "" };
            let left = format!("It stays in line, and in the state as it is.{tainted}");
            *asked = wait_until_granted(client, context, asked)
                .await
                .map_err(|why| why.report(&left, diagnostics))?;
            Ok(Settled::Awaited)
        })
    }
}

const NEVER: &str = "never";
const RECLAIMABLE: &str = "reclaimable";

/// What a lease asks for, however long it is held.
pub(crate) fn asked_for() -> [Attribute; 8] {
    [
        attributes::amounts(
            "amounts",
            "What may be used, by resource: `cpu` (as in `500m` or `2`), `memory` (as in `512Mi`), \
             `workers`, or any other name but `leases`. All of it is granted, or nothing.",
        )
        .required()
        .check(Validator::length(1..=64)),
        time(
            "ttl",
            "How long it lives after its grant or its last renewal, `1s` to 366 days. It lives \
             until it is destroyed if left out.",
        )
        .check(Validator::Custom(|value| check_time(value, SECOND..=DAY * 366))),
        time(
            "max_life",
            "How long it lives at most, however often it is renewed: `1s` to 3,660 days.",
        )
        .check(Validator::Custom(|value| check_time(value, SECOND..=DAY * 3_660))),
        Attribute::string("holder", "Who uses the capacity, for people.").check(TEXT),
        Attribute::string("purpose", "What it is for, for people.").check(TEXT),
        Attribute::number(
            "priority",
            "A higher one stands before a lower one in line: -1,000 to 1,000. `0` if left out.",
        )
        .default(0_u32)
        .check(Validator::Integer)
        .check(Validator::range(-1_000_i64..=1_000)),
        time(
            "wait",
            "How long it may stand in line when it can not be granted at once, up to 30 days. It \
             is refused at once if left out.",
        )
        .check(Validator::Custom(|value| check_time(value, Duration::ZERO..=DAY * 30))),
        Attribute::string(
            "preemption",
            "`reclaimable`: when the owner of a share waits for what is borrowed here, the lease is told, \
             and ends after the notice of the quota that gives the shares. `never` if left out.",
        )
        .default(NEVER)
        .check(Validator::OneOf(&[NEVER, RECLAIMABLE])),
    ]
}

const SECOND: Duration = Duration::from_secs(1);

const TEXT: Validator =
    Validator::pattern("at most 1,024 bytes without control characters", |text| {
        text.len() <= 1_024 && !text.chars().any(char::is_control)
    });

/// What the host gives with the grant, null before it. It stays the same as long as the lease does.
pub(crate) fn given() -> [Attribute; 2] {
    [
        Attribute::number(
            "fencing_token",
            "The number of the grant, higher than that of all grants before it.",
        )
        .computed(),
        Attribute::string("granted_at", "When it was granted, as RFC 3339 writes it.").computed(),
    ]
}

/// The host's specification of [`asked_for`].
pub(crate) fn spec(values: &Value) -> api::CapacityLeaseSpec {
    let priority = values.get("priority").as_i64().and_then(|it| i32::try_from(it).ok());
    api::CapacityLeaseSpec {
        amounts: Some(amounts::to_api(values.get("amounts"))),
        ttl: time_to_api(values.get("ttl")),
        max_life: time_to_api(values.get("max_life")),
        holder: values.text("holder").to_owned(),
        purpose: values.text("purpose").to_owned(),
        priority: priority.unwrap_or_default(),
        wait: time_to_api(values.get("wait")),
        preemption: match values.text("preemption") {
            RECLAIMABLE => api::Preemption::Reclaimable,
            _ => api::Preemption::Never,
        }
        .into(),
        deletion_protection: false,
    }
}

/// Rules for [`asked_for`] that the schema can't say. The grant is waited for within the time of an
/// operation.
pub(crate) fn check(
    config: &Value,
    (operation, time): (&str, Duration),
    diagnostics: &mut Diagnostics,
) {
    let path = Path::attribute("amounts");
    amounts::check(config.get("amounts"), &path, diagnostics);
    for (resource, text) in config.get("amounts").entries() {
        let path = path.key(resource);
        if resource == "leases" {
            diagnostics.error(
                path,
                "Counted by the host",
                "Every granted lease uses one of `leases` by itself. Leave it out.",
            );
        } else if amounts::amount(resource, text) == Some(0) {
            diagnostics.error(
                path,
                "Nothing is asked for",
                "Give an amount above zero, or leave the resource out.",
            );
        }
    }
    let length = |name| {
        let length = time_to_api(config.get(name));
        length.and_then(|length| Duration::try_from(length).ok())
    };
    if length("wait").is_some_and(|wait| wait > time) && config.get("timeouts").is_wholly_known() {
        let time = duration::print(time);
        diagnostics.warning(
            "wait",
            "Given up before",
            format!(
                "Terraform waits for the grant for {time} only, and then fails. To stand in line for as \
                 long as `wait` says, give `timeouts` a `{operation}` that is longer."
            ),
        );
    }
    if let (Some(ttl), Some(life)) = (length("ttl"), length("max_life"))
        && ttl > life
    {
        diagnostics.error(
            "ttl",
            "Longer than it lives at most",
            "It never lives for `ttl`, since `max_life` is shorter: lower `ttl`, or raise `max_life`.",
        );
    }
}

fn preemption_from_api(preemption: api::Preemption) -> &'static str {
    match preemption {
        api::Preemption::Unspecified | api::Preemption::Never => NEVER,
        api::Preemption::Reclaimable => RECLAIMABLE,
    }
}

/// Whether, of some resource, `other` asks for less than `one`; null asks for nothing.
fn asks_for_less(one: &Value, other: &Value) -> bool {
    let amounts = |values: &Value| amounts::to_api(values.get("amounts")).amounts;
    let (one, other) = (amounts(one), amounts(other));
    one.iter().any(|(resource, amount)| other.get(resource).unwrap_or(&0) < amount)
}

/// A state in one lower-case word.
pub(crate) fn word(state: CapacityLeaseState) -> String {
    state.as_str_name().trim_start_matches("CAPACITY_LEASE_STATE_").to_lowercase()
}
