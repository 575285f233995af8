//! `runtimecloud_service_account`: a program that calls the host, with a role of its own.

use proto::runtimecloud::v1::{self as api, Role};

use super::{
    attributes::{self, deletion_protection_of},
    managed::Kind,
};
use crate::framework::{Attribute, Validator, Value};

pub(crate) struct ServiceAccount;

/// Roles by name, from the weakest.
const ROLES: &[(&str, Role)] =
    &[("viewer", Role::Viewer), ("editor", Role::Editor), ("admin", Role::Admin)];

/// The rule for a role's name.
pub(crate) const ROLE: Validator = Validator::one_of(&["viewer", "editor", "admin"]);

/// The host's value of a role's name.
pub(crate) fn role_to_api(name: &str) -> i32 {
    ROLES.iter().find(|(known, _)| *known == name).map_or(0, |(_, role)| i32::from(*role))
}

/// The name of a role.
pub(crate) fn role_name(role: Role) -> Option<&'static str> {
    ROLES.iter().find(|(_, known)| *known == role).map(|(name, _)| *name)
}

impl Kind for ServiceAccount {
    type Noun = api::ServiceAccount;

    const TYPE: &'static str = "runtimecloud_service_account";
    const DESCRIPTION: &'static str = "A program that calls the host, with a role that all its \
        tokens have. Only administrators may create and change it. Deleting it revokes its tokens.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name(
                "Name, unique among service accounts. A change replaces the service account.",
            ),
            Attribute::string(
                "role",
                "What its tokens may do: `viewer` reads, `editor` changes all but service accounts \
                 and tokens, `admin` does everything. A change holds for its tokens at once.",
            )
            .required()
            .check(ROLE),
            attributes::description(),
            Attribute::bool(
                "disabled",
                "While `true`, none of its tokens is accepted. `false` if left out.",
            )
            .default(false),
        ]
    }

    fn spec(&self, values: &Value) -> api::ServiceAccountSpec {
        api::ServiceAccountSpec {
            role: role_to_api(values.text("role")),
            description: values.text("description").to_owned(),
            disabled: values.get("disabled").as_bool().unwrap_or(false),
            deletion_protection: deletion_protection_of(values),
        }
    }

    fn values(&self, spec: &api::ServiceAccountSpec) -> Vec<(&'static str, Value)> {
        vec![
            ("role", role_name(spec.role()).into()),
            ("description", attributes::text_or_null(&spec.description)),
            ("disabled", spec.disabled.into()),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }
}
