//! Tokens.

use proto::runtimecloud::v1::{Role, Token};
use serde_json::{Value, json};

use super::text_or_null;
use crate::cli::text;

pub const HEADERS: &[&str] = &["NAME", "ROLE", "VALID", "EXPIRES", "AGE", "ID"];

/// Roles by name, from the weakest.
pub const ROLES: &[(&str, Role)] =
    &[("viewer", Role::Viewer), ("editor", Role::Editor), ("admin", Role::Admin)];

pub fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(_, it)| *it == role).map_or("unknown", |(name, _)| name)
}

/// `ACCOUNT/NAME`, or `NAME` of one that stands alone.
pub fn key(token: &Token) -> String {
    let name = token.metadata.as_ref().map_or("", |metadata| &metadata.name);
    match &*token.service_account {
        "" => name.to_owned(),
        account => format!("{account}/{name}"),
    }
}

/// What its holder may do; of one that is not valid, what it says itself.
fn role(token: &Token) -> &'static str {
    let observed = token.observed.as_ref().map_or(Role::Unspecified, |observed| observed.role());
    match (observed, token.spec.as_ref().map(|spec| spec.role())) {
        (Role::Unspecified, None | Some(Role::Unspecified)) => "-",
        (Role::Unspecified, Some(role)) | (role, _) => role_name(role),
    }
}

pub fn json(token: &Token) -> Value {
    let Token { metadata, spec, observed, .. } = token.clone();
    let metadata = metadata.unwrap_or_default();
    let (spec, observed) = (spec.unwrap_or_default(), observed.unwrap_or_default());
    json!({
        "kind": "token",
        "id": metadata.id,
        "name": key(token),
        "service_account": text_or_null(&token.service_account),
        "role": role(token),
        "labels": metadata.labels,
        "generation": metadata.generation,
        "revision": metadata.revision,
        "created_at": text::time(metadata.created_at.as_ref()),
        "secret_changed_at": text::time(observed.secret_changed_at.as_ref()),
        "expires_at": text::time(spec.expires_at.as_ref()),
        "revoked_at": text::time(observed.revoked_at.as_ref()),
        "valid": observed.valid,
        "reason": text_or_null(&observed.reason),
        "made_with": text_or_null(&observed.made_with),
    })
}

pub fn row(token: &Token, now: jiff::Timestamp) -> Vec<String> {
    let Token { metadata, spec, observed, .. } = token.clone();
    let metadata = metadata.unwrap_or_default();
    let observed = observed.unwrap_or_default();
    let validity = if observed.valid { "yes".to_owned() } else { observed.reason };
    let expires = text::time(spec.unwrap_or_default().expires_at.as_ref());
    vec![
        key(token),
        role(token).to_owned(),
        validity,
        expires.as_str().unwrap_or("never").to_owned(),
        text::age(metadata.created_at.as_ref(), now),
        metadata.id,
    ]
}
