//! A service account, and the rules it must keep.
//!
//! Its tokens have its role, and none of their own; see [`access`](crate::tokens::model::access).

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    admission::{Context, Declared},
    events::{Event, Subject},
    ids::{IdSource, ServiceAccountId},
    records::{Change, Record, Records},
    resource::{Kind, Meta},
    tokens::{self, model::Role},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceAccount {
    pub id: ServiceAccountId,
    pub meta: Meta,
    pub spec: ServiceAccountSpec,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceAccountSpec {
    pub role: Role,
    pub description: String,
    /// None of its tokens is accepted.
    pub disabled: bool,
    pub deletion_protection: bool,
}

const DESCRIPTION_LENGTH_MAX: usize = 4096;

impl Declared for ServiceAccount {
    type Spec = ServiceAccountSpec;
    type Parent = ();
    const KIND: Kind = Kind::ServiceAccount;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.service_account(key)
    }

    fn new(ids: &dyn IdSource, (): (), meta: Meta, spec: ServiceAccountSpec) -> Self {
        Self { id: ServiceAccountId::new(ids), meta, spec }
    }

    fn with(&self, meta: Meta, spec: ServiceAccountSpec) -> Self {
        Self { id: self.id, meta, spec }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &ServiceAccountSpec {
        &self.spec
    }

    fn is_protected(spec: &ServiceAccountSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(_: &Records, _: &str, _: &mut Violations) -> Option<()> {
        Some(())
    }

    fn check(_: &Records, _: Option<&Self>, spec: &ServiceAccountSpec, found: &mut Violations) {
        if spec.description.len() > DESCRIPTION_LENGTH_MAX {
            found.add(
                "spec.description",
                format!("it is longer than {DESCRIPTION_LENGTH_MAX} bytes: shorten it"),
            );
        }
    }

    fn users(&self, _: &Records) -> Vec<String> {
        Vec::new()
    }

    fn record(self) -> Record {
        Record::ServiceAccount(self.into())
    }

    /// Its tokens are revoked.
    fn takes_along(&self, cx: &Context<'_>) -> (Vec<Change>, Vec<(Subject, Event)>) {
        let tokens = cx.records.tokens.values().filter(|it| it.account == Some(self.id));
        let lasting = tokens.filter(|it| it.revoked_at().is_none());
        lasting.map(|token| tokens::decide::revoked(cx, token)).unzip()
    }
}

/// How many of its tokens are neither revoked nor expired.
pub fn token_count(account: &ServiceAccount, records: &Records, now: Timestamp) -> usize {
    let is_its = |it: &&Arc<tokens::model::Token>| it.account == Some(account.id);
    records.tokens.values().filter(is_its).filter(|it| !it.is_over(now)).count()
}
