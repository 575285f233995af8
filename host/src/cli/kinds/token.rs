//! Tokens.

use proto::runtimecloud::v1::{Role, Token};
use serde_json::{Value, json};

use crate::cli::text;

pub const HEADERS: &[&str] = &["NAME", "ROLE", "VALID", "EXPIRES", "AGE", "ID"];

/// Roles by name, from the weakest.
pub const ROLES: &[(&str, Role)] =
    &[("viewer", Role::Viewer), ("editor", Role::Editor), ("admin", Role::Admin)];

fn role(token: &Token) -> &'static str {
    ROLES.iter().find(|(_, role)| *role == token.role()).map_or("unknown", |(name, _)| name)
}

pub fn json(token: &Token) -> Value {
    json!({
        "kind": "token",
        "id": token.id,
        "name": token.name,
        "role": role(token),
        "created_at": text::time(token.created_at.as_ref()),
        "expires_at": text::time(token.expires_at.as_ref()),
        "revoked_at": text::time(token.revoked_at.as_ref()),
    })
}

pub fn row(token: &Token, now: jiff::Timestamp) -> Vec<String> {
    let has_passed = |time: &prost_types::Timestamp| time.seconds <= now.as_second();
    let validity = if token.revoked_at.is_some() {
        "revoked"
    } else if token.expires_at.as_ref().is_some_and(has_passed) {
        "expired"
    } else {
        "yes"
    };
    let expires = text::time(token.expires_at.as_ref());
    vec![
        token.name.clone(),
        role(token).to_owned(),
        validity.to_owned(),
        expires.as_str().unwrap_or("never").to_owned(),
        text::age(token.created_at.as_ref(), now),
        token.id.clone(),
    ]
}
