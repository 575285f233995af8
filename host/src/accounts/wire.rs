//! Service accounts, to and from the API's messages.

use proto::runtimecloud::v1;

use super::model::{self, ServiceAccount, ServiceAccountSpec};
use crate::{
    api::{View, convert},
    tokens::{NO_ROLE, model::Role, wire},
    violations::Violations,
};

pub(super) fn read(
    spec: Option<v1::ServiceAccountSpec>,
    found: &mut Violations,
) -> ServiceAccountSpec {
    let is_given = spec.is_some();
    let spec = convert::spec(spec, found);
    let role = wire::read_role(spec.role);
    if role.is_none() && is_given {
        found.add("spec.role", NO_ROLE);
    }
    ServiceAccountSpec {
        role: role.unwrap_or(Role::Viewer),
        description: spec.description,
        disabled: spec.disabled,
        deletion_protection: spec.deletion_protection,
    }
}

pub(crate) fn account(it: &ServiceAccount, view: &View) -> v1::ServiceAccount {
    let tokens = model::token_count(it, &view.records, view.now);
    v1::ServiceAccount {
        metadata: Some(convert::metadata(it.id.to_string(), &it.meta)),
        spec: Some(v1::ServiceAccountSpec {
            role: wire::role(it.spec.role).into(),
            description: it.spec.description.clone(),
            disabled: it.spec.disabled,
            deletion_protection: it.spec.deletion_protection,
        }),
        observed: Some(v1::ServiceAccountObserved {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            observed_at: Some(convert::timestamp(view.now)),
        }),
    }
}
