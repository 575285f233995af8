//! `runtimecloud_quota`: how much some environments may use together, and its place in a tree.

use std::time::Duration;

use proto::runtimecloud::v1 as api;

use super::{
    amounts,
    attributes::{
        self, check_time, deletion_protection_of, text_or_null, time, time_from_api, time_to_api,
    },
    managed::Kind,
};
use crate::framework::{Attribute, Diagnostics, Nesting, Path, Validator, Value};

pub(crate) struct Quota;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The parts of a limit.
const LIMITS: [(&str, &str); 5] = [
    ("hard", "Never exceeded: what would exceed it is refused."),
    ("soft", "What exceeds it is granted, and shown as a condition. At most `hard`."),
    (
        "share",
        "What is its own of what the parent has: others may use it only while it is not used here. At \
         most `hard`.",
    ),
    (
        "borrowing",
        "How much more than `share` may be used while others leave it unused. As much as there is if \
         left out.",
    ),
    (
        "lending",
        "How much others may use of what is left unused of `share`; the rest is kept. All of it if left \
         out.",
    ),
];

/// What is at most something else, and how it is called when it is not.
const AT_MOST: &[(&str, &str, &str)] = &[
    ("soft", "hard", "Soft limit above the hard one"),
    ("share", "hard", "Share above the hard limit"),
    ("lending", "share", "More lent than owned"),
];

impl Kind for Quota {
    type Noun = api::Quota;

    const TYPE: &'static str = "runtimecloud_quota";
    const DESCRIPTION: &'static str = "How much the worker pools and leases of the environments that are \
        bound to it, and to the quotas under it, may use together.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name("Name, unique among quotas. A change replaces the quota."),
            attributes::name_of(
                "parent",
                "Name of the quota that it lies under. What is used of it is used of that one too, and \
                 has to fit both. None if left out.",
            ),
            Attribute::nested(
                "limits",
                Nesting::Map,
                "Limits by resource: `cpu` (as in `500m` or `2`), `memory` (as in `512Mi` or \
                 `4Gi`), `workers`, or any other name. What is not named has no limit.",
                LIMITS.map(|(name, description)| {
                    Attribute::string(name, description).equal(amounts::mean_the_same)
                }),
            )
            .required()
            .check(Validator::length(0..=attributes::RESOURCES_MAX))
            .check(Validator::keys(attributes::resource()))
            .check(Validator::each(Validator::AtLeastOneOf(&["hard", "soft", "share"]))),
            time(
                "reclaim_notice",
                "How long leases live on that give back what they borrow of a share under it, up to \
                 `1h`. As the quota above says, or `30s`, if left out.",
            )
            .check(Validator::Custom(|value| check_time(value, Duration::ZERO..=HOUR))),
        ]
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        for (resource, limit) in config.get("limits").entries() {
            let path = Path::attribute("limits").key(resource);
            for (name, _) in LIMITS {
                amounts::check_one(resource, limit.get(name), &path.child(name), diagnostics);
            }
            for (low, high, summary) in AT_MOST {
                let amount = |name| amounts::amount(resource, limit.get(name));
                if let (Some(amount), Some(most)) = (amount(low), amount(high))
                    && amount > most
                {
                    let detail = format!(
                        "It is never reached so: lower it to at most `{high}`, or raise `{high}`."
                    );
                    diagnostics.error(path.child(low), *summary, detail);
                }
            }
            for name in ["borrowing", "lending"] {
                if limit.get(name).is_set() && limit.get("share").is_null() {
                    diagnostics.error(
                        path.child(name),
                        "About no share",
                        "It says how much may be used beside the own share: give `share`, which may \
                         be `0`.",
                    );
                }
            }
            if limit.get("share").is_set() && config.get("parent").is_null() {
                diagnostics.error(
                    path.child("share"),
                    "A share of nothing",
                    "A share is a part of what a parent has: give `parent`, or `hard` instead of \
                     `share`.",
                );
            }
        }
    }

    fn spec(&self, values: &Value) -> api::QuotaSpec {
        let limits = values.get("limits").entries().map(|(resource, limit)| {
            let amount = |name| amounts::amount(resource, limit.get(name));
            let limit = api::Limit {
                hard: amount("hard"),
                soft: amount("soft"),
                share: amount("share"),
                borrowing: amount("borrowing"),
                lending: amount("lending"),
            };
            (resource.to_owned(), limit)
        });
        api::QuotaSpec {
            limits: limits.collect(),
            deletion_protection: deletion_protection_of(values),
            parent: values.text("parent").to_owned(),
            reclaim_notice: time_to_api(values.get("reclaim_notice")),
        }
    }

    fn values(&self, spec: &api::QuotaSpec) -> Vec<(&'static str, Value)> {
        let limits = spec.limits.iter().map(|(resource, limit)| {
            let text = |amount: Option<u64>| amount.map(|a| amounts::text(resource, a)).into();
            let limit = Value::object([
                ("hard", text(limit.hard)),
                ("soft", text(limit.soft)),
                ("share", text(limit.share)),
                ("borrowing", text(limit.borrowing)),
                ("lending", text(limit.lending)),
            ]);
            (resource, limit)
        });
        vec![
            ("parent", text_or_null(&spec.parent)),
            ("limits", Value::map(limits)),
            ("reclaim_notice", time_from_api(spec.reclaim_notice.as_ref())),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }

    fn frees_room(&self, prior: &Value, planned: &Value) -> bool {
        !prior.is_null() && prior != planned
    }

    /// All that is used of it counts against the other quota then.
    fn takes_room(&self, prior: &Value, planned: &Value) -> bool {
        let (before, after) = (prior.get("parent"), planned.get("parent"));
        !prior.is_null() && after.is_set() && before != after
    }
}
