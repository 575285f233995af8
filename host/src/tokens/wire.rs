//! Tokens, to and from the API's messages.

use proto::runtimecloud::v1;

use super::{
    model::{Role, Token, TokenSpec, access},
    secret::Secret,
};
use crate::{
    api::{View, convert},
    violations::Violations,
};

/// A specification, and the secret if there is one.
pub(super) fn read(
    spec: Option<v1::TokenSpec>,
    found: &mut Violations,
) -> (TokenSpec, Option<Secret>) {
    let v1::TokenSpec { role, expires_at, secret } = convert::spec(spec, found);
    if role != 0 && read_role(role).is_none() {
        found.add("spec.role", super::NO_ROLE);
    }
    let expires_at =
        expires_at.and_then(|time| convert::read_timestamp("spec.expires_at", &time, found));
    let secret = convert::text(secret).and_then(|secret| match Secret::given(secret) {
        Ok(secret) => Some(secret),
        Err(fault) => {
            found.add("spec.secret", fault.to_string());
            None
        }
    });
    (TokenSpec { role: read_role(role), expires_at }, secret)
}

pub(crate) fn read_role(role: i32) -> Option<Role> {
    match v1::Role::try_from(role) {
        Ok(v1::Role::Viewer) => Some(Role::Viewer),
        Ok(v1::Role::Editor) => Some(Role::Editor),
        Ok(v1::Role::Admin) => Some(Role::Admin),
        Ok(v1::Role::Unspecified) | Err(_) => None,
    }
}

pub(crate) fn role(role: Role) -> v1::Role {
    match role {
        Role::Viewer => v1::Role::Viewer,
        Role::Editor => v1::Role::Editor,
        Role::Admin => v1::Role::Admin,
    }
}

pub(crate) fn token(it: &Token, view: &View) -> v1::Token {
    let access = access(&view.records, it, view.now);
    let wire_role = |of: Option<Role>| of.map_or(v1::Role::Unspecified, role).into();
    v1::Token {
        metadata: Some(convert::metadata(it.id.to_string(), &it.meta)),
        service_account: it.account_name(&view.records).unwrap_or_default(),
        spec: Some(v1::TokenSpec {
            role: wire_role(it.spec.role),
            expires_at: it.spec.expires_at.map(convert::timestamp),
            secret: String::new(),
        }),
        observed: Some(v1::TokenObserved {
            valid: access.is_ok(),
            reason: access.as_ref().err().map_or("", |void| void.code()).to_owned(),
            role: wire_role(access.ok()),
            secret_changed_at: Some(convert::timestamp(it.secret_changed_at)),
            revoked_at: it.revoked_at().map(convert::timestamp),
            made_with: it.made_with.map(|id| id.to_string()).unwrap_or_default(),
            observed_at: Some(convert::timestamp(view.now)),
        }),
    }
}
