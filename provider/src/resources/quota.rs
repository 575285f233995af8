//! `runtimecloud_quota`: how much the worker pools of some environments may use together.

use proto::runtimecloud::v1 as api;

use super::{
    amounts,
    attributes::{self, deletion_protection_of},
    managed::Kind,
};
use crate::framework::{Attribute, Diagnostics, Nesting, Path, Validator, Value};

pub(crate) struct Quota;

impl Kind for Quota {
    type Noun = api::Quota;

    const TYPE: &'static str = "runtimecloud_quota";
    const DESCRIPTION: &'static str = "How much the worker pools of the environments that are \
        bound to it may use together.";

    fn attributes(&self) -> Vec<Attribute> {
        let limit =
            |name, description| Attribute::string(name, description).equal(amounts::mean_the_same);
        vec![
            attributes::name("Name, unique among quotas. A change replaces the quota."),
            Attribute::nested(
                "limits",
                Nesting::Map,
                "Limits by resource: `cpu` (as in `500m` or `2`), `memory` (as in `512Mi` or \
                 `4Gi`), `workers`, or any other name. What is not named has no limit.",
                [
                    limit("hard", "Never exceeded: what would exceed it is refused."),
                    limit(
                        "soft",
                        "What exceeds it is granted, and shown as a condition. At most `hard`.",
                    ),
                ],
            )
            .required()
            .check(Validator::length(0..=attributes::RESOURCES_MAX))
            .check(Validator::keys(attributes::resource()))
            .check(Validator::each(Validator::AtLeastOneOf(&["hard", "soft"]))),
        ]
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        for (resource, limit) in config.get("limits").entries() {
            let path = Path::attribute("limits").key(resource);
            let (hard, soft) = (limit.get("hard"), limit.get("soft"));
            amounts::check_one(resource, hard, &path.child("hard"), diagnostics);
            amounts::check_one(resource, soft, &path.child("soft"), diagnostics);
            let amount = |text| amounts::amount(resource, text);
            if let (Some(most), Some(soft)) = (amount(hard), amount(soft))
                && soft > most
            {
                diagnostics.error(
                    path.child("soft"),
                    "Soft limit above the hard one",
                    "The soft limit is never reached so: lower it to at most `hard`, or raise \
                     `hard`.",
                );
            }
        }
    }

    fn spec(&self, values: &Value) -> api::QuotaSpec {
        let limits = values.get("limits").entries().map(|(resource, limit)| {
            let amount = |name| amounts::amount(resource, limit.get(name));
            (resource.to_owned(), api::Limit { hard: amount("hard"), soft: amount("soft") })
        });
        api::QuotaSpec {
            limits: limits.collect(),
            deletion_protection: deletion_protection_of(values),
        }
    }

    fn values(&self, spec: &api::QuotaSpec) -> Vec<(&'static str, Value)> {
        let limits = spec.limits.iter().map(|(resource, limit)| {
            let text = |amount: Option<u64>| amount.map(|a| amounts::text(resource, a)).into();
            (resource, Value::object([("hard", text(limit.hard)), ("soft", text(limit.soft))]))
        });
        vec![
            ("limits", Value::map(limits)),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }

    fn frees_room(&self, prior: &Value, planned: &Value) -> bool {
        !prior.is_null() && prior != planned
    }
}
