//! A worker pool as it is declared, and what its workers shall run.
//!
//! A specification is kept as it was given: what was left out stays out, and its default is taken
//! only when a [`WorkerTemplate`] is made.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    rules,
    template::{Amounts, Check, Readiness, RestartPolicy, StopPolicy, StopSignal, WorkerTemplate},
};
use crate::{
    admission::Declared,
    capacity::amounts,
    environments::model::Environment,
    events::Subject,
    ids::{EnvironmentId, IdSource, WorkerPoolId},
    records::{Record, Records},
    resource::{Kind, Meta},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPool {
    pub id: WorkerPoolId,
    pub environment: EnvironmentId,
    pub meta: Meta,
    pub spec: WorkerPoolSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPoolSpec {
    pub size: u32,
    pub worker: WorkerSpec,
    /// Absent: a worker is ready as soon as its process runs.
    pub readiness: Option<ReadinessSpec>,
    pub restart: Option<RestartSpec>,
    pub stop: Option<StopSpec>,
    pub update: Option<UpdateSpec>,
    pub deletion_protection: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSpec {
    pub command: Vec<String>,
    pub variables: BTreeMap<String, String>,
    pub working_dir: Option<String>,
    pub ports: Vec<String>,
    pub shape: Amounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadinessSpec {
    pub check: CheckSpec,
    pub interval: Option<Duration>,
    pub timeout: Option<Duration>,
    pub failure_threshold: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckSpec {
    Http { port: String, path: Option<String> },
    Tcp { port: String },
    Command(Vec<String>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartSpec {
    pub delay: Option<Duration>,
    pub delay_max: Option<Duration>,
    pub healthy_after: Option<Duration>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopSpec {
    pub signal: Option<StopSignal>,
    pub grace: Option<Duration>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateSpec {
    pub max_unavailable: Option<u32>,
}

impl ReadinessSpec {
    fn resolve(&self) -> Readiness {
        let check = match &self.check {
            CheckSpec::Http { port, path } => Check::Http {
                port: port.clone(),
                path: path.clone().unwrap_or_else(|| "/".to_owned()),
            },
            CheckSpec::Tcp { port } => Check::Tcp { port: port.clone() },
            CheckSpec::Command(command) => Check::Command(command.clone()),
        };
        Readiness {
            check,
            interval: self.interval.unwrap_or(Duration::from_secs(1)),
            timeout: self.timeout.unwrap_or(Duration::from_secs(1)),
            failure_threshold: self.failure_threshold.unwrap_or(3),
        }
    }
}

impl RestartSpec {
    pub(super) fn resolve(&self) -> RestartPolicy {
        RestartPolicy {
            delay: self.delay.unwrap_or(Duration::from_secs(1)),
            delay_max: self.delay_max.unwrap_or(Duration::from_secs(60)),
            healthy_after: self.healthy_after.unwrap_or(Duration::from_secs(30)),
        }
    }
}

impl StopSpec {
    fn resolve(&self) -> StopPolicy {
        StopPolicy {
            signal: self.signal.unwrap_or(StopSignal::Term),
            grace: self.grace.unwrap_or(Duration::from_secs(10)),
        }
    }
}

impl WorkerPool {
    /// What it counts for: size times shape, and the workers themselves.
    pub fn asks(&self) -> Amounts {
        amounts::of_workers(&self.spec.worker.shape, u64::from(self.spec.size))
    }

    /// What a worker of this pool runs at present, in its environment.
    pub fn template(&self, environment: &Environment) -> WorkerTemplate {
        let spec = &self.spec;
        let mut variables = environment.spec.variables.clone();
        variables.extend(spec.worker.variables.clone());
        WorkerTemplate {
            command: spec.worker.command.clone(),
            variables,
            working_dir: spec.worker.working_dir.clone(),
            ports: spec.worker.ports.clone(),
            shape: spec.worker.shape.clone(),
            readiness: spec.readiness.as_ref().map(ReadinessSpec::resolve),
            restart: spec.restart.clone().unwrap_or_default().resolve(),
            stop: spec.stop.clone().unwrap_or_default().resolve(),
        }
    }

    /// What its events are about.
    pub fn subject(&self, records: &Records) -> Subject {
        Subject {
            kind: Kind::WorkerPool,
            id: self.id.to_string(),
            name: self.key(records),
            generation: self.meta.generation,
        }
    }

    pub fn max_unavailable(&self) -> u32 {
        self.spec.update.as_ref().and_then(|update| update.max_unavailable).unwrap_or(1)
    }
}

impl Declared for WorkerPool {
    type Spec = WorkerPoolSpec;
    type Parent = EnvironmentId;
    const KIND: Kind = Kind::WorkerPool;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.worker_pool(key)
    }

    fn new(
        ids: &dyn IdSource,
        environment: EnvironmentId,
        meta: Meta,
        spec: WorkerPoolSpec,
    ) -> Self {
        Self { id: WorkerPoolId::new(ids), environment, meta, spec }
    }

    fn with(&self, meta: Meta, spec: WorkerPoolSpec) -> Self {
        Self { id: self.id, environment: self.environment, meta, spec }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn key(&self, records: &Records) -> String {
        Environment::qualify(records, self.environment, &self.meta.name)
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &WorkerPoolSpec {
        &self.spec
    }

    fn is_protected(spec: &WorkerPoolSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(records: &Records, key: &str, found: &mut Violations) -> Option<EnvironmentId> {
        Environment::around(records, key, found)
    }

    fn qualified(records: &Records, parent: &EnvironmentId, name: &str) -> String {
        Environment::qualify(records, *parent, name)
    }

    fn check(_: &Records, _: Option<&Self>, spec: &WorkerPoolSpec, found: &mut Violations) {
        rules::check(spec, found);
    }

    fn users(&self, _: &Records) -> Vec<String> {
        Vec::new()
    }

    /// A pool goes when its last worker has.
    fn retire(&self, now: jiff::Timestamp) -> Option<Self> {
        let meta = Meta {
            revision: self.meta.revision + 1,
            updated_at: now,
            deleting_since: Some(now),
            ..self.meta.clone()
        };
        Some(self.with(meta, self.spec.clone()))
    }

    fn record(self) -> Record {
        Record::WorkerPool(self.into())
    }
}
