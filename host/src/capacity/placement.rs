//! Where a new worker goes: the candidate with the least [`Score`].

use std::collections::BTreeMap;

use super::{amounts, target::CapacityTarget};
use crate::{
    environments::model::Environment,
    ids::{CapacityTargetId, WorkerPoolId},
    observed::Observed,
    pools::{template::Amounts, worker::Worker},
    records::Records,
    resource,
};

/// How good a target is for one more worker of a pool. The least is best; the order of the fields
/// is the policy: spread a pool, then the load, then by age of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    workers_of_the_pool: u64,
    workers: u64,
    target: CapacityTargetId,
}

/// Why no target could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// None matches the environment's selector, answers and is not cordoned.
    NoTarget,
    /// All that match are full.
    NoCapacity,
}

/// What is used where, kept up to date while a plan grows.
#[derive(Debug)]
pub struct Load<'a> {
    targets: Vec<&'a CapacityTarget>,
    used: BTreeMap<CapacityTargetId, Amounts>,
    of_pool: BTreeMap<(CapacityTargetId, WorkerPoolId), u64>,
}

impl<'a> Load<'a> {
    pub fn new(records: &'a Records, observed: &Observed) -> Self {
        let targets = records.capacity_targets.values().map(|target| &**target);
        let mut load = Self {
            targets: targets.filter(|it| is_open(it, observed)).collect(),
            used: BTreeMap::new(),
            of_pool: BTreeMap::new(),
        };
        for worker in records.workers.values() {
            load.count(worker);
        }
        load
    }

    /// Counts a worker where it was placed.
    pub fn count(&mut self, worker: &Worker) {
        let used = self.used.entry(worker.target).or_default();
        amounts::add(used, &amounts::of_workers(&worker.template.shape, 1));
        *self.of_pool.entry((worker.target, worker.pool)).or_default() += 1;
    }

    /// The best target for one more worker.
    pub fn place(
        &self,
        environment: &Environment,
        pool: WorkerPoolId,
        shape: &Amounts,
    ) -> Result<CapacityTargetId, Misfit> {
        let mut matching = self
            .targets
            .iter()
            .filter(|it| resource::matches(&environment.spec.target_selector, &it.meta.labels))
            .peekable();
        if matching.peek().is_none() {
            return Err(Misfit::NoTarget);
        }
        let need = amounts::of_workers(shape, 1);
        matching
            .filter(|target| self.fits(target, &need))
            .map(|target| self.score(target, pool))
            .min()
            .map(|score| score.target)
            .ok_or(Misfit::NoCapacity)
    }

    fn fits(&self, target: &CapacityTarget, need: &Amounts) -> bool {
        target.spec.capacity.iter().all(|(resource, capacity)| {
            let used = self.used.get(&target.id).map_or(0, |used| amounts::get(used, resource));
            used.saturating_add(amounts::get(need, resource)) <= *capacity
        })
    }

    fn score(&self, target: &CapacityTarget, pool: WorkerPoolId) -> Score {
        let used = self.used.get(&target.id);
        Score {
            workers_of_the_pool: self.of_pool.get(&(target.id, pool)).copied().unwrap_or(0),
            workers: used.map_or(0, |used| amounts::get(used, amounts::WORKERS)),
            target: target.id,
        }
    }
}

/// New workers may be placed on it: it is not cordoned and its driver answers.
pub fn is_open(target: &CapacityTarget, observed: &Observed) -> bool {
    !target.spec.cordoned && observed.workers_on(target.id).is_some()
}
