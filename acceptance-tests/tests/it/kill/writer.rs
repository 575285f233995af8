//! A client that keeps account of what was acknowledged.
//!
//! It is the only writer of its pool, so after a restart the pool is as it was last acknowledged or,
//! when a write was under way, as that write would have it; nothing else is right.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use acceptance_tests::host::Api;
use anyhow::{Context, Result, bail, ensure};
use proto::runtimecloud::v1::{
    self as api, environments_client::EnvironmentsClient, worker_pools_client::WorkerPoolsClient,
};
use tonic::{Code, Status};

use super::Random;

pub(super) const ENVIRONMENT: &str = "written";
const SIZE_MAX: u32 = 3;

pub(super) struct Writer {
    api: Api,
    random: Random,
    pool: String,
    requests: u32,
    known: Option<Pool>,
    under_way: Option<Write>,
    environments: Vec<String>,
    acknowledged: Vec<(String, u64)>,
}

/// What the writer knows of its pool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pool {
    generation: u64,
    revision: u64,
    size: u32,
    mark: String,
}

#[derive(Debug, Clone)]
struct Write {
    request_id: String,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Create {
        size: u32,
        mark: String,
    },
    Scale {
        size: u32,
    },
    /// Another mark replaces the workers.
    Update {
        size: u32,
        mark: String,
    },
    /// Makes an environment; says nothing of the pool.
    Environment {
        name: String,
    },
}

impl Writer {
    pub(super) fn new(number: u64, api: Api, random: Random) -> Self {
        Self {
            api,
            random,
            pool: format!("pool-{number}"),
            requests: 0,
            known: None,
            under_way: None,
            environments: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    /// Ids and generations of all that was acknowledged.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = (String, u64)> {
        self.acknowledged.iter().cloned()
    }

    pub(super) fn environments(&self) -> &[String] {
        &self.environments
    }

    /// Writes until the host is killed. An error before that fails the test.
    pub(super) async fn write_until(mut self, dying: Arc<AtomicBool>) -> Result<Self> {
        loop {
            let write = self.choose();
            self.under_way = Some(write.clone());
            match self.send(&write).await {
                Ok(()) => self.under_way = None,
                Err(_) if dying.load(SeqCst) => return Ok(self),
                Err(status) => bail!("{write:?} was refused: {status:?}"),
            }
        }
    }

    /// After a restart: is the pool as it must be? Then what was under way is sent again, as a client
    /// would, and must not be done twice.
    pub(super) async fn check(&mut self) -> Result<()> {
        let found = self.find().await?;
        let known = self.known.clone();
        let Some(write) = self.under_way.take() else {
            return self.expect(found.as_ref(), known.as_ref());
        };
        let done = self.after(&write.change);
        if found.as_ref().map(Pool::intent) != done.as_ref().map(Pool::intent) {
            self.expect(found.as_ref(), known.as_ref())?;
        }
        let sent = self.send(&write).await;
        sent.with_context(|| format!("{write:?} was sent again after the restart"))?;
        let found = self.find().await?;
        ensure!(
            found.as_ref().map(Pool::intent) == done.as_ref().map(Pool::intent),
            "{write:?} was sent again: found {found:?}, expected {done:?}"
        );
        Ok(())
    }

    fn expect(&self, found: Option<&Pool>, known: Option<&Pool>) -> Result<()> {
        let same = found.map(Pool::intent) == known.map(Pool::intent);
        let newer = found.map(|pool| pool.revision) >= known.map(|pool| pool.revision);
        ensure!(same && newer, "`{}`: found {found:?}, acknowledged was {known:?}", self.pool);
        Ok(())
    }

    fn choose(&mut self) -> Write {
        self.requests += 1;
        let unique = format!("{}-{}", self.pool, self.requests);
        let change = match (&self.known, self.random.below(8)) {
            (_, 0) => Change::Environment { name: unique.clone() },
            (None, _) => Change::Create { size: 1, mark: unique.clone() },
            (Some(pool), 1) => Change::Update { size: pool.size, mark: unique.clone() },
            (Some(pool), step) => {
                let step = 1 + u32::try_from(step).unwrap_or(0) % SIZE_MAX;
                Change::Scale { size: (pool.size + step) % (SIZE_MAX + 1) }
            }
        };
        Write { request_id: unique, change }
    }

    /// The pool when the change is done; its revision stays unsaid.
    fn after(&self, change: &Change) -> Option<Pool> {
        let known = self.known.clone();
        let generation = known.as_ref().map_or(0, |pool| pool.generation) + 1;
        let (size, mark) = match change {
            Change::Environment { .. } => return known,
            Change::Scale { size } => (*size, known?.mark),
            Change::Create { size, mark } | Change::Update { size, mark } => (*size, mark.clone()),
        };
        Some(Pool { generation, revision: 0, size, mark })
    }

    /// Sends a write and takes down what was acknowledged.
    async fn send(&mut self, write: &Write) -> Result<(), Status> {
        let request_id = write.request_id.clone();
        let options = Some(api::WriteOptions { request_id, ..Default::default() });
        let mut pools = WorkerPoolsClient::new(self.api.clone());
        let key = self.key();
        let pool = match &write.change {
            Change::Environment { name } => return self.make_environment(name, options).await,
            Change::Create { size, mark } => {
                let request = api::CreateWorkerPoolRequest {
                    environment: ENVIRONMENT.to_owned(),
                    name: self.pool.clone(),
                    spec: Some(specification(*size, mark)),
                    options,
                    ..Default::default()
                };
                pools.create(request).await?
            }
            Change::Scale { size } => {
                pools.scale(api::ScaleWorkerPoolRequest { key, size: *size, options }).await?
            }
            Change::Update { size, mark } => {
                let spec = Some(specification(*size, mark));
                let labels = std::collections::BTreeMap::new();
                pools.update(api::UpdateWorkerPoolRequest { key, labels, spec, options }).await?
            }
        };
        let pool = pool.into_inner();
        let id = pool.metadata.clone().unwrap_or_default().id;
        let known = Pool::read(pool).map_err(|error| Status::internal(format!("{error:#}")))?;
        self.acknowledged.push((id, known.generation));
        self.known = Some(known);
        Ok(())
    }

    async fn make_environment(
        &mut self,
        name: &str,
        options: Option<api::WriteOptions>,
    ) -> Result<(), Status> {
        let request = api::CreateEnvironmentRequest {
            name: name.to_owned(),
            spec: Some(api::EnvironmentSpec::default()),
            options,
            ..Default::default()
        };
        let made = EnvironmentsClient::new(self.api.clone()).create(request).await?.into_inner();
        self.acknowledged.push((made.metadata.unwrap_or_default().id, 1));
        self.environments.push(name.to_owned());
        Ok(())
    }

    async fn find(&self) -> Result<Option<Pool>> {
        let request = api::GetRequest { key: self.key() };
        match WorkerPoolsClient::new(self.api.clone()).get(request).await {
            Ok(pool) => Ok(Some(Pool::read(pool.into_inner())?)),
            Err(status) if status.code() == Code::NotFound => Ok(None),
            Err(status) => Err(status.into()),
        }
    }

    fn key(&self) -> String {
        format!("{ENVIRONMENT}/{}", self.pool)
    }
}

impl Pool {
    fn read(pool: api::WorkerPool) -> Result<Self> {
        let metadata = pool.metadata.context("the pool has no metadata")?;
        let spec = pool.spec.context("the pool has no specification")?;
        let worker = spec.worker.context("the pool has no worker")?;
        Ok(Self {
            generation: metadata.generation,
            revision: metadata.revision,
            size: spec.size,
            mark: worker.variables.get("MARK").cloned().unwrap_or_default(),
        })
    }

    /// All but the revision, which the host's own observations may raise.
    fn intent(&self) -> (u64, u32, &str) {
        (self.generation, self.size, &self.mark)
    }
}

fn specification(size: u32, mark: &str) -> api::WorkerPoolSpec {
    let worker = api::WorkerTemplate {
        command: vec!["sleep".to_owned(), "100000".to_owned()],
        variables: [("MARK".to_owned(), mark.to_owned())].into(),
        ..Default::default()
    };
    api::WorkerPoolSpec { size, worker: Some(worker), ..Default::default() }
}
