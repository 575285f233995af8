//! `runtimecloud_quota_usage`: what a quota allows, what is used of it, and what is left.

use std::collections::{BTreeMap, BTreeSet};

use proto::runtimecloud::v1 as api;

use super::{found::report_at, observed};
use crate::{
    client::Client,
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Nesting, Reported, Schema,
        Validator, Value,
    },
    resources::amounts,
};

pub(super) struct QuotaUsage;

impl DataSource<Client> for QuotaUsage {
    fn type_name(&self) -> &'static str {
        "runtimecloud_quota_usage"
    }

    fn schema(&self) -> Schema {
        let texts = FIGURES.iter().map(|it| Attribute::string(it.text, it.description).computed());
        let numbers = FIGURES.iter().map(|it| Attribute::number(it.number, it.exactly).computed());
        let resource: Vec<_> = texts.chain(numbers).collect();
        Schema::new(
            "What a quota allows of each resource, what is used of it and of all under it now, what of \
             that is borrowed, and what is left; each as people write it and as an exact number.",
        )
        .attributes([
            Attribute::string("quota", "The quota: its name or id.")
                .required()
                .check(Validator::length(1..=128)),
            Attribute::nested(
                "resources",
                Nesting::Map,
                "By resource: each that is limited or used.",
                resource,
            )
            .computed(),
            observed::time("observed_at", "When the use was counted, as RFC 3339 writes it."),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let quota = client.get::<api::Quota>(config.text("quota"), context).await;
            let quota = quota.map_err(|error| report_at(&error, "quota", diagnostics))?;
            let limits = quota.spec.unwrap_or_default().limits;
            let observed = quota.observed.unwrap_or_default();
            Ok(Value::object([
                ("resources", usage(&limits, &observed.resources)),
                ("observed_at", observed::time_value(observed.observed_at.as_ref())),
            ]))
        })
    }
}

type Uses = BTreeMap<String, api::QuotaUse>;

/// One figure of a resource, as a text and as a number.
struct Figure {
    text: &'static str,
    description: &'static str,
    number: &'static str,
    exactly: &'static str,
    pick: fn(&api::Limit, &api::QuotaUse) -> Option<u64>,
}

macro_rules! figures {
    ($($name:literal, $description:literal, $pick:expr;)*) => {
        &[$(Figure {
            text: $name,
            description: $description,
            number: concat!($name, "_amount"),
            exactly: concat!("`", $name, "` in millicores, bytes or whole units."),
            pick: $pick,
        },)*]
    };
}

const FIGURES: &[Figure] = figures! {
    "hard", "What is never exceeded; null without such a limit.", |limit, _| limit.hard;
    "soft", "What is reported when exceeded; null without such a limit.", |limit, _| limit.soft;
    "share", "What is its own: its share, or else the sum of the shares under it; null if it has none.",
        |_, it| it.share;
    "used", "What all worker pools and granted leases of its environments, and of the quotas under it, \
             ask for.",
        |_, it| Some(it.used);
    "used_directly", "The part of `used` of the environments that are bound to it itself.",
        |_, it| Some(it.used_directly);
    "borrowed", "How much more than its share is used.", |_, it| Some(it.borrowed);
    "lent", "What it leaves unused of its share and could not have at once.", |_, it| Some(it.lent);
    "kept", "What is kept for quotas under it that do not lend it.", |_, it| Some(it.kept);
    // More than `hard` is in use when the limit was lowered: then nothing is free.
    "free", "What is left of `hard`; null without such a limit.",
        |limit, it| limit.hard.map(|hard| hard.saturating_sub(it.used));
    "room", "How much more is granted at once, by all quotas above it too; null if without end.",
        |_, it| it.room;
};

fn usage(limits: &BTreeMap<String, api::Limit>, uses: &Uses) -> Value {
    let resources: BTreeSet<&String> = limits.keys().chain(uses.keys()).collect();
    Value::map(resources.into_iter().map(|resource| {
        let limit = limits.get(resource).copied().unwrap_or_default();
        let of = uses.get(resource).copied().unwrap_or_default();
        let values = FIGURES.iter().flat_map(|it| {
            let amount = (it.pick)(&limit, &of);
            let written = amount.map(|amount| amounts::text(resource, amount));
            [(it.text, written.into()), (it.number, amount.into())]
        });
        (resource, Value::object(values))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_that_is_limited_or_used_is_there_with_what_is_left() {
        let limit = |hard, soft| api::Limit { hard, soft, ..api::Limit::default() };
        let limits = BTreeMap::from([
            ("cpu".to_owned(), limit(Some(2000), Some(1500))),
            ("memory".to_owned(), limit(None, Some(1 << 30))),
            ("workers".to_owned(), limit(Some(2), None)),
        ]);
        let used = |used| api::QuotaUse { used, ..api::QuotaUse::default() };
        let cpu = api::QuotaUse { share: Some(300), borrowed: 200, room: Some(100), ..used(500) };
        let uses = [("cpu", cpu), ("disk", used(7)), ("workers", used(3))];
        let uses = uses.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        let usage = usage(&limits, &uses);
        let row = |resource: &str| {
            let texts = ["hard", "soft", "used", "free"]
                .map(|name| usage.get(resource).get(name).as_str().unwrap_or("none").to_owned());
            texts.join(" ")
        };
        assert_eq!(row("cpu"), "2 1500m 500m 1500m");
        assert_eq!(row("memory"), "none 1Gi 0 none");
        assert_eq!(row("disk"), "none none 7 none");
        assert_eq!(row("workers"), "2 none 3 0", "more is used than is allowed by now");
        assert_eq!(usage.get("cpu").get("free_amount").as_u64(), Some(1500));
        assert_eq!(usage.get("cpu").get("borrowed").as_str(), Some("200m"));
        assert_eq!(usage.get("cpu").get("room").as_str(), Some("100m"));
    }
}
