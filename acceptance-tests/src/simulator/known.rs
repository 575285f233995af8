//! What only a type of resources knows of its configurations, and no schema says: what it refers to,
//! what the host never learns of it, and which of it would run workers.
//!
//! A new type of resources needs a row in [`KNOWN`], mostly an empty one.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use proto::quantity::Quantity;
use provider::framework::{Attribute, Kind, Value, conformance::absent};

/// One type of resources.
pub struct Known {
    pub type_name: &'static str,
    /// Texts to choose from, by path without keys: names of what is there, and the like.
    pub choices: &'static [(&'static str, &'static [&'static str])],
    /// Attributes that only Terraform has: an import does not find them.
    pub local: &'static [&'static str],
    /// The attribute of the parent's name: people call it `PARENT/NAME`.
    pub parent: Option<&'static str>,
    /// Makes a configuration one that this machine can run.
    pub touch: fn(&mut Value, Scale),
}

/// How much a configuration may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// No worker.
    Idle,
    /// A few workers.
    Running,
}

const NAMES: &[&str] = &["a", "b"];

/// In the order of the provider's table.
pub const KNOWN: &[Known] = &[
    Known {
        type_name: "runtimecloud_capacity_lease",
        choices: &[("name", NAMES), ("environment", &["dev", "limited"])],
        local: &[],
        parent: Some("environment"),
        touch: capacity_lease,
    },
    Known {
        type_name: "runtimecloud_capacity_target",
        choices: &[("name", NAMES)],
        local: &[],
        parent: None,
        touch: |_, _| {},
    },
    Known {
        type_name: "runtimecloud_environment",
        choices: &[("name", NAMES), ("quota", &["wide"])],
        local: &[],
        parent: None,
        touch: |_, _| {},
    },
    Known {
        type_name: "runtimecloud_event_subscription",
        choices: &[
            ("name", NAMES),
            ("url", &["http://127.0.0.1:9/a", "https://example.invalid/b"]),
            ("types", &["QuotaChanged", "TokenRotated"]),
            ("environments", &["dev", "limited"]),
            ("secret_wo", &["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]),
        ],
        local: &["secret_wo", "secret_wo_version"],
        parent: None,
        touch: event_subscription,
    },
    Known {
        type_name: "runtimecloud_quota",
        choices: &[("name", NAMES), ("parent", &["wide"])],
        local: &[],
        parent: None,
        touch: quota,
    },
    Known {
        type_name: "runtimecloud_service_account",
        choices: &[("name", NAMES)],
        local: &[],
        parent: None,
        touch: |_, _| {},
    },
    Known {
        type_name: "runtimecloud_service_account_token",
        choices: &[("name", NAMES), ("service_account", &["ci", "other"])],
        local: &["secret_wo", "secret_wo_version"],
        parent: Some("service_account"),
        touch: token,
    },
    Known {
        type_name: "runtimecloud_worker_pool",
        choices: &[("name", NAMES), ("environment", &["dev", "limited", "nowhere"])],
        local: &["wait_for_ready"],
        parent: Some("environment"),
        touch: worker_pool,
    },
];

/// The row of a type.
pub fn of(type_name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|row| row.type_name == type_name)
}

/// What is there before any configuration is tried: types and what is set of them, in order.
pub fn fixtures() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let nothing = || Value::object::<&str>([]);
    let limits = [("workers", Value::object([("hard", Value::from("1000000"))]))];
    let environment = |name: &str, argument, value| {
        ("runtimecloud_environment", vec![("name", name.into()), (argument, value)])
    };
    let account = |name: &str| {
        ("runtimecloud_service_account", vec![("name", name.into()), ("role", "viewer".into())])
    };
    vec![
        account("ci"),
        account("other"),
        (
            "runtimecloud_capacity_target",
            vec![("name", "here".into()), ("driver", Value::object([("process", nothing())]))],
        ),
        ("runtimecloud_quota", vec![("name", "wide".into()), ("limits", Value::map(limits))]),
        environment("dev", "description", "Without limits.".into()),
        environment("limited", "quota", "wide".into()),
        environment("nowhere", "target_selector", Value::map([("place", "nowhere")])),
    ]
}

/// It asks for something, and outlives the trial.
fn capacity_lease(config: &mut Value, _: Scale) {
    for name in ["ttl", "max_life"] {
        if ["10s", "1m30s", "90s", "1m"].contains(&config.text(name)) {
            config.set_attribute(name, "90m");
        }
    }
    if config.get("amounts").entries().any(|(_, amount)| amount.as_str() == Some("0")) {
        config.set_attribute("amounts", Value::map([("cpu", "500m"), ("seats", "1k")]));
    }
}

/// Shares are parts of what a parent has, and their parts fit each other.
fn quota(config: &mut Value, _: Scale) {
    let has_parent = config.get("parent").is_set();
    let fitting = |(resource, limit): (&str, &Value)| {
        let mut limit = limit.clone();
        let is_more = |limit: &Value, one: &str, other: &str| {
            let amount = |name| Quantity::parse(resource, limit.get(name).as_str()?).ok();
            let amounts = amount(one).zip(amount(other));
            amounts.is_some_and(|(one, other)| one.amount > other.amount)
        };
        if limit.get("share").is_set() && !has_parent {
            limit.set_attribute("share", Value::Null);
            limit.set_attribute("hard", "1M");
        }
        if limit.get("share").is_null() {
            limit.set_attribute("borrowing", Value::Null);
            limit.set_attribute("lending", Value::Null);
        }
        if is_more(&limit, "share", "hard") || is_more(&limit, "soft", "hard") {
            limit.set_attribute("hard", Value::Null);
        }
        if is_more(&limit, "lending", "share") {
            limit.set_attribute("lending", Value::Null);
        }
        (resource.to_owned(), limit)
    };
    let limits: Vec<_> = config.get("limits").entries().map(fitting).collect();
    if !limits.is_empty() && limits.iter().all(|(_, limit)| matches!(limit, Value::Object(_))) {
        config.set_attribute("limits", Value::map(limits));
    }
}

/// Its longest pause is no shorter than its first.
fn event_subscription(config: &mut Value, _: Scale) {
    if !config.get("retry_max").is_null() {
        config.set_attribute("retry_max", "24h");
    } else if !config.get("retry_min").is_null() {
        config.set_attribute("retry_min", "10s");
    }
}

/// No two tokens have one secret.
fn token(config: &mut Value, _: Scale) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let secret = config.text("secret_wo");
    // Others are refused anyway.
    if secret.len() >= 32 {
        let secret = format!("{secret}-{}", NEXT.fetch_add(1, Relaxed));
        config.set_attribute("secret_wo", secret);
    }
}

/// Nothing is ever placed from `nowhere`, so nobody may wait for it. Elsewhere few pools run
/// something, and that is plain.
fn worker_pool(config: &mut Value, scale: Scale) {
    if config.text("environment") == "nowhere" {
        config.set_attribute("wait_for_ready", false);
        let size = config.get("size").as_u32().unwrap_or(1).min(3);
        config.set_attribute("size", size);
        return;
    }
    let size = match scale {
        Scale::Idle => 0_u32,
        Scale::Running => 1 + u32::from(config.get("labels").is_null()),
    };
    config.set_attribute("size", size);
    if scale == Scale::Running {
        let mut worker = config.get("worker").clone();
        worker.set_attribute("command", Value::list(["sleep", "100000"]));
        worker.set_attribute("working_dir", Value::Null);
        worker.set_attribute("shape", Value::Null);
        config.set_attribute("worker", worker);
        config.set_attribute("readiness", Value::Null);
    }
}

/// The object with all its attributes, and all of those within: null, or no blocks, where not given.
pub fn complete(attributes: &[Attribute], object: &Value) -> Value {
    let one = |attribute: &Attribute| {
        let value = object.get(attribute.name);
        let children = attribute.children();
        match (value, &attribute.kind) {
            (Value::Null, _) => absent(attribute),
            (_, Kind::Value(_)) => value.clone(),
            (Value::Object(_), _) => complete(children, value),
            (Value::List(all), _) => Value::list(all.iter().map(|it| complete(children, it))),
            (Value::Set(all), _) => Value::set(all.iter().map(|it| complete(children, it))),
            (Value::Map(all), _) => {
                Value::map(all.iter().map(|(key, it)| (key, complete(children, it))))
            }
            _ => value.clone(),
        }
    };
    Value::object(attributes.iter().map(|attribute| (attribute.name, one(attribute))))
}
