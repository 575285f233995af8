//! All that the store holds and decisions are made from: intents, decided workers, tokens.
//!
//! Invariants:
//! - Only [`Records::apply`] changes it, so every index is as the documents are.
//! - A clone is cheap: it shares all that later changes leave alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    accounts::model::ServiceAccount,
    capacity::{quota::Quota, target::CapacityTarget},
    conditions::Recorded,
    environments::model::Environment,
    ids::{
        CapacityTargetId, EnvironmentId, QuotaId, ServiceAccountId, TokenId, WorkerId, WorkerPoolId,
    },
    pools::{model::WorkerPool, template::WorkerTemplate, worker::Worker},
    tokens::model::Token,
};

type Documents<I, T> = Arc<BTreeMap<I, Arc<T>>>;

#[derive(Debug, Clone, Default)]
pub struct Records {
    /// Grows with every stored change.
    pub version: u64,
    pub capacity_targets: Documents<CapacityTargetId, CapacityTarget>,
    pub environments: Documents<EnvironmentId, Environment>,
    pub quotas: Documents<QuotaId, Quota>,
    pub service_accounts: Documents<ServiceAccountId, ServiceAccount>,
    pub tokens: Documents<TokenId, Token>,
    pub worker_pools: Documents<WorkerPoolId, WorkerPool>,
    pub workers: Documents<WorkerId, Worker>,
    /// By the id of what they are about.
    pub conditions: Arc<BTreeMap<String, Recorded>>,
    pool_workers: Arc<BTreeSet<(WorkerPoolId, WorkerId)>>,
}

/// A document to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    CapacityTarget(Arc<CapacityTarget>),
    Conditions(String, Recorded),
    Environment(Arc<Environment>),
    Quota(Arc<Quota>),
    ServiceAccount(Arc<ServiceAccount>),
    Token(Arc<Token>),
    Worker(Arc<Worker>),
    WorkerPool(Arc<WorkerPool>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Put(Record),
    Remove(Record),
}

impl Records {
    pub fn apply(&mut self, change: &Change) {
        self.version += 1;
        match change {
            Change::Put(record) => self.put(record),
            Change::Remove(record) => self.remove(record),
        }
    }

    /// As it would be after some changes.
    pub fn with(&self, changes: &[Change]) -> Self {
        let mut after = self.clone();
        for change in changes {
            after.apply(change);
        }
        after
    }

    fn put(&mut self, record: &Record) {
        fn put<I: Ord + Clone, T>(documents: &mut Documents<I, T>, id: I, document: &Arc<T>) {
            Arc::make_mut(documents).insert(id, Arc::clone(document));
        }
        match record {
            Record::CapacityTarget(it) => put(&mut self.capacity_targets, it.id, it),
            Record::Conditions(subject, it) => {
                Arc::make_mut(&mut self.conditions).insert(subject.clone(), it.clone());
            }
            Record::Environment(it) => put(&mut self.environments, it.id, it),
            Record::Quota(it) => put(&mut self.quotas, it.id, it),
            Record::ServiceAccount(it) => put(&mut self.service_accounts, it.id, it),
            Record::Token(it) => put(&mut self.tokens, it.id, it),
            Record::Worker(it) => {
                put(&mut self.workers, it.id, it);
                if !self.pool_workers.contains(&(it.pool, it.id)) {
                    Arc::make_mut(&mut self.pool_workers).insert((it.pool, it.id));
                }
            }
            Record::WorkerPool(it) => put(&mut self.worker_pools, it.id, it),
        }
    }

    fn remove(&mut self, record: &Record) {
        fn remove<I: Ord + Clone, T>(documents: &mut Documents<I, T>, id: &I) {
            Arc::make_mut(documents).remove(id);
        }
        match record {
            Record::CapacityTarget(it) => remove(&mut self.capacity_targets, &it.id),
            Record::Conditions(subject, _) => {
                Arc::make_mut(&mut self.conditions).remove(subject);
            }
            Record::Environment(it) => remove(&mut self.environments, &it.id),
            Record::Quota(it) => remove(&mut self.quotas, &it.id),
            Record::ServiceAccount(it) => remove(&mut self.service_accounts, &it.id),
            Record::Token(it) => remove(&mut self.tokens, &it.id),
            Record::Worker(it) => {
                remove(&mut self.workers, &it.id);
                Arc::make_mut(&mut self.pool_workers).remove(&(it.pool, it.id));
            }
            Record::WorkerPool(it) => remove(&mut self.worker_pools, &it.id),
        }
    }

    /// By id or name.
    pub fn quota(&self, key: &str) -> Option<&Quota> {
        find(&self.quotas, key, |it| it.meta.name == key)
    }

    /// By id or name.
    pub fn capacity_target(&self, key: &str) -> Option<&CapacityTarget> {
        find(&self.capacity_targets, key, |it| it.meta.name == key)
    }

    /// By id or name.
    pub fn environment(&self, key: &str) -> Option<&Environment> {
        find(&self.environments, key, |it| it.meta.name == key)
    }

    /// By id or name.
    pub fn service_account(&self, key: &str) -> Option<&ServiceAccount> {
        find(&self.service_accounts, key, |it| it.meta.name == key)
    }

    /// By id or `ENVIRONMENT/NAME`, where the environment may be given by id or name.
    pub fn worker_pool(&self, key: &str) -> Option<&WorkerPool> {
        let Some((environment, name)) = key.split_once('/') else {
            return find(&self.worker_pools, key, |_| false);
        };
        let environment = self.environment(environment)?;
        let named = self.pools_of(environment.id).find(|pool| pool.meta.name == name);
        named.map(|pool| &**pool)
    }

    pub fn worker(&self, key: &str) -> Option<&Arc<Worker>> {
        key.parse().ok().and_then(|id| self.workers.get(&id))
    }

    pub fn pools_of(&self, environment: EnvironmentId) -> impl Iterator<Item = &Arc<WorkerPool>> {
        self.worker_pools.values().filter(move |pool| pool.environment == environment)
    }

    /// By id, which is by age.
    pub fn workers_of(&self, pool: WorkerPoolId) -> impl Iterator<Item = &Arc<Worker>> {
        self.pool_workers
            .range((pool, WorkerId::FIRST)..)
            .take_while(move |(of, _)| *of == pool)
            .filter_map(|(_, id)| self.workers.get(id))
    }

    /// What the pool's workers run at present; `None` when its environment is gone.
    pub fn template(&self, pool: &WorkerPool) -> Option<WorkerTemplate> {
        self.environments.get(&pool.environment).map(|environment| pool.template(environment))
    }
}

fn find<'a, I: Ord + std::str::FromStr, T>(
    documents: &'a Documents<I, T>,
    key: &str,
    is_named: impl Fn(&T) -> bool,
) -> Option<&'a T> {
    let by_id = key.parse().ok().and_then(|id: I| documents.get(&id));
    by_id.or_else(|| documents.values().find(|it| is_named(it))).map(|it| &**it)
}
