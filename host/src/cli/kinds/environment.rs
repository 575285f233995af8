//! Environments.

use proto::runtimecloud::v1::{Environment, EnvironmentSpec};
use serde_json::{Map, Value, json};

use super::{Declared, Resource, object, text_or_null};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "QUOTA", "POOLS", "READY", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> EnvironmentSpec {
    EnvironmentSpec {
        quota: fields.text("quota"),
        target_selector: fields.text_map("target_selector"),
        description: fields.text("description"),
        variables: fields.text_map("variables"),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

pub fn show(spec: &EnvironmentSpec) -> Map<String, Value> {
    object([
        ("quota", text_or_null(&spec.quota)),
        ("target_selector", json!(spec.target_selector)),
        ("description", text_or_null(&spec.description)),
        ("variables", json!(spec.variables)),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

pub fn row(resource: &Resource) -> Vec<String> {
    let quota = resource.spec.get("quota").and_then(Value::as_str).unwrap_or("-");
    let (ready, workers) = (resource.seen("ready_workers"), resource.seen("workers"));
    vec![quota.to_owned(), resource.seen("worker_pools").to_string(), format!("{ready}/{workers}")]
}

impl From<Environment> for Resource {
    fn from(environment: Environment) -> Self {
        let observed = environment.observed.unwrap_or_default();
        let metadata = environment.metadata.unwrap_or_default();
        Self {
            kind: Declared::Environment,
            key: metadata.name.clone(),
            metadata,
            spec: show(&environment.spec.unwrap_or_default()),
            observed: object([
                ("worker_pools", observed.worker_pools.into()),
                ("workers", observed.workers.into()),
                ("ready_workers", observed.ready_workers.into()),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
