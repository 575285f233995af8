//! What is used of every quota, kept up to date with each change.
//!
//! Quotas form trees. What an environment uses is used of the quota that it is bound to and of all above
//! that. A quota *takes* from the one above it what is used of it, and what its share keeps for it:
//!
//! - `inside` = used directly + what all quotas under it take
//! - `floor` = share − lending: what nobody else may use, 0 without `lending`
//! - `taken` = the larger of both
//!
//! Invariants:
//! - It is a function of the documents, whatever the order in which they came. [`super::recount`] proves
//!   it the slow way.
//! - Sums are exact: nothing saturates before it is shown.
//! - A change of use costs the depth of the tree, and a clone costs nothing.
//!
//! Quotas are known by name, since that is how they are bound; one that is named before it is read is
//! there with no limits.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::quota::{Limit, QuotaSpec};
use crate::{ids::EnvironmentId, pools::template::Amounts};

/// Of a quota and all above it. A tree in a damaged store might have no end.
pub const DEPTH_MAX: usize = 8;

type Limits = Arc<BTreeMap<String, Limit>>;
type Sums = BTreeMap<String, u128>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    nodes: RedBlackTreeMapSync<String, Node>,
    /// Parent and child.
    children: RedBlackTreeSetSync<(String, String)>,
    bound: RedBlackTreeMapSync<EnvironmentId, String>,
    environments: RedBlackTreeMapSync<EnvironmentId, Sums>,
}

/// One quota.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    parent: Option<String>,
    limits: Limits,
    /// By resource; without those of which all is zero.
    cells: BTreeMap<String, Cell>,
}

/// Of one resource of one quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cell {
    /// In environments bound to it itself.
    direct: u128,
    /// Sums over all quotas directly under it.
    below: Below,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Below {
    used: u128,
    taken: u128,
    /// What they would take if nothing were used.
    idle: u128,
    share: u128,
    /// How many have a share.
    sharers: u32,
}

/// Where a quota stands with one resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub used: u128,
    pub direct: u128,
    pub inside: u128,
    /// What it takes from the quota above.
    pub taken: u128,
    /// What it would take if nothing were used,
    pub idle: u128,
    /// and what those under it would.
    pub idle_inside: u128,
    pub floor: u128,
    /// What is its own: its share, or else the sum of the shares under it.
    pub share: Option<u128>,
    /// The sum of the shares under it.
    pub shares_below: Option<u128>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            nodes: RedBlackTreeMapSync::new_sync(),
            children: RedBlackTreeSetSync::new_sync(),
            bound: RedBlackTreeMapSync::new_sync(),
            environments: RedBlackTreeMapSync::new_sync(),
        }
    }
}

impl Cell {
    fn figures(&self, limit: Limit) -> Figures {
        let own = limit.share.map(u128::from);
        let floor = own
            .zip(limit.lending)
            .map_or(0, |(share, lending)| share.saturating_sub(u128::from(lending)));
        let shares_below = (self.below.sharers > 0).then_some(self.below.share);
        let inside = self.direct + self.below.taken;
        Figures {
            used: self.direct + self.below.used,
            direct: self.direct,
            inside,
            taken: inside.max(floor),
            idle: self.below.idle.max(floor),
            idle_inside: self.below.idle,
            floor,
            share: own.or(shares_below),
            shares_below,
        }
    }
}

impl Below {
    fn replace(&mut self, before: &Figures, after: &Figures) {
        // Below zero it would be only in a store that was tampered with.
        let turn = |sum: u128, pick: fn(&Figures) -> u128| {
            (sum + pick(after)).saturating_sub(pick(before))
        };
        self.used = turn(self.used, |it| it.used);
        self.taken = turn(self.taken, |it| it.taken);
        self.idle = turn(self.idle, |it| it.idle);
        self.share = turn(self.share, |it| it.share.unwrap_or(0));
        let shares = |it: &Figures| u32::from(it.share.is_some());
        self.sharers = (self.sharers + shares(after)).saturating_sub(shares(before));
    }
}

impl Node {
    fn limit(&self, resource: &str) -> Limit {
        self.limits.get(resource).copied().unwrap_or_default()
    }

    fn figures(&self, resource: &str) -> Figures {
        self.cells.get(resource).copied().unwrap_or_default().figures(self.limit(resource))
    }

    fn all(&self, resources: &BTreeSet<String>) -> Vec<Figures> {
        resources.iter().map(|resource| self.figures(resource)).collect()
    }

    fn alter(&mut self, resource: &str, alter: impl FnOnce(&mut Cell)) {
        let mut cell = self.cells.get(resource).copied().unwrap_or_default();
        alter(&mut cell);
        if cell == Cell::default() {
            self.cells.remove(resource);
        } else {
            self.cells.insert(resource.to_owned(), cell);
        }
    }

    fn is_empty(&self) -> bool {
        self.parent.is_none() && self.limits.is_empty() && self.cells.is_empty()
    }
}

impl Ledger {
    /// An environment uses so much less and so much more.
    pub fn count(&mut self, environment: EnvironmentId, less: &Amounts, more: &Amounts) {
        if less == more {
            return;
        }
        let mut sums = self.environments.get(&environment).cloned().unwrap_or_default();
        let before = sums.clone();
        for (resource, amount) in more {
            *sums.entry(resource.clone()).or_default() += u128::from(*amount);
        }
        for (resource, amount) in less {
            let sum = sums.entry(resource.clone()).or_default();
            *sum = sum.saturating_sub(u128::from(*amount));
        }
        sums.retain(|_, sum| *sum > 0);
        if let Some(quota) = self.bound.get(&environment).cloned() {
            self.charge(&quota, &before, &sums);
        }
        if sums.is_empty() {
            self.environments.remove_mut(&environment);
        } else {
            self.environments.insert_mut(environment, sums);
        }
    }

    /// An environment counts against a quota, or none.
    pub fn bind(&mut self, environment: EnvironmentId, quota: Option<&str>) {
        let before = self.bound.get(&environment).cloned();
        if before.as_deref() == quota {
            return;
        }
        let sums = self.environments.get(&environment).cloned().unwrap_or_default();
        if let Some(before) = before {
            self.charge(&before, &sums, &Sums::new());
            self.bound.remove_mut(&environment);
        }
        if let Some(quota) = quota {
            self.charge(quota, &Sums::new(), &sums);
            self.bound.insert_mut(environment, quota.to_owned());
        }
    }

    /// A quota is as it is declared; `None` when it is gone.
    pub fn declare(&mut self, name: &str, spec: Option<&QuotaSpec>) {
        let mut node = self.nodes.get(name).cloned().unwrap_or_default();
        let limits = spec.map(|spec| spec.limits.clone()).unwrap_or_default();
        let parent = spec.and_then(|spec| spec.parent.clone());
        let named = [node.cells.keys().collect::<Vec<_>>(), node.limits.keys().collect()].concat();
        let resources = named.into_iter().chain(limits.keys()).cloned().collect();
        let before = (node.parent.clone(), node.all(&resources));
        node.limits = Arc::new(limits);
        node.parent.clone_from(&parent);
        let after = (parent, node.all(&resources));
        self.put(name, node);
        let nothing = vec![Figures::default(); resources.len()];
        if before.0 == after.0 {
            self.lift(after.0, &resources, before.1, after.1);
            return;
        }
        if let Some(parent) = &before.0 {
            self.children.remove_mut(&(parent.clone(), name.to_owned()));
            self.lift(before.0, &resources, before.1, nothing.clone());
        }
        if let Some(parent) = &after.0 {
            self.children.insert_mut((parent.clone(), name.to_owned()));
            self.lift(after.0, &resources, nothing, after.1);
        }
    }

    /// What is used directly of a quota changes from one to another.
    fn charge(&mut self, quota: &str, before: &Sums, after: &Sums) {
        let changed = |resource: &&String| before.get(*resource) != after.get(*resource);
        let resources = before.keys().chain(after.keys()).filter(changed).cloned().collect();
        let mut node = self.nodes.get(quota).cloned().unwrap_or_default();
        let was = node.all(&resources);
        let get = |sums: &Sums, resource: &String| sums.get(resource).copied().unwrap_or(0);
        for resource in &resources {
            node.alter(resource, |cell| {
                let more = cell.direct + get(after, resource);
                cell.direct = more.saturating_sub(get(before, resource));
            });
        }
        let is = node.all(&resources);
        let parent = node.parent.clone();
        self.put(quota, node);
        self.lift(parent, &resources, was, is);
    }

    /// Takes a change of one quota to all above it.
    fn lift(
        &mut self,
        mut parent: Option<String>,
        resources: &BTreeSet<String>,
        mut before: Vec<Figures>,
        mut after: Vec<Figures>,
    ) {
        for _ in 0..DEPTH_MAX {
            let Some(name) = parent.filter(|_| before != after) else { return };
            let mut node = self.nodes.get(&name).cloned().unwrap_or_default();
            let was = node.all(resources);
            for (resource, (before, after)) in resources.iter().zip(before.iter().zip(&after)) {
                node.alter(resource, |cell| cell.below.replace(before, after));
            }
            (before, after) = (was, node.all(resources));
            parent = node.parent.clone();
            self.put(&name, node);
        }
    }

    fn put(&mut self, name: &str, node: Node) {
        if node.is_empty() {
            self.nodes.remove_mut(name);
        } else {
            self.nodes.insert_mut(name.to_owned(), node);
        }
    }

    /// The quotas that an environment counts against, from its own upwards.
    pub fn chain(&self, environment: EnvironmentId) -> Vec<&str> {
        self.bound.get(&environment).map(|quota| self.upwards(quota)).unwrap_or_default()
    }

    /// A quota and all above it.
    pub fn upwards<'a>(&'a self, quota: &'a str) -> Vec<&'a str> {
        let above = |name: &&'a str| self.nodes.get(*name).and_then(|it| it.parent.as_deref());
        std::iter::successors(Some(quota), above).take(DEPTH_MAX).collect()
    }

    /// Those directly under a quota, by name.
    pub fn children<'a>(&'a self, quota: &'a str) -> impl Iterator<Item = &'a str> {
        self.children
            .range((quota.to_owned(), String::new())..)
            .take_while(move |(parent, _)| parent == quota)
            .map(|(_, child)| child.as_str())
    }

    /// How many quotas lie one under the other below this one, itself counted.
    pub fn height(&self, quota: &str) -> usize {
        let mut level = vec![quota];
        let mut height = 0;
        while !level.is_empty() && height <= DEPTH_MAX {
            height += 1;
            level = level.into_iter().flat_map(|it| self.children(it)).collect();
        }
        height
    }

    pub fn figures(&self, quota: &str, resource: &str) -> Figures {
        self.nodes.get(quota).map(|node| node.figures(resource)).unwrap_or_default()
    }

    pub fn limit(&self, quota: &str, resource: &str) -> Limit {
        self.nodes.get(quota).map(|node| node.limit(resource)).unwrap_or_default()
    }

    pub fn has_parent(&self, quota: &str) -> bool {
        self.nodes.get(quota).is_some_and(|node| node.parent.is_some())
    }

    /// All that is limited or used of a quota, sorted.
    pub fn resources(&self, quota: &str) -> BTreeSet<&str> {
        let node = self.nodes.get(quota);
        let named = node.map(|node| node.cells.keys().chain(node.limits.keys()));
        named.into_iter().flatten().map(String::as_str).collect()
    }

    /// What an environment uses.
    pub fn used_in(&self, environment: EnvironmentId) -> Amounts {
        let sums = self.environments.get(&environment).into_iter().flatten();
        sums.map(|(resource, sum)| (resource.clone(), saturated(*sum))).collect()
    }

    /// Names of all quotas that are limited, used or under another.
    pub fn quotas(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }
}

/// As it is shown.
pub fn saturated(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}
