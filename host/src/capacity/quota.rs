//! A quota: limits per resource that the pools of its environments share.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::amounts;
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
}

/// In the units of [`Amounts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// What would exceed it is refused.
    pub hard: Option<u64>,
    /// What exceeds it is granted and reported.
    pub soft: Option<u64>,
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

    fn check(_: &Records, _: Option<&Self>, spec: &QuotaSpec, found: &mut Violations) {
        amounts::check_resources("spec.limits", spec.limits.keys(), found);
        for (resource, limit) in &spec.limits {
            let field = format!("spec.limits[{}]", crate::resource::quoted(resource));
            match (limit.hard, limit.soft) {
                (None, None) => found.add(
                    &field,
                    "it limits nothing: give `hard`, `soft` or both, or leave the resource out",
                ),
                (Some(hard), Some(soft)) if soft > hard => found.add(
                    &field,
                    format!(
                        "the soft limit {} is above the hard limit {}: it must be at most that",
                        amounts::shown(resource, soft),
                        amounts::shown(resource, hard)
                    ),
                ),
                _ => {}
            }
        }
    }

    fn users(&self, records: &Records) -> Vec<String> {
        records
            .environments
            .values()
            .filter(|environment| environment.spec.quota.as_deref() == Some(&self.meta.name))
            .map(|environment| format!("environment `{}`", environment.meta.name))
            .collect()
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

/// `WithinHardLimits` and `WithinSoftLimits`, when so much is used.
pub fn conditions(quota: &Quota, used: &Amounts) -> Vec<Condition> {
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
    vec![
        condition("WithinHardLimits", over(|limit| limit.hard), "no hard limit is exceeded"),
        condition("WithinSoftLimits", over(|limit| limit.soft), "no soft limit is exceeded"),
    ]
}
