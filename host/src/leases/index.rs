//! All leases, and what has to be found of them without looking at each.
//!
//! Invariants:
//! - Only [`Leases::put`] and [`Leases::remove`] change it, so everything in it is as the documents are.
//! - A clone takes no time, and a change takes time that hardly grows with the number of leases: both
//!   share what stays as it is.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::model::{CapacityLease, State};
use crate::{
    ids::{CapacityLeaseId, EnvironmentId},
    pools::template::Amounts,
};

/// A place in line: by priority, then by arrival.
pub(super) type Place = (Reverse<i32>, Timestamp, CapacityLeaseId);

/// Exact, whatever is added and taken away.
type Sums = BTreeMap<String, u128>;

#[derive(Debug, Clone)]
pub struct Leases {
    documents: RedBlackTreeMapSync<CapacityLeaseId, Arc<CapacityLease>>,
    names: RedBlackTreeSetSync<(EnvironmentId, String, CapacityLeaseId)>,
    line: RedBlackTreeSetSync<Place>,
    /// When each changes by itself.
    due: RedBlackTreeSetSync<(Timestamp, CapacityLeaseId)>,
    /// When each has ended.
    ended: RedBlackTreeSetSync<(Timestamp, CapacityLeaseId)>,
    /// What is granted in each environment.
    granted: RedBlackTreeMapSync<EnvironmentId, Sums>,
}

impl Default for Leases {
    fn default() -> Self {
        Self {
            documents: RedBlackTreeMapSync::new_sync(),
            names: RedBlackTreeSetSync::new_sync(),
            line: RedBlackTreeSetSync::new_sync(),
            due: RedBlackTreeSetSync::new_sync(),
            ended: RedBlackTreeSetSync::new_sync(),
            granted: RedBlackTreeMapSync::new_sync(),
        }
    }
}

impl Leases {
    pub fn put(&mut self, lease: &Arc<CapacityLease>) {
        if let Some(before) = self.documents.get(&lease.id).cloned() {
            self.forget(&before);
        }
        self.documents.insert_mut(lease.id, Arc::clone(lease));
        self.names.insert_mut(name(lease));
        match &lease.state {
            State::Waiting { .. } => {
                if let Some(place) = place(lease) {
                    self.line.insert_mut(place);
                }
            }
            State::Granted(_) => self.count(lease, |sum, amount| sum + amount),
            State::Ended { at, .. } => self.ended.insert_mut((*at, lease.id)),
        }
        if let Some(due) = lease.due() {
            self.due.insert_mut((due, lease.id));
        }
    }

    pub fn remove(&mut self, id: CapacityLeaseId) {
        if let Some(before) = self.documents.get(&id).cloned() {
            self.forget(&before);
            self.documents.remove_mut(&id);
        }
    }

    fn forget(&mut self, lease: &CapacityLease) {
        self.names.remove_mut(&name(lease));
        match &lease.state {
            State::Waiting { .. } => {
                if let Some(place) = place(lease) {
                    self.line.remove_mut(&place);
                }
            }
            State::Granted(_) => self.count(lease, |sum, amount| sum - amount),
            State::Ended { at, .. } => {
                self.ended.remove_mut(&(*at, lease.id));
            }
        }
        if let Some(due) = lease.due() {
            self.due.remove_mut(&(due, lease.id));
        }
    }

    fn count(&mut self, lease: &CapacityLease, calculate: fn(u128, u128) -> u128) {
        let mut sums = self.granted.get(&lease.environment).cloned().unwrap_or_default();
        for (resource, amount) in lease.uses() {
            let sum = sums.entry(resource).or_default();
            *sum = calculate(*sum, u128::from(amount));
        }
        sums.retain(|_, sum| *sum > 0);
        if sums.is_empty() {
            self.granted.remove_mut(&lease.environment);
        } else {
            self.granted.insert_mut(lease.environment, sums);
        }
    }

    pub fn get(&self, id: CapacityLeaseId) -> Option<&Arc<CapacityLease>> {
        self.documents.get(&id)
    }

    /// By age.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        self.documents.values()
    }

    pub fn of_environment(
        &self,
        environment: EnvironmentId,
    ) -> impl Iterator<Item = &Arc<CapacityLease>> {
        self.names
            .range((environment, String::new(), CapacityLeaseId::FIRST)..)
            .take_while(move |(of, ..)| *of == environment)
            .filter_map(|(.., id)| self.get(*id))
    }

    /// The one of a name that lives, or else the last that ended.
    pub fn named(&self, environment: EnvironmentId, name: &str) -> Option<&Arc<CapacityLease>> {
        self.names
            .range((environment, name.to_owned(), CapacityLeaseId::FIRST)..)
            .take_while(|(of, known, _)| *of == environment && known == name)
            .filter_map(|(.., id)| self.get(*id))
            .max_by_key(|lease| match &lease.state {
                State::Ended { at, .. } => (*at, lease.id),
                State::Waiting { .. } | State::Granted(_) => (Timestamp::MAX, lease.id),
            })
    }

    /// All in line, the first first.
    pub fn in_line(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        self.line.iter().filter_map(|(.., id)| self.get(*id))
    }

    /// All in line before one, the first first. That one need not be in line yet.
    pub(super) fn before(
        &self,
        lease: &CapacityLease,
    ) -> impl Iterator<Item = &Arc<CapacityLease>> {
        let end = place(lease);
        let is_before = move |place: &&Place| end.as_ref().is_none_or(|end| *place < end);
        self.line.iter().take_while(is_before).filter_map(|(.., id)| self.get(*id))
    }

    /// Whether nobody is in line.
    pub fn line_is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Those that time has changed by now, the longest due first.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = &Arc<CapacityLease>> {
        let due = self.due.iter().take_while(move |(due, _)| *due <= now);
        due.filter_map(|(_, id)| self.get(*id))
    }

    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Those that have ended, the longest ended first.
    pub fn ended(&self) -> impl ExactSizeIterator<Item = &(Timestamp, CapacityLeaseId)> {
        self.ended.iter()
    }

    /// What all granted leases of an environment use.
    pub fn used_in(&self, environment: EnvironmentId) -> Amounts {
        let sums = self.granted.get(&environment).into_iter().flatten();
        let saturated = |sum: &u128| u64::try_from(*sum).unwrap_or(u64::MAX);
        sums.map(|(resource, sum)| (resource.clone(), saturated(sum))).collect()
    }
}

fn name(lease: &CapacityLease) -> (EnvironmentId, String, CapacityLeaseId) {
    (lease.environment, lease.meta.name.clone(), lease.id)
}

/// `None` for one that does not wait.
pub(super) fn place(lease: &CapacityLease) -> Option<Place> {
    match &lease.state {
        State::Waiting { since, .. } => Some((Reverse(lease.spec.priority), *since, lease.id)),
        State::Granted(_) | State::Ended { .. } => None,
    }
}
