//! Quotas.

use std::collections::BTreeSet;

use proto::runtimecloud::v1::{Limit, Quota, QuotaSpec};
use serde_json::{Map, Value};

use super::{Declared, Resource, object};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "USED", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> QuotaSpec {
    QuotaSpec {
        limits: fields.objects("limits", |resource, limit| Limit {
            hard: limit.amount_of(resource, "hard"),
            soft: limit.amount_of(resource, "soft"),
        }),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

pub fn show(spec: &QuotaSpec) -> Map<String, Value> {
    let limit = |(resource, limit): (&String, &Limit)| {
        let amount =
            |of: Option<u64>| of.map_or(Value::Null, |of| text::amount(resource, of).into());
        let limit = object([("hard", amount(limit.hard)), ("soft", amount(limit.soft))]);
        (resource.clone(), Value::Object(limit))
    };
    object([
        ("limits", spec.limits.iter().map(limit).collect::<Map<_, _>>().into()),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

/// `cpu 300m of 2`: what is used of the hard limit, or else of the soft one.
pub fn row(resource: &Resource) -> Vec<String> {
    let of = |map: Option<&Value>, name: &str| map.and_then(|map| map.get(name).cloned());
    let (limits, used) = (resource.spec.get("limits"), resource.observed.get("used"));
    let maps = [limits, used].into_iter().flatten().filter_map(Value::as_object);
    let all: BTreeSet<_> = maps.flat_map(Map::keys).collect();
    let parts = all.iter().map(|name| {
        let used = of(used, name).and_then(|used| used.as_str().map(str::to_owned));
        let limit = of(limits, name).and_then(|limit| {
            let limit = limit.get("hard").or(limit.get("soft"))?.as_str()?.to_owned();
            Some(format!(" of {limit}"))
        });
        format!("{name} {}{}", used.unwrap_or_else(|| "0".to_owned()), limit.unwrap_or_default())
    });
    let parts: Vec<_> = parts.collect();
    vec![if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }]
}

impl From<Quota> for Resource {
    fn from(quota: Quota) -> Self {
        let observed = quota.observed.unwrap_or_default();
        let metadata = quota.metadata.unwrap_or_default();
        Self {
            kind: Declared::Quota,
            key: metadata.name.clone(),
            metadata,
            spec: show(&quota.spec.unwrap_or_default()),
            observed: object([
                ("used", text::amounts(observed.used.as_ref())),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
