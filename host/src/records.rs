//! All that the store holds and decisions are made from: intents, decided workers, tokens.
//!
//! Invariants:
//! - Only [`Records::apply`] changes it, so every index is as the documents are.
//! - A clone is cheap: it shares all that later changes leave alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use rpds::RedBlackTreeMapSync;

use crate::{
    accounts::model::ServiceAccount,
    capacity::{ledger::Ledger, quota::Quota, target::CapacityTarget},
    conditions::Recorded,
    environments::model::Environment,
    ids::{
        CapacityLeaseId, CapacityTargetId, EnvironmentId, EventSubscriptionId, OperationId,
        QuotaId, ServiceAccountId, TokenId, WorkerId, WorkerPoolId,
    },
    leases::{index::Leases, model::CapacityLease},
    operations::model::Operation,
    pools::{
        model::WorkerPool,
        template::{Amounts, WorkerTemplate},
        worker::Worker,
    },
    subscriptions::model::EventSubscription,
    tokens::model::Token,
};

type Documents<I, T> = Arc<BTreeMap<I, Arc<T>>>;

#[derive(Debug, Clone, Default)]
pub struct Records {
    /// Grows with every stored change.
    pub version: u64,
    /// The last fencing token that was given.
    pub fencing_token: u64,
    /// When the last change was stored. The time of the store never goes back before it.
    pub time: Timestamp,
    pub capacity_leases: Leases,
    pub capacity_targets: Documents<CapacityTargetId, CapacityTarget>,
    pub environments: Documents<EnvironmentId, Environment>,
    pub event_subscriptions: Documents<EventSubscriptionId, EventSubscription>,
    /// What is used of every quota.
    pub ledger: Ledger,
    pub operations: Documents<OperationId, Operation>,
    pub quotas: Documents<QuotaId, Quota>,
    pub service_accounts: Documents<ServiceAccountId, ServiceAccount>,
    pub tokens: Documents<TokenId, Token>,
    pub worker_pools: Documents<WorkerPoolId, WorkerPool>,
    pub workers: Documents<WorkerId, Worker>,
    /// By the id of what they are about.
    pub conditions: RedBlackTreeMapSync<String, Recorded>,
    environment_pools: Arc<BTreeSet<(EnvironmentId, WorkerPoolId)>>,
    /// Operations that have not ended.
    operations_under_way: Arc<BTreeSet<(WorkerPoolId, OperationId)>>,
    pool_workers: Arc<BTreeSet<(WorkerPoolId, WorkerId)>>,
    quota_names: Arc<BTreeMap<String, QuotaId>>,
}

/// A document to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    CapacityLease(Arc<CapacityLease>),
    CapacityTarget(Arc<CapacityTarget>),
    Conditions(String, Recorded),
    Counter(Counter, u64),
    Environment(Arc<Environment>),
    EventSubscription(Arc<EventSubscription>),
    Operation(Arc<Operation>),
    Quota(Arc<Quota>),
    ServiceAccount(Arc<ServiceAccount>),
    Token(Arc<Token>),
    Worker(Arc<Worker>),
    WorkerPool(Arc<WorkerPool>),
}

/// Numbers of the whole host, which only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// The last fencing token that was given.
    FencingToken,
    /// When the last change was stored, in microseconds since 1970.
    Time,
}

impl Counter {
    /// As the store knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FencingToken => "fencing_token",
            Self::Time => "time",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::FencingToken, Self::Time].into_iter().find(|counter| counter.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Put(Record),
    Remove(Record),
    /// What is used of quotas is counted anew. It is not stored: it follows from the documents.
    Recount,
}

impl Records {
    pub fn apply(&mut self, change: &Change) {
        self.version += 1;
        match change {
            Change::Put(record) => self.put(record),
            Change::Remove(record) => self.remove(record),
            Change::Recount => self.recount(),
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
            Record::CapacityLease(it) => {
                self.ledger.count(it.environment, &self.granted(it.id), &it.holds());
                self.capacity_leases.put(it);
            }
            Record::CapacityTarget(it) => put(&mut self.capacity_targets, it.id, it),
            Record::Conditions(subject, it) => {
                self.conditions.insert_mut(subject.clone(), it.clone());
            }
            Record::Counter(counter, number) => self.count(*counter, *number),
            Record::Environment(it) => {
                self.ledger.bind(it.id, it.spec.quota.as_deref());
                put(&mut self.environments, it.id, it);
            }
            Record::EventSubscription(it) => put(&mut self.event_subscriptions, it.id, it),
            Record::Operation(it) => {
                put(&mut self.operations, it.id, it);
                let under_way = Arc::make_mut(&mut self.operations_under_way);
                if it.ended_at.is_none() {
                    under_way.insert((it.pool, it.id));
                } else {
                    under_way.remove(&(it.pool, it.id));
                }
            }
            Record::Quota(it) => {
                self.ledger.declare(&it.meta.name, Some(&it.spec));
                put(&mut self.quotas, it.id, it);
                if !self.quota_names.contains_key(&it.meta.name) {
                    Arc::make_mut(&mut self.quota_names).insert(it.meta.name.clone(), it.id);
                }
            }
            Record::ServiceAccount(it) => put(&mut self.service_accounts, it.id, it),
            Record::Token(it) => put(&mut self.tokens, it.id, it),
            Record::Worker(it) => {
                put(&mut self.workers, it.id, it);
                if !self.pool_workers.contains(&(it.pool, it.id)) {
                    Arc::make_mut(&mut self.pool_workers).insert((it.pool, it.id));
                }
            }
            Record::WorkerPool(it) => {
                self.ledger.count(it.environment, &self.asked(it.id), &it.asks());
                put(&mut self.worker_pools, it.id, it);
                if !self.environment_pools.contains(&(it.environment, it.id)) {
                    Arc::make_mut(&mut self.environment_pools).insert((it.environment, it.id));
                }
            }
        }
    }

    fn remove(&mut self, record: &Record) {
        fn remove<I: Ord + Clone, T>(documents: &mut Documents<I, T>, id: &I) {
            Arc::make_mut(documents).remove(id);
        }
        match record {
            Record::CapacityLease(it) => {
                self.ledger.count(it.environment, &self.granted(it.id), &Amounts::new());
                self.capacity_leases.remove(it.id);
            }
            Record::CapacityTarget(it) => remove(&mut self.capacity_targets, &it.id),
            Record::Conditions(subject, _) => {
                self.conditions.remove_mut(subject);
            }
            Record::Counter(counter, _) => self.count(*counter, 0),
            Record::Environment(it) => {
                self.ledger.bind(it.id, None);
                remove(&mut self.environments, &it.id);
            }
            Record::EventSubscription(it) => remove(&mut self.event_subscriptions, &it.id),
            Record::Operation(it) => {
                remove(&mut self.operations, &it.id);
                Arc::make_mut(&mut self.operations_under_way).remove(&(it.pool, it.id));
            }
            Record::Quota(it) => {
                self.ledger.declare(&it.meta.name, None);
                remove(&mut self.quotas, &it.id);
                Arc::make_mut(&mut self.quota_names).remove(&it.meta.name);
            }
            Record::ServiceAccount(it) => remove(&mut self.service_accounts, &it.id),
            Record::Token(it) => remove(&mut self.tokens, &it.id),
            Record::Worker(it) => {
                remove(&mut self.workers, &it.id);
                Arc::make_mut(&mut self.pool_workers).remove(&(it.pool, it.id));
            }
            Record::WorkerPool(it) => {
                self.ledger.count(it.environment, &self.asked(it.id), &Amounts::new());
                remove(&mut self.worker_pools, &it.id);
                Arc::make_mut(&mut self.environment_pools).remove(&(it.environment, it.id));
            }
        }
    }

    fn recount(&mut self) {
        let mut ledger = Ledger::default();
        for quota in self.quotas.values() {
            ledger.declare(&quota.meta.name, Some(&quota.spec));
        }
        for environment in self.environments.values() {
            ledger.bind(environment.id, environment.spec.quota.as_deref());
        }
        for pool in self.worker_pools.values() {
            ledger.count(pool.environment, &Amounts::new(), &pool.asks());
        }
        for lease in self.capacity_leases.iter() {
            ledger.count(lease.environment, &Amounts::new(), &lease.holds());
        }
        self.ledger = ledger;
    }

    /// What a lease uses at present.
    fn granted(&self, id: CapacityLeaseId) -> Amounts {
        self.capacity_leases.get(id).map(|lease| lease.holds()).unwrap_or_default()
    }

    /// What a pool uses at present.
    fn asked(&self, id: WorkerPoolId) -> Amounts {
        self.worker_pools.get(&id).map(|pool| pool.asks()).unwrap_or_default()
    }

    fn count(&mut self, counter: Counter, number: u64) {
        match counter {
            Counter::FencingToken => self.fencing_token = number,
            Counter::Time => {
                let time = i64::try_from(number).ok().map(Timestamp::from_microsecond);
                self.time = time.and_then(Result::ok).unwrap_or(Timestamp::MAX);
            }
        }
    }

    /// By id or `ENVIRONMENT/NAME`: the one of the name that lives, or else the last that ended.
    pub fn capacity_lease(&self, key: &str) -> Option<&CapacityLease> {
        let Some((environment, name)) = key.split_once('/') else {
            let id: CapacityLeaseId = key.parse().ok()?;
            return self.capacity_leases.get(id).map(|lease| &**lease);
        };
        let environment = self.environment(environment)?;
        self.capacity_leases.named(environment.id, name).map(|lease| &**lease)
    }

    /// By id or name.
    pub fn quota(&self, key: &str) -> Option<&Quota> {
        find(&self.quotas, key, |it| it.meta.name == key)
    }

    pub fn quota_named(&self, name: &str) -> Option<&Arc<Quota>> {
        self.quota_names.get(name).and_then(|id| self.quotas.get(id))
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
    pub fn event_subscription(&self, key: &str) -> Option<&EventSubscription> {
        find(&self.event_subscriptions, key, |it| it.meta.name == key)
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

    /// By id.
    pub fn operation(&self, key: &str) -> Option<&Arc<Operation>> {
        key.parse().ok().and_then(|id| self.operations.get(&id))
    }

    /// Of all pools.
    pub fn operations_under_way(&self) -> impl Iterator<Item = &Arc<Operation>> {
        self.operations_under_way.iter().filter_map(|(_, id)| self.operations.get(id))
    }

    /// By id, which is by age.
    pub fn operations_under_way_in(
        &self,
        pool: WorkerPoolId,
    ) -> impl Iterator<Item = &Arc<Operation>> {
        self.operations_under_way
            .range((pool, OperationId::FIRST)..)
            .take_while(move |(of, _)| *of == pool)
            .filter_map(|(_, id)| self.operations.get(id))
    }

    pub fn worker(&self, key: &str) -> Option<&Arc<Worker>> {
        key.parse().ok().and_then(|id| self.workers.get(&id))
    }

    /// By id, which is by age.
    pub fn pools_of(&self, environment: EnvironmentId) -> impl Iterator<Item = &Arc<WorkerPool>> {
        self.environment_pools
            .range((environment, WorkerPoolId::FIRST)..)
            .take_while(move |(of, _)| *of == environment)
            .filter_map(|(_, id)| self.worker_pools.get(id))
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
