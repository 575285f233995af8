//! `runtimecloud_service_account`: its role, and how many tokens it has.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources,
};

pub(super) struct ServiceAccount;

impl Look for ServiceAccount {
    type Kind = resources::ServiceAccount;
    const KIND: resources::ServiceAccount = resources::ServiceAccount;
    const DESCRIPTION: &'static str =
        "A service account: its role, whether it is disabled, and how many tokens it has now.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![observed::count(
            "token_count",
            "How many of its tokens are neither revoked nor expired.",
        )]
    }

    fn conditions<'a>(&self, _: &'a api::ServiceAccount) -> &'a [api::Condition] {
        &[]
    }

    fn values(&self, account: &api::ServiceAccount) -> Vec<(&'static str, Value)> {
        let tokens = account.observed.as_ref().map_or(0, |observed| observed.tokens);
        vec![("token_count", tokens.into())]
    }
}
