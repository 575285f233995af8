//! Quotas.

use std::collections::BTreeSet;

use proto::runtimecloud::v1::{Limit, Quota, QuotaSpec, QuotaUse};
use serde_json::{Map, Value};

use super::{Declared, Resource, object, text_or_null};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "PARENT", "USED", "BORROWED", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> QuotaSpec {
    QuotaSpec {
        parent: fields.text("parent"),
        limits: fields.objects("limits", |resource, limit| Limit {
            hard: limit.amount_of(resource, "hard"),
            soft: limit.amount_of(resource, "soft"),
            share: limit.amount_of(resource, "share"),
            borrowing: limit.amount_of(resource, "borrowing"),
            lending: limit.amount_of(resource, "lending"),
        }),
        reclaim_notice: fields.duration("reclaim_notice"),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

pub fn show(spec: &QuotaSpec) -> Map<String, Value> {
    let limit = |(resource, limit): (&String, &Limit)| {
        let amount =
            |of: Option<u64>| of.map_or(Value::Null, |of| text::amount(resource, of).into());
        let limit = object([
            ("hard", amount(limit.hard)),
            ("soft", amount(limit.soft)),
            ("share", amount(limit.share)),
            ("borrowing", amount(limit.borrowing)),
            ("lending", amount(limit.lending)),
        ]);
        (resource.clone(), Value::Object(limit))
    };
    object([
        ("parent", text_or_null(&spec.parent)),
        ("limits", spec.limits.iter().map(limit).collect::<Map<_, _>>().into()),
        ("reclaim_notice", notice(spec.reclaim_notice.as_ref())),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

fn notice(notice: Option<&prost_types::Duration>) -> Value {
    match notice {
        Some(notice) => text::duration(Some(notice), ""),
        None => Value::Null,
    }
}

/// `cpu 300m of 2`: what is used of the hard limit, or else of the share, or else of the soft limit.
pub fn row(resource: &Resource) -> Vec<String> {
    let parent = resource.spec.get("parent").and_then(Value::as_str).unwrap_or("-").to_owned();
    let borrowed = resource.observed.get("resources").and_then(Value::as_object);
    let borrowed = borrowed.into_iter().flatten().filter_map(|(name, it)| {
        let amount = it.get("borrowed")?.as_str().filter(|amount| *amount != "0")?;
        Some(format!("{name} {amount}"))
    });
    let borrowed: Vec<_> = borrowed.collect();
    vec![parent, or_dash(&used(resource)), or_dash(&borrowed)]
}

fn or_dash(parts: &[String]) -> String {
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

/// Of each resource that is limited or used.
pub fn used(resource: &Resource) -> Vec<String> {
    let of = |map: Option<&Value>, name: &str| map.and_then(|map| map.get(name).cloned());
    let (limits, used) = (resource.spec.get("limits"), resource.observed.get("used"));
    let maps = [limits, used].into_iter().flatten().filter_map(Value::as_object);
    let all: BTreeSet<_> = maps.flat_map(Map::keys).collect();
    let parts = all.iter().map(|name| {
        let used = of(used, name).and_then(|used| used.as_str().map(str::to_owned));
        let limit = of(limits, name).and_then(|limit| {
            let limit = ["hard", "share", "soft"].iter().find_map(|kind| limit.get(kind))?;
            Some(format!(" of {}", limit.as_str()?))
        });
        format!("{name} {}{}", used.unwrap_or_else(|| "0".to_owned()), limit.unwrap_or_default())
    });
    parts.collect()
}

fn resource_use((resource, it): (&String, &QuotaUse)) -> (String, Value) {
    let amount = |amount: u64| Value::from(text::amount(resource, amount));
    let maybe = |it: Option<u64>| it.map_or(Value::Null, amount);
    let fields = object([
        ("used", amount(it.used)),
        ("used_directly", amount(it.used_directly)),
        ("share", maybe(it.share)),
        ("borrowed", amount(it.borrowed)),
        ("lent", amount(it.lent)),
        ("kept", amount(it.kept)),
        ("room", maybe(it.room)),
    ]);
    (resource.clone(), Value::Object(fields))
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
                (
                    "resources",
                    observed.resources.iter().map(resource_use).collect::<Map<_, _>>().into(),
                ),
                ("children", observed.children.into()),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
