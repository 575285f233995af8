//! Service accounts.

use proto::runtimecloud::v1::{ServiceAccount, ServiceAccountSpec};
use serde_json::{Map, Value};

use super::{
    Declared, Resource, object, text_or_null,
    token::{ROLES, role_name},
};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "ROLE", "ENABLED", "TOKENS", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> ServiceAccountSpec {
    fields.require("role", r#"role = "editor""#);
    ServiceAccountSpec {
        role: fields.choice("role", ROLES).map_or(0, i32::from),
        description: fields.text("description"),
        disabled: fields.flag("disabled"),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

pub fn show(spec: &ServiceAccountSpec) -> Map<String, Value> {
    object([
        ("role", role_name(spec.role()).into()),
        ("description", text_or_null(&spec.description)),
        ("disabled", spec.disabled.into()),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

pub fn row(resource: &Resource) -> Vec<String> {
    let spec = |name: &str| resource.spec.get(name);
    let role = spec("role").and_then(Value::as_str).unwrap_or("-");
    let is_disabled = spec("disabled").and_then(Value::as_bool) == Some(true);
    let enabled = if is_disabled { "no" } else { "yes" };
    vec![role.to_owned(), enabled.to_owned(), resource.seen("tokens").to_string()]
}

impl From<ServiceAccount> for Resource {
    fn from(account: ServiceAccount) -> Self {
        let observed = account.observed.unwrap_or_default();
        let metadata = account.metadata.unwrap_or_default();
        Self {
            kind: Declared::ServiceAccount,
            key: metadata.name.clone(),
            metadata,
            spec: show(&account.spec.unwrap_or_default()),
            observed: object([
                ("tokens", observed.tokens.into()),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: Vec::new(),
        }
    }
}
