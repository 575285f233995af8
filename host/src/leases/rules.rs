//! What a lease's specification must keep, each fault at its field.

use std::time::Duration;

use super::model::CapacityLeaseSpec;
use crate::{capacity::amounts, resource::quoted, violations::Violations};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TTL_DAYS_MAX: u32 = 366;
const LIFE_DAYS_MAX: u32 = 3_660;
const WAIT_DAYS_MAX: u32 = 30;
const PRIORITY_MAX: i32 = 1_000;
const TEXT_LENGTH_MAX: usize = 1_024;

pub(super) fn check(spec: &CapacityLeaseSpec, found: &mut Violations) {
    check_amounts(spec, found);
    for (field, length, days) in
        [("spec.ttl", spec.ttl, TTL_DAYS_MAX), ("spec.max_life", spec.max_life, LIFE_DAYS_MAX)]
    {
        if length.is_some_and(|it| it < Duration::from_secs(1) || it > DAY * days) {
            found
                .add(field, format!("it is out of range: use 1 s to {days} days, or leave it out"));
        }
    }
    if let (Some(ttl), Some(life)) = (spec.ttl, spec.max_life)
        && ttl > life
    {
        found.add(
            "spec.ttl",
            format!("{ttl:?} is above `max_life` ({life:?}): lower it, or raise `max_life`"),
        );
    }
    if spec.wait() > DAY * WAIT_DAYS_MAX {
        found.add("spec.wait", format!("it is longer than {WAIT_DAYS_MAX} days: shorten it"));
    }
    if !(-PRIORITY_MAX..=PRIORITY_MAX).contains(&spec.priority) {
        found.add(
            "spec.priority",
            format!("{} is out of range: use -{PRIORITY_MAX} to {PRIORITY_MAX}", spec.priority),
        );
    }
    for (field, text) in [("spec.holder", &spec.holder), ("spec.purpose", &spec.purpose)] {
        if text.len() > TEXT_LENGTH_MAX || text.chars().any(char::is_control) {
            found.add(
                field,
                format!("use at most {TEXT_LENGTH_MAX} bytes without control characters"),
            );
        }
    }
}

fn check_amounts(spec: &CapacityLeaseSpec, found: &mut Violations) {
    const FIELD: &str = "spec.amounts";
    if spec.amounts.is_empty() {
        found.add(FIELD, "nothing is asked for: name at least one resource, such as `cpu`");
    }
    amounts::check_resources(FIELD, spec.amounts.keys(), found);
    for (resource, _) in spec.amounts.iter().filter(|(_, amount)| **amount == 0) {
        found.add(
            &format!("{FIELD}[{}]", quoted(resource)),
            "none of it is asked for: give an amount above zero, or leave the resource out",
        );
    }
    if spec.amounts.contains_key(amounts::LEASES) {
        found.add(
            &format!("{FIELD}[`{}`]", amounts::LEASES),
            "it is counted by the host, one for each lease: leave it out",
        );
    }
}
