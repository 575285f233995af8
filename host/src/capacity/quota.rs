//! A quota: limits per resource that the environments bound to it share, and its place in a tree.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{amounts, ledger::Ledger, rules, tree};
use crate::{
    admission::Declared,
    conditions::{Condition, Status},
    events::{Event, QuotaChanged},
    ids::{IdSource, QuotaId},
    pools::template::Amounts,
    records::{Record, Records},
    resource::{Kind, Meta},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    pub id: QuotaId,
    pub meta: Meta,
    pub spec: QuotaSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaSpec {
    /// By resource; one that is not named has no limit.
    pub limits: BTreeMap<String, Limit>,
    pub deletion_protection: bool,
    /// Name of the quota that it lies under.
    pub parent: Option<String>,
    /// How long leases live on that are reclaimed for a share under it. Absent: as the quota above says.
    pub reclaim_notice: Option<Duration>,
}

/// In the units of [`Amounts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// What would exceed it is refused.
    pub hard: Option<u64>,
    /// What exceeds it is granted and reported.
    pub soft: Option<u64>,
    /// What is its own of what all under the same parent have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u64>,
    /// How much more than its share it may use. Absent: as much as there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub borrowing: Option<u64>,
    /// How much others may use of what it leaves unused of its share. Absent: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lending: Option<u64>,
}

impl Declared for Quota {
    type Spec = QuotaSpec;
    type Parent = ();
    const KIND: Kind = Kind::Quota;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.quota(key)
    }

    fn new(ids: &dyn IdSource, (): (), meta: Meta, spec: QuotaSpec) -> Self {
        Self { id: QuotaId::new(ids), meta, spec }
    }

    fn with(&self, meta: Meta, spec: QuotaSpec) -> Self {
        Self { id: self.id, meta, spec }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &QuotaSpec {
        &self.spec
    }

    fn is_protected(spec: &QuotaSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(_: &Records, _: &str, _: &mut Violations) -> Option<()> {
        Some(())
    }

    fn check(records: &Records, before: Option<&Self>, spec: &QuotaSpec, found: &mut Violations) {
        rules::check(spec, found);
        tree::check_parent(records, before, spec, found);
    }

    fn users(&self, records: &Records) -> Vec<String> {
        let name = self.meta.name.as_str();
        let quotas = records.ledger.children(name).map(|child| format!("quota `{child}`"));
        let environments = records.environments.values();
        let bound = environments.filter(|it| it.spec.quota.as_deref() == Some(name));
        quotas.chain(bound.map(|it| format!("environment `{}`", it.meta.name))).collect()
    }

    fn record(self) -> Record {
        Record::Quota(self.into())
    }

    fn events(before: Option<&Self>, after: Option<&Self>) -> Vec<Event> {
        let limits =
            |quota: Option<&Self>| quota.map(|quota| quota.spec.limits.clone()).unwrap_or_default();
        let (before, after) = (limits(before), limits(after));
        if before == after {
            return Vec::new();
        }
        vec![Event::QuotaChanged(QuotaChanged { before, after })]
    }
}

/// `WithinHardLimits`, `WithinSoftLimits`, and of one with shares under it `SharesCovered`, when so much
/// is used.
pub fn conditions(quota: &Quota, used: &Amounts, ledger: &Ledger) -> Vec<Condition> {
    let over = |pick: fn(&Limit) -> Option<u64>| -> Vec<String> {
        quota
            .spec
            .limits
            .iter()
            .filter_map(|(resource, limit)| Some((resource, pick(limit)?)))
            .map(|(resource, limit)| (resource, limit, amounts::get(used, resource)))
            .filter(|(_, limit, used)| used > limit)
            .map(|(resource, limit, used)| {
                let [used, limit] = [used, limit].map(|amount| amounts::shown(resource, amount));
                format!("{resource}: {used} used, limit {limit}")
            })
            .collect()
    };
    let condition = |name, over: Vec<String>, within: &str| {
        if over.is_empty() {
            Condition::new(name, Status::True, "WithinLimits", within)
        } else {
            Condition::new(name, Status::False, "LimitExceeded", over.join("; "))
        }
    };
    let mut conditions = vec![
        condition("WithinHardLimits", over(|limit| limit.hard), "no hard limit is exceeded"),
        condition("WithinSoftLimits", over(|limit| limit.soft), "no soft limit is exceeded"),
    ];
    conditions.extend(tree::shares_covered(quota, ledger));
    conditions
}
