//! Rules of a worker pool that stand between its attributes. Pure.

use std::collections::BTreeMap;

use proto::duration;

use crate::{
    framework::{Diagnostics, Path, Value},
    resources::amounts,
};

/// Attributes whose change starts, stops or replaces workers.
const OF_WORKERS: [&str; 5] = ["size", "worker", "readiness", "restart", "stop"];

/// Reports what can not be: amounts that are none, ports that are not named, delays out of order.
pub(super) fn check(config: &Value, diagnostics: &mut Diagnostics) {
    let worker = config.get("worker");
    let path = Path::attribute("worker");
    amounts::check(worker.get("shape"), &path.child("shape"), diagnostics);
    if !worker.get("shape").get("workers").is_null() {
        diagnostics.error(
            path.child("shape").key("workers"),
            "Workers are counted by the host",
            "Each worker counts as one, so `workers` does not belong in its shape: leave it out.",
        );
    }
    check_sum(config, diagnostics);
    check_port_variables(worker, &path, diagnostics);
    for check in ["http", "tcp"] {
        check_port(config, check, diagnostics);
    }
    check_delays(config.get("restart"), diagnostics);
}

/// All workers together must be countable.
fn check_sum(config: &Value, diagnostics: &mut Diagnostics) {
    let size = config.get("size").as_u64().unwrap_or(0);
    for (resource, amount) in amounts::to_api(config.get("worker").get("shape")).amounts {
        if amount.checked_mul(size).is_none() {
            diagnostics.error(
                Path::attributes(["worker", "shape"]).key(&resource),
                "Too much to count",
                format!("{size} workers of so much `{resource}` are more than can be counted: ask for less."),
            );
        }
    }
}

/// A check's port must be one of the worker's.
fn check_port(config: &Value, check: &str, diagnostics: &mut Diagnostics) {
    let ports = config.get("worker").get("ports");
    let Some(port) = config.get("readiness").get(check).get("port").as_str() else { return };
    if config.get("worker").is_unknown() || !ports.is_wholly_known() {
        return;
    }
    let names = ports.strings();
    if names.iter().any(|name| name == port) {
        return;
    }
    let has = match names.as_slice() {
        [] => "The worker has no ports.".to_owned(),
        names => format!("The worker's ports are `{}`.", names.join("`, `")),
    };
    diagnostics.error(
        Path::attributes(["readiness", check, "port"]),
        "No such port",
        format!("{has} Add `{port}` to `worker.ports`, or check one of those it has."),
    );
}

/// A port is handed over as a variable, which must not be set otherwise.
fn check_port_variables(worker: &Value, path: &Path, diagnostics: &mut Diagnostics) {
    for port in worker.get("ports").strings() {
        let variable = format!("PORT_{}", port.to_ascii_uppercase().replace('-', "_"));
        if !worker.get("variables").get(&variable).is_null() {
            diagnostics.error(
                path.child("variables").key(&variable),
                "The variable of a port",
                format!("`{variable}` hands over the port `{port}`: choose another name."),
            );
        }
    }
}

fn check_delays(restart: &Value, diagnostics: &mut Diagnostics) {
    let time = |name, default| match restart.get(name) {
        Value::Null => duration::parse(default).ok(),
        text => duration::parse(text.as_str()?).ok(),
    };
    if let (Some(delay), Some(most)) = (time("delay", "1s"), time("delay_max", "1m"))
        && delay > most
    {
        diagnostics.error(
            Path::attributes(["restart", "delay"]),
            "First delay above the longest",
            "Delays grow from `delay` to `delay_max`: lower `delay`, or raise `delay_max`.",
        );
    }
}

/// Whether a change is one of the workers, so that there is something to wait for: a pool in trouble
/// must not keep anyone from changing its labels or its protection.
pub(super) fn changes_workers(prior: &Value, planned: &Value) -> bool {
    OF_WORKERS.iter().any(|name| prior.get(name) != planned.get(name))
}

/// Whether, of some resource, `other` uses less than `one`; null uses nothing.
pub(super) fn uses_less(one: &Value, other: &Value) -> bool {
    let other = usage(other);
    usage(one).iter().any(|(resource, amount)| other.get(resource).unwrap_or(&0) < amount)
}

/// Size times shape.
fn usage(pool: &Value) -> BTreeMap<String, u128> {
    let size = u128::from(pool.get("size").as_u64().unwrap_or(0));
    let shape = amounts::to_api(pool.get("worker").get("shape")).amounts;
    let mut usage: BTreeMap<String, u128> =
        shape.into_iter().map(|(resource, each)| (resource, u128::from(each) * size)).collect();
    usage.insert("workers".to_owned(), size);
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(size: u32, cpu: &str) -> Value {
        let shape = Value::map([("cpu", cpu)]);
        Value::object([("size", size.into()), ("worker", Value::object([("shape", shape)]))])
    }

    #[test]
    fn only_changes_of_workers_are_waited_for() {
        let mut relabelled = pool(1, "1");
        relabelled.set_attribute("labels", Value::map([("a", "b")]));
        assert!(!changes_workers(&pool(1, "1"), &relabelled));
        assert!(changes_workers(&pool(1, "1"), &pool(2, "1")));
        assert!(changes_workers(&Value::Null, &pool(0, "1")));
    }

    #[test]
    fn use_is_size_times_shape() {
        for (one, other, less) in [
            (pool(2, "1"), pool(1, "1"), true),
            (pool(1, "1"), pool(2, "1"), false),
            (pool(1, "1"), pool(2, "400m"), true),
            (pool(1, "1"), pool(1, "1000m"), false),
            (pool(1, "1"), Value::Null, true),
            (pool(0, "1"), Value::Null, false),
            (Value::Null, pool(1, "1"), false),
        ] {
            assert_eq!(uses_less(&one, &other), less, "{one:?} {other:?}");
        }
    }
}
