//! `runtimecloud_service_account_token`: what there is to know of a token but its secret.

use proto::runtimecloud::v1::{self as api, Role};

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources::{self, attributes::text_or_null, role_name},
};

pub(super) struct ServiceAccountToken;

impl Look for ServiceAccountToken {
    type Kind = resources::ServiceAccountToken;
    const KIND: resources::ServiceAccountToken = resources::ServiceAccountToken;
    const DESCRIPTION: &'static str = "A token of a service account: whether it is good, and for \
        what. Its secret is nowhere to be seen. Only administrators may look.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::bool("valid", "Whether calls with it are accepted.").computed(),
            Attribute::string(
                "reason",
                "If they are not, one word that says why, such as `Expired`, `Revoked` or \
                 `AccountDisabled`.",
            )
            .computed(),
            Attribute::string("role", "What it is good for, while it is valid.").computed(),
            observed::time("rotated_at", "When it was given its secret, as RFC 3339 writes it."),
        ]
    }

    fn conditions<'a>(&self, _: &'a api::Token) -> &'a [api::Condition] {
        &[]
    }

    fn values(&self, token: &api::Token) -> Vec<(&'static str, Value)> {
        let observed = token.observed.clone().unwrap_or_default();
        let role = match observed.role() {
            Role::Unspecified => None,
            role => role_name(role),
        };
        vec![
            ("valid", observed.valid.into()),
            ("reason", text_or_null(&observed.reason)),
            ("role", role.into()),
            ("rotated_at", observed::time_value(observed.secret_changed_at.as_ref())),
        ]
    }
}
