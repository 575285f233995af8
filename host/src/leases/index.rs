//! All leases, and what has to be found of them without looking at each.
//!
//! Invariants:
//! - Only [`Leases::put`] and [`Leases::remove`] change it, so everything in it is as the documents are.
//! - A clone takes no time, and a change takes time that hardly grows with the number of leases: both
//!   share what stays as it is.

use std::{cmp::Reverse, sync::Arc};

use jiff::Timestamp;
use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::{
    model::{CapacityLease, State},
    reclaim::{Turn, turn},
};
use crate::ids::{CapacityLeaseId, EnvironmentId};

/// A place in line: by priority, then by arrival.
pub(super) type Place = (Reverse<i32>, Timestamp, CapacityLeaseId);

#[derive(Debug, Clone)]
pub struct Leases {
    documents: RedBlackTreeMapSync<CapacityLeaseId, Arc<CapacityLease>>,
    names: RedBlackTreeSetSync<(EnvironmentId, String, CapacityLeaseId)>,
    line: RedBlackTreeSetSync<Place>,
    /// When each changes by itself.
    due: RedBlackTreeSetSync<(Timestamp, CapacityLeaseId)>,
    /// Those that give back what they borrow, in turn.
    reclaimable: RedBlackTreeSetSync<Turn>,
    /// Those that are told to.
    reclaimed: RedBlackTreeSetSync<CapacityLeaseId>,
    /// When each has ended.
    ended: RedBlackTreeSetSync<(Timestamp, CapacityLeaseId)>,
}

impl Default for Leases {
    fn default() -> Self {
        Self {
            documents: RedBlackTreeMapSync::new_sync(),
            names: RedBlackTreeSetSync::new_sync(),
            line: RedBlackTreeSetSync::new_sync(),
            due: RedBlackTreeSetSync::new_sync(),
            reclaimable: RedBlackTreeSetSync::new_sync(),
            reclaimed: RedBlackTreeSetSync::new_sync(),
            ended: RedBlackTreeSetSync::new_sync(),
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
            State::Granted(_) => {}
            State::Ended { at, .. } => self.ended.insert_mut((*at, lease.id)),
        }
        if let Some(due) = lease.due() {
            self.due.insert_mut((due, lease.id));
        }
        if let Some(turn) = turn(lease) {
            self.reclaimable.insert_mut(turn);
        }
        if lease.reclaim().is_some() {
            self.reclaimed.insert_mut(lease.id);
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
            State::Granted(_) => {}
            State::Ended { at, .. } => {
                self.ended.remove_mut(&(*at, lease.id));
            }
        }
        if let Some(due) = lease.due() {
            self.due.remove_mut(&(due, lease.id));
        }
        if let Some(turn) = turn(lease) {
            self.reclaimable.remove_mut(&turn);
        }
        self.reclaimed.remove_mut(&lease.id);
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

    /// Whether nobody is in line.
    pub fn line_is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Those that time has changed by now, the longest due first.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = &Arc<CapacityLease>> {
        let due = self.due.iter().take_while(move |(due, _)| *due <= now);
        due.filter_map(|(_, id)| self.get(*id))
    }

    /// Those that are granted and end by time, the first to end first.
    pub fn expiring(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        let leases = self.due.iter().filter_map(|(_, id)| self.get(*id));
        leases.filter(|lease| matches!(lease.state, State::Granted(_)))
    }

    /// Those that give back what they borrow, in turn.
    pub(super) fn reclaimable(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        self.reclaimable.iter().filter_map(|(_, _, Reverse(id))| self.get(*id))
    }

    /// Those that were told to give it back, and have not ended yet.
    pub fn reclaimed(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        self.reclaimed.iter().filter_map(|id| self.get(*id))
    }

    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Those that have ended, the longest ended first.
    pub fn ended(&self) -> impl ExactSizeIterator<Item = &(Timestamp, CapacityLeaseId)> {
        self.ended.iter()
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
