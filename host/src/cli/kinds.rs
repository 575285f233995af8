//! The kinds of things that an operator can name, and how each is written, read and shown.

pub mod capacity_lease;
pub mod capacity_target;
pub mod environment;
pub mod event_subscription;
pub mod operation;
pub mod quota;
pub mod service_account;
pub mod token;
pub mod worker;
pub mod worker_pool;

use std::{collections::BTreeMap, fmt};

use proto::runtimecloud::v1;
use serde_json::{Map, Value, json};

use crate::cli::{document::fields::Fields, suggest, text};

/// Kinds that can be declared, in the order in which they need each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Declared {
    CapacityTarget,
    Quota,
    Environment,
    ServiceAccount,
    WorkerPool,
    CapacityLease,
    EventSubscription,
}

/// Kinds that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Declared(Declared),
    Worker,
    Token,
}

/// All names of a kind.
pub struct Names {
    pub kind: Kind,
    pub one: &'static str,
    pub many: &'static str,
    pub short: &'static [&'static str],
}

/// All kinds, in the order of their names.
pub const KINDS: &[Names] = &[
    Names {
        kind: Kind::Declared(Declared::CapacityLease),
        one: "capacity_lease",
        many: "capacity_leases",
        short: &["cl", "lease", "leases"],
    },
    Names {
        kind: Kind::Declared(Declared::CapacityTarget),
        one: "capacity_target",
        many: "capacity_targets",
        short: &["ct", "target", "targets"],
    },
    Names {
        kind: Kind::Declared(Declared::Environment),
        one: "environment",
        many: "environments",
        short: &["env", "envs"],
    },
    Names {
        kind: Kind::Declared(Declared::EventSubscription),
        one: "event_subscription",
        many: "event_subscriptions",
        short: &["es", "sub", "subscription", "subscriptions"],
    },
    Names { kind: Kind::Declared(Declared::Quota), one: "quota", many: "quotas", short: &["qt"] },
    Names {
        kind: Kind::Declared(Declared::ServiceAccount),
        one: "service_account",
        many: "service_accounts",
        short: &["account", "accounts", "sa"],
    },
    Names { kind: Kind::Token, one: "token", many: "tokens", short: &["tk"] },
    Names { kind: Kind::Worker, one: "worker", many: "workers", short: &["wk"] },
    Names {
        kind: Kind::Declared(Declared::WorkerPool),
        one: "worker_pool",
        many: "worker_pools",
        short: &["pool", "pools", "wp"],
    },
];

impl Kind {
    fn names(self) -> &'static Names {
        KINDS.iter().find(|names| names.kind == self).unwrap_or(&KINDS[0])
    }

    /// The kind's name for programs, such as `worker_pool`.
    pub fn code(self) -> &'static str {
        self.names().one
    }

    /// Any of its names; `-` counts as `_`.
    pub fn parse(word: &str) -> Result<Self, String> {
        let wanted = word.to_lowercase().replace('-', "_");
        let is_it = |names: &&Names| {
            names.one == wanted || names.many == wanted || names.short.contains(&&*wanted)
        };
        if let Some(names) = KINDS.iter().find(is_it) {
            return Ok(names.kind);
        }
        let all = KINDS.iter().flat_map(|names| {
            [names.one, names.many].into_iter().chain(names.short.iter().copied())
        });
        Err(match suggest::nearest(&wanted, all) {
            Some(near) => format!("there is no such kind; did you mean `{near}`?"),
            None => {
                let kinds: Vec<_> = KINDS.iter().map(|names| format!("`{}`", names.one)).collect();
                format!("there is no such kind; there are {}", kinds.join(", "))
            }
        })
    }
}

impl Declared {
    pub fn code(self) -> &'static str {
        Kind::Declared(self).code()
    }

    /// Whether it lies in an environment, and is named `ENVIRONMENT/NAME`.
    pub fn has_environment(self) -> bool {
        match self {
            Self::CapacityLease | Self::WorkerPool => true,
            Self::CapacityTarget
            | Self::Quota
            | Self::Environment
            | Self::EventSubscription
            | Self::ServiceAccount => false,
        }
    }

    pub fn parse(word: &str) -> Result<Self, String> {
        match Kind::parse(word)? {
            Kind::Declared(kind) => Ok(kind),
            Kind::Worker => {
                Err("workers are made by the host; declare or scale their pool".to_owned())
            }
            Kind::Token => Err("use `runtimecloud token` for tokens".to_owned()),
        }
    }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code().replace('_', " "))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code().replace('_', " "))
    }
}

/// A specification in the API's terms.
#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    CapacityLease(v1::CapacityLeaseSpec),
    CapacityTarget(v1::CapacityTargetSpec),
    Environment(v1::EnvironmentSpec),
    EventSubscription(v1::EventSubscriptionSpec),
    Quota(v1::QuotaSpec),
    ServiceAccount(v1::ServiceAccountSpec),
    WorkerPool(v1::WorkerPoolSpec),
}

impl Spec {
    /// Reads the fields of a declaration.
    pub fn read(kind: Declared, fields: &mut Fields<'_>) -> Self {
        match kind {
            Declared::CapacityLease => Self::CapacityLease(capacity_lease::read(fields)),
            Declared::CapacityTarget => Self::CapacityTarget(capacity_target::read(fields)),
            Declared::Environment => Self::Environment(environment::read(fields)),
            Declared::EventSubscription => {
                Self::EventSubscription(event_subscription::read(fields))
            }
            Declared::Quota => Self::Quota(quota::read(fields)),
            Declared::ServiceAccount => Self::ServiceAccount(service_account::read(fields)),
            Declared::WorkerPool => Self::WorkerPool(worker_pool::read(fields)),
        }
    }

    /// In the vocabulary of declarations, with defaults filled in: two that mean the same are equal.
    pub fn show(&self) -> Map<String, Value> {
        match self {
            Self::CapacityLease(spec) => capacity_lease::show(spec),
            Self::CapacityTarget(spec) => capacity_target::show(spec),
            Self::Environment(spec) => environment::show(spec),
            Self::EventSubscription(spec) => event_subscription::show(spec),
            Self::Quota(spec) => quota::show(spec),
            Self::ServiceAccount(spec) => service_account::show(spec),
            Self::WorkerPool(spec) => worker_pool::show(spec),
        }
    }
}

/// What somebody wants to be there.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    pub kind: Declared,
    /// As for `GetRequest.key`: what lies in an environment has `ENVIRONMENT/NAME`.
    pub key: String,
    pub labels: BTreeMap<String, String>,
    pub spec: Spec,
}

impl Desired {
    /// ``worker pool `dev/web` ``.
    pub fn title(&self) -> String {
        format!("{} `{}`", self.kind, self.key)
    }
}

/// A resource as the host has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub kind: Declared,
    pub key: String,
    pub metadata: v1::Metadata,
    /// As [`Spec::show`] has it.
    pub spec: Map<String, Value>,
    /// Without the conditions.
    pub observed: Map<String, Value>,
    pub conditions: Vec<v1::Condition>,
}

impl Resource {
    pub fn title(&self) -> String {
        format!("{} `{}`", self.kind, self.key)
    }

    /// One word for how it is: the reason of the first condition that should hold and does not.
    pub fn standing(&self) -> String {
        const EXPECTED: &[&str] = &[
            "Delivering",
            "Complete",
            "Granted",
            "Ready",
            "Schedulable",
            "SharesCovered",
            "TargetAvailable",
            "WithinHardLimits",
            "WithinSoftLimits",
        ];
        if self.metadata.deleting_since.is_some() {
            return "Deleting".to_owned();
        }
        let expected = |one: &&v1::Condition| EXPECTED.contains(&&*one.r#type);
        let fails = |one: &&v1::Condition| one.status() != v1::ConditionStatus::True;
        match self.conditions.iter().filter(expected).find(fails) {
            Some(failing) if failing.reason.is_empty() => format!("Not{}", failing.r#type),
            Some(failing) => failing.reason.clone(),
            None if self.conditions.iter().any(|one| one.r#type == "Ready") => "Ready".to_owned(),
            None => "OK".to_owned(),
        }
    }

    /// Whether it is a lease that has ended: it is there to be looked at, and nothing else.
    pub fn has_ended(&self) -> bool {
        self.observed.contains_key("ended_at")
    }

    pub fn condition(&self, name: &str) -> Option<&v1::Condition> {
        self.conditions.iter().find(|one| one.r#type == name)
    }

    pub fn json(&self) -> Value {
        let mut observed = self.observed.clone();
        let conditions = self.conditions.iter().map(condition_json).collect();
        observed.insert("conditions".to_owned(), Value::Array(conditions));
        let metadata = &self.metadata;
        let mut object = json!({
            "kind": self.kind.code(),
            "id": metadata.id,
            "name": self.key,
            "generation": metadata.generation,
            "revision": metadata.revision,
            "labels": metadata.labels,
            "created_at": text::time(metadata.created_at.as_ref()),
            "updated_at": text::time(metadata.updated_at.as_ref()),
            "spec": self.spec,
            "observed": observed,
        });
        if let Some(since) = &metadata.deleting_since {
            object["deleting_since"] = text::time(Some(since));
        }
        object
    }

    pub fn headers(kind: Declared) -> &'static [&'static str] {
        match kind {
            Declared::CapacityLease => capacity_lease::HEADERS,
            Declared::CapacityTarget => capacity_target::HEADERS,
            Declared::Environment => environment::HEADERS,
            Declared::EventSubscription => event_subscription::HEADERS,
            Declared::Quota => quota::HEADERS,
            Declared::ServiceAccount => service_account::HEADERS,
            Declared::WorkerPool => worker_pool::HEADERS,
        }
    }

    pub fn row(&self, now: jiff::Timestamp) -> Vec<String> {
        let own = match self.kind {
            Declared::CapacityLease => capacity_lease::row(self),
            Declared::CapacityTarget => capacity_target::row(self),
            Declared::Environment => environment::row(self),
            Declared::EventSubscription => event_subscription::row(self),
            Declared::Quota => quota::row(self),
            Declared::ServiceAccount => service_account::row(self),
            Declared::WorkerPool => worker_pool::row(self),
        };
        let age = text::age(self.metadata.created_at.as_ref(), now);
        [vec![self.key.clone()], own, vec![self.standing(), age]].concat()
    }

    /// A number of what was observed.
    fn seen(&self, name: &str) -> u64 {
        self.observed.get(name).and_then(Value::as_u64).unwrap_or(0)
    }
}

fn condition_json(condition: &v1::Condition) -> Value {
    json!({
        "type": condition.r#type,
        "status": text::status(condition.status()),
        "reason": condition.reason,
        "message": condition.message,
        "changed_at": text::time(condition.changed_at.as_ref()),
        "observed_generation": condition.observed_generation,
    })
}

/// A JSON object of the fields that are there.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A string, or null for an empty one.
fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

#[cfg(test)]
mod tests;
