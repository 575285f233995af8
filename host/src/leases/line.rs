//! The waiting line: who is next, and why somebody waits.
//!
//! There is one line, by priority and then by arrival. A lease that waits holds back every later one
//! that counts against a quota of its own, also one that is smaller and would fit: so what becomes free
//! gathers for it, and it does not starve. One that asks for more than a limit itself would hold the
//! others back for nothing, so it does not.

use super::model::CapacityLease;
use crate::{
    capacity::usage::{self, Excess},
    ids::QuotaId,
    records::Records,
};

/// What stands between a lease that is not granted and its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing does.
    Next,
    /// It asks for more than there is, whoever else uses it.
    Beyond(Vec<Excess>),
    /// Others that it shares a quota with.
    Behind {
        others: usize,
        quota: String,
    },
    NoRoom(Vec<Excess>),
}

pub fn standing(records: &Records, lease: &CapacityLease) -> Standing {
    let uses = lease.uses();
    let beyond = usage::beyond(records, lease.environment, &uses);
    if !beyond.is_empty() {
        return Standing::Beyond(beyond);
    }
    if let Some((others, quota)) = behind(records, lease) {
        return Standing::Behind { others, quota };
    }
    let lacking = usage::lacking(records, lease.environment, &uses);
    if lacking.is_empty() { Standing::Next } else { Standing::NoRoom(lacking) }
}

/// Counted from 1 among those that hold it back.
pub fn position(records: &Records, lease: &CapacityLease) -> u32 {
    let others = behind(records, lease).map_or(0, |(others, _)| others);
    u32::try_from(others + 1).unwrap_or(u32::MAX)
}

/// How many hold it back, and the name of a quota that it shares with the first.
fn behind(records: &Records, lease: &CapacityLease) -> Option<(usize, String)> {
    if records.capacity_leases.line_is_empty() {
        return None;
    }
    let own = usage::quotas_of(records, lease.environment);
    let shared = |other: &CapacityLease| {
        let quotas = usage::quotas_of(records, other.environment);
        own.iter().find(|own| quotas.iter().any(|it| it.id == own.id)).copied()
    };
    let mut holding = records
        .capacity_leases
        .before(lease)
        .filter_map(|other| shared(other).map(|quota| (other, quota)))
        .filter(|(other, _)| holds_back(records, other));
    let (_, quota) = holding.next()?;
    Some((1 + holding.count(), quota.meta.name.clone()))
}

fn holds_back(records: &Records, lease: &CapacityLease) -> bool {
    usage::beyond(records, lease.environment, &lease.uses()).is_empty()
}

/// The quotas that leases hold for themselves as the line is gone through from its head.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<QuotaId>);

impl Held {
    /// Whether the next in line can be granted. If not, it holds its quotas from now on.
    pub(super) fn lets_through(&mut self, records: &Records, lease: &CapacityLease) -> bool {
        let quotas = usage::quotas_of(records, lease.environment);
        let uses = lease.uses();
        if !usage::beyond(records, lease.environment, &uses).is_empty() {
            return false;
        }
        let is_free = quotas.iter().all(|quota| !self.0.contains(&quota.id))
            && usage::lacking(records, lease.environment, &uses).is_empty();
        if !is_free {
            let new = quotas.iter().map(|quota| quota.id).filter(|id| !self.0.contains(id));
            let new: Vec<_> = new.collect();
            self.0.extend(new);
        }
        is_free
    }
}
