//! Capacity leases.

use proto::runtimecloud::v1::{CapacityLease, CapacityLeaseSpec, CapacityLeaseState, Preemption};
use serde_json::{Map, Value};

use super::{Declared, Resource, object, text_or_null};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "STATE", "AMOUNTS", "HOLDER", "STATUS", "AGE"];

const PREEMPTION: &[(&str, Preemption)] =
    &[("never", Preemption::Never), ("reclaimable", Preemption::Reclaimable)];

const PRIORITY_MAX: i32 = 1_000;

pub fn read(fields: &mut Fields<'_>) -> CapacityLeaseSpec {
    fields.require("amounts", "amounts = { cpu = \"2\" }");
    CapacityLeaseSpec {
        amounts: Some(fields.amounts("amounts")),
        ttl: fields.duration("ttl"),
        max_life: fields.duration("max_life"),
        holder: fields.text("holder"),
        purpose: fields.text("purpose"),
        priority: fields.integer("priority", -PRIORITY_MAX..=PRIORITY_MAX),
        wait: fields.duration("wait"),
        deletion_protection: fields.flag("deletion_protection"),
        preemption: fields.choice("preemption", PREEMPTION).unwrap_or(Preemption::Never).into(),
    }
}

pub fn show(spec: &CapacityLeaseSpec) -> Map<String, Value> {
    let length = |length: Option<&prost_types::Duration>| match text::duration(length, "") {
        Value::String(none) if none.is_empty() => Value::Null,
        length => length,
    };
    let preemption = match spec.preemption() {
        Preemption::Unspecified | Preemption::Never => "never",
        Preemption::Reclaimable => "reclaimable",
    };
    object([
        ("amounts", text::amounts(spec.amounts.as_ref())),
        ("ttl", length(spec.ttl.as_ref())),
        ("max_life", length(spec.max_life.as_ref())),
        ("holder", text_or_null(&spec.holder)),
        ("purpose", text_or_null(&spec.purpose)),
        ("priority", spec.priority.into()),
        ("wait", text::duration(spec.wait.as_ref(), "0s")),
        ("preemption", preemption.into()),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

pub fn row(resource: &Resource) -> Vec<String> {
    let text = |map: &Map<String, Value>, name: &str| {
        map.get(name).and_then(Value::as_str).unwrap_or("-").to_owned()
    };
    let amounts = resource.spec.get("amounts").and_then(Value::as_object);
    let amounts = amounts.map_or_else(|| "-".to_owned(), |amounts| text::pairs(amounts, " "));
    vec![text(&resource.observed, "state"), amounts, text(&resource.spec, "holder")]
}

/// In one word, in lower case.
fn state(state: CapacityLeaseState) -> String {
    state.as_str_name().trim_start_matches("CAPACITY_LEASE_STATE_").to_lowercase()
}

impl From<CapacityLease> for Resource {
    fn from(lease: CapacityLease) -> Self {
        let observed = lease.observed.unwrap_or_default();
        let metadata = lease.metadata.unwrap_or_default();
        let number = |number: Option<u64>| number.map_or(Value::Null, Value::from);
        Self {
            kind: Declared::CapacityLease,
            key: format!("{}/{}", lease.environment, metadata.name),
            metadata,
            spec: show(&lease.spec.unwrap_or_default()),
            observed: object([
                ("state", state(observed.state()).into()),
                ("position", number(observed.position.map(u64::from))),
                ("wait_until", text::time(observed.wait_until.as_ref())),
                ("fencing_token", number(observed.fencing_token)),
                ("granted_at", text::time(observed.granted_at.as_ref())),
                ("expires_at", text::time(observed.expires_at.as_ref())),
                ("reclaimed_at", text::time(observed.reclaimed_at.as_ref())),
                ("ended_at", text::time(observed.ended_at.as_ref())),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
