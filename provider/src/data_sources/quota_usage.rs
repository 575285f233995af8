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
        let text = |name, description| Attribute::string(name, description).computed();
        let number = |name, description| Attribute::number(name, description).computed();
        let resource = [
            text("hard", "What is never exceeded; null without such a limit."),
            text("soft", "What is reported when exceeded; null without such a limit."),
            text("used", "What all worker pools of its environments ask for."),
            text("free", "What is left of `hard`; null without such a limit."),
            number("hard_amount", "`hard` in millicores, bytes or whole units."),
            number("soft_amount", "`soft` in millicores, bytes or whole units."),
            number("used_amount", "`used` in millicores, bytes or whole units."),
            number("free_amount", "`free` in millicores, bytes or whole units."),
        ];
        Schema::new(
            "What a quota allows of each resource, what is used of it now, and what is left; each as \
             people write it and as an exact number.",
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
            let used = observed.used.unwrap_or_default().amounts;
            Ok(Value::object([
                ("resources", usage(&limits, &used)),
                ("observed_at", observed::time_value(observed.observed_at.as_ref())),
            ]))
        })
    }
}

fn usage(limits: &BTreeMap<String, api::Limit>, used: &BTreeMap<String, u64>) -> Value {
    let resources: BTreeSet<&String> = limits.keys().chain(used.keys()).collect();
    Value::map(resources.into_iter().map(|resource| {
        let api::Limit { hard, soft } = limits.get(resource).copied().unwrap_or_default();
        let used = used.get(resource).copied().unwrap_or(0);
        // More than `hard` is in use when the limit was lowered: then nothing is free.
        let free = hard.map(|hard| hard.saturating_sub(used));
        let amounts = [
            ("hard", "hard_amount", hard),
            ("soft", "soft_amount", soft),
            ("used", "used_amount", Some(used)),
            ("free", "free_amount", free),
        ];
        let values = amounts.into_iter().flat_map(|(text, number, amount)| {
            let written = amount.map(|amount| amounts::text(resource, amount));
            [(text, written.into()), (number, amount.into())]
        });
        (resource, Value::object(values))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_that_is_limited_or_used_is_there_with_what_is_left() {
        let limit = |hard, soft| api::Limit { hard, soft };
        let limits = BTreeMap::from([
            ("cpu".to_owned(), limit(Some(2000), Some(1500))),
            ("memory".to_owned(), limit(None, Some(1 << 30))),
            ("workers".to_owned(), limit(Some(2), None)),
        ]);
        let used = BTreeMap::from([("cpu".to_owned(), 500), ("disk".to_owned(), 7)]);
        let used = used.into_iter().chain([("workers".to_owned(), 3)]).collect();
        let usage = usage(&limits, &used);
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
    }
}
