//! A capacity target: somewhere workers can run.

use serde::{Deserialize, Serialize};

use super::amounts;
use crate::{
    admission::Declared,
    conditions::{Condition, Status},
    ids::{CapacityTargetId, IdSource},
    observed::Observed,
    pools::template::Amounts,
    records::{Record, Records},
    resource::{Kind, Meta},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityTarget {
    pub id: CapacityTargetId,
    pub meta: Meta,
    pub spec: CapacityTargetSpec,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityTargetSpec {
    pub driver: DriverKind,
    /// What workers may use here together; a resource that is not named has no limit.
    pub capacity: Amounts,
    pub cordoned: bool,
    pub deletion_protection: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriverKind {
    /// Processes on the host's own machine.
    Process,
}

impl DriverKind {
    pub const ALL: &[Self] = &[Self::Process];

    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
        }
    }
}

impl Declared for CapacityTarget {
    type Spec = CapacityTargetSpec;
    type Parent = ();
    const KIND: Kind = Kind::CapacityTarget;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.capacity_target(key)
    }

    fn new(ids: &dyn IdSource, (): (), meta: Meta, spec: CapacityTargetSpec) -> Self {
        Self { id: CapacityTargetId::new(ids), meta, spec }
    }

    fn with(&self, meta: Meta, spec: CapacityTargetSpec) -> Self {
        Self { id: self.id, meta, spec }
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &CapacityTargetSpec {
        &self.spec
    }

    fn is_protected(spec: &CapacityTargetSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(_: &Records, _: &str, _: &mut Violations) -> Option<()> {
        Some(())
    }

    fn check(
        _: &Records,
        before: Option<&Self>,
        spec: &CapacityTargetSpec,
        found: &mut Violations,
    ) {
        amounts::check_resources("spec.capacity", spec.capacity.keys(), found);
        if let Some(before) = before.filter(|before| before.spec.driver != spec.driver) {
            found.add(
                "spec.driver",
                format!(
                    "the driver is `{}` and can not be changed: declare another capacity target",
                    before.spec.driver.name()
                ),
            );
        }
    }

    fn users(&self, records: &Records) -> Vec<String> {
        let workers = records.workers.values().filter(|worker| worker.target == self.id).count();
        match workers {
            0 => Vec::new(),
            1 => vec!["1 worker".to_owned()],
            _ => vec![format!("{workers} workers")],
        }
    }

    fn record(self) -> Record {
        Record::CapacityTarget(self.into())
    }
}

/// What the workers placed on it may use together, until the last of each is gone.
pub fn used(target: &CapacityTarget, records: &Records) -> Amounts {
    let mut used = Amounts::from([(amounts::WORKERS.to_owned(), 0)]);
    for worker in records.workers.values().filter(|worker| worker.target == target.id) {
        amounts::add(&mut used, &amounts::of_workers(&worker.template.shape, 1));
    }
    used
}

/// `Ready`, `Schedulable`, and what the driver says of the place.
pub fn conditions(target: &CapacityTarget, observed: &Observed) -> Vec<Condition> {
    let seen = observed.targets.get(&target.id);
    let ready = match seen.map(|seen| &seen.workers) {
        None => Condition::new("Ready", Status::Unknown, "NotObserved", "not observed yet"),
        Some(Ok(_)) => Condition::new("Ready", Status::True, "DriverAnswers", "the driver answers"),
        Some(Err(error)) => Condition::new("Ready", Status::False, "DriverFails", error.clone()),
    };
    let schedulable = if target.spec.cordoned {
        Condition::new("Schedulable", Status::False, "Cordoned", "no new workers are placed here")
    } else {
        Condition::new("Schedulable", Status::True, "NotCordoned", "new workers may be placed here")
    };
    let of_driver = seen.into_iter().flat_map(|seen| &seen.conditions).map(|said| {
        let status = if said.holds { Status::True } else { Status::False };
        Condition::new(said.name, status, said.reason, said.message.clone())
    });
    [ready, schedulable].into_iter().chain(of_driver).collect()
}
