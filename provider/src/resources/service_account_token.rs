//! `runtimecloud_service_account_token`: what a service account shows the host to be let in.
//!
//! Invariant: the secret is in the configuration and in calls of the host, and nowhere else.

use proto::runtimecloud::v1 as api;

use super::{
    attributes::{self, name_of},
    managed::Kind,
};
use crate::framework::{Attribute, Validator, Value};

pub(crate) struct ServiceAccountToken;

impl Kind for ServiceAccountToken {
    type Noun = api::Token;

    const TYPE: &'static str = "runtimecloud_service_account_token";
    const DESCRIPTION: &'static str = "A token of a service account, with a secret that you choose. \
        The secret is in no state and no plan, and the host keeps only a hash of it. A token that \
        was revoked or has expired leaves the state with a warning, and a plan creates it again.";
    const PARENT: Option<&'static str> = Some("service_account");
    // Revoking must always be possible.
    const PROTECTED: bool = false;

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            name_of(
                "service_account",
                "Name of the service account that it belongs to, and whose role it has. A change \
                 replaces the token.",
            )
            .required()
            .replace(),
            attributes::name(
                "Name, unique among the tokens of the service account. A change replaces the token.",
            ),
            Attribute::string(
                "secret_wo",
                "The secret: 32 to 256 printable ASCII characters without spaces, best random ones \
                 of an ephemeral resource. It is sent when the token is created, and when \
                 `secret_wo_version` changes. Needs Terraform 1.11 or newer.",
            )
            .required()
            .sensitive()
            .write_only()
            .check(Validator::Custom(check_secret)),
            Attribute::number(
                "secret_wo_version",
                "Any number. Change it together with `secret_wo`: that rotates the token in place, \
                 and the secret before is void at once.",
            ),
            attributes::instant(
                "expires_at",
                "When it expires, as RFC 3339 writes it, such as `2030-01-01T00:00:00Z`. Never if \
                 left out.",
            ),
        ]
    }

    fn spec(&self, values: &Value) -> api::TokenSpec {
        api::TokenSpec {
            role: api::Role::Unspecified.into(),
            expires_at: attributes::instant_to_api(values.get("expires_at")),
            secret: values.text("secret_wo").to_owned(),
        }
    }

    fn values(&self, spec: &api::TokenSpec) -> Vec<(&'static str, Value)> {
        vec![("expires_at", attributes::time_of_api(spec.expires_at.as_ref()))]
    }

    fn ending(&self, token: &api::Token) -> Option<String> {
        let observed = token.observed.as_ref()?;
        match observed.reason.as_str() {
            "Expired" => Some("it has expired".to_owned()),
            _ if observed.revoked_at.is_some() => Some("it was revoked".to_owned()),
            // Its account may be enabled again.
            _ => None,
        }
    }
}

fn check_secret(value: &Value) -> Result<(), String> {
    let text = value.as_str().unwrap_or_default();
    if (32..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    // What it is instead stays unsaid.
    Err("must be 32 to 256 printable ASCII characters without spaces".to_owned())
}
