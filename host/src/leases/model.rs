//! A capacity lease: what is asked for, and how far it has come.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::{
    admission::Declared,
    capacity::amounts,
    environments::model::Environment,
    events::{CapacityLeaseReleased, Event},
    ids::{CapacityLeaseId, EnvironmentId, IdSource},
    pools::template::Amounts,
    records::{Record, Records},
    resource::{Kind, Meta},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityLease {
    pub id: CapacityLeaseId,
    pub environment: EnvironmentId,
    pub meta: Meta,
    pub spec: CapacityLeaseSpec,
    pub state: State,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityLeaseSpec {
    pub amounts: Amounts,
    /// Life after a grant or a renewal. Absent: no end.
    pub ttl: Option<Duration>,
    /// Life after the grant, whatever renews it.
    pub max_life: Option<Duration>,
    pub holder: String,
    pub purpose: String,
    /// Higher ones stand before lower ones.
    pub priority: i32,
    /// How long it may stand in line. Absent or zero: not at all.
    pub wait: Option<Duration>,
    pub deletion_protection: bool,
    #[serde(default)]
    pub preemption: Preemption,
}

/// Whether a lease gives back what it borrows before its time is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preemption {
    #[default]
    Never,
    Reclaimable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Waiting { since: Timestamp, until: Timestamp },
    Granted(Grant),
    Ended { how: Ending, at: Timestamp, grant: Option<Grant> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub at: Timestamp,
    /// Absent: it has no end.
    pub expires_at: Option<Timestamp>,
    pub fencing_token: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim: Option<Reclaim>,
}

/// A lease gives back what it borrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaim {
    pub ends_at: Timestamp,
    /// Who waits for it.
    pub by: CapacityLeaseId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Its time was over.
    Expired,
    /// It gave back what it had borrowed.
    Reclaimed,
    /// Somebody deleted it.
    Released,
    /// It waited as long as it might.
    Refused,
}

impl Ending {
    pub fn code(self) -> &'static str {
        match self {
            Self::Expired => "Expired",
            Self::Reclaimed => "Reclaimed",
            Self::Released => "Released",
            Self::Refused => "Refused",
        }
    }
}

impl CapacityLeaseSpec {
    pub fn wait(&self) -> Duration {
        self.wait.unwrap_or_default()
    }

    /// When a lease ends that was granted at one time and is granted or renewed at another.
    fn expires_at(&self, granted_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let by_ttl = self.ttl.map(|ttl| after(now, ttl));
        let by_life = self.max_life.map(|life| after(granted_at, life));
        by_ttl.into_iter().chain(by_life).min()
    }
}

impl CapacityLease {
    pub fn is_living(&self) -> bool {
        !matches!(self.state, State::Ended { .. })
    }

    /// What it uses of a quota once it is granted.
    pub fn uses(&self) -> Amounts {
        let mut uses = self.spec.amounts.clone();
        uses.insert(amounts::LEASES.to_owned(), 1);
        uses
    }

    /// What it uses of a quota now.
    pub fn holds(&self) -> Amounts {
        match &self.state {
            State::Granted(_) => self.uses(),
            State::Waiting { .. } | State::Ended { .. } => Amounts::new(),
        }
    }

    /// What it was granted, whether or not it has ended.
    pub fn grant(&self) -> Option<&Grant> {
        match &self.state {
            State::Waiting { .. } => None,
            State::Granted(grant) => Some(grant),
            State::Ended { grant, .. } => grant.as_ref(),
        }
    }

    pub fn reclaim(&self) -> Option<Reclaim> {
        match &self.state {
            State::Granted(grant) => grant.reclaim,
            State::Waiting { .. } | State::Ended { .. } => None,
        }
    }

    /// When time alone changes it, unless it is renewed.
    pub fn due(&self) -> Option<Timestamp> {
        match &self.state {
            State::Waiting { until, .. } => Some(*until),
            State::Granted(grant) => {
                let reclaimed_at = grant.reclaim.map(|it| it.ends_at);
                grant.expires_at.into_iter().chain(reclaimed_at).min()
            }
            State::Ended { .. } => None,
        }
    }

    pub(super) fn granted(&self, fencing_token: u64, now: Timestamp) -> Self {
        let expires_at = self.spec.expires_at(now, now);
        let grant = Grant { at: now, expires_at, fencing_token, reclaim: None };
        self.turned(State::Granted(grant), now)
    }

    /// As it is when it is told to give back what it borrows, or that it need not.
    pub(super) fn with_reclaim(&self, reclaim: Option<Reclaim>, now: Timestamp) -> Self {
        match &self.state {
            State::Granted(grant) => self.turned(State::Granted(Grant { reclaim, ..*grant }), now),
            State::Waiting { .. } | State::Ended { .. } => self.clone(),
        }
    }

    /// As it is when somebody renews the grant that it has.
    pub(super) fn renewed(&self, grant: &Grant, now: Timestamp) -> Self {
        let expires_at = self.spec.expires_at(grant.at, now);
        self.turned(State::Granted(Grant { expires_at, ..*grant }), now)
    }

    pub(super) fn ended(&self, how: Ending, now: Timestamp) -> Self {
        self.turned(State::Ended { how, at: now, grant: self.grant().copied() }, now)
    }

    /// In another state. That is no change of what is asked for.
    fn turned(&self, state: State, now: Timestamp) -> Self {
        let revision = self.meta.revision + 1;
        let meta = Meta { revision, updated_at: now, ..self.meta.clone() };
        Self { meta, state, ..self.clone() }
    }
}

/// The end of all times at the latest.
pub(super) fn after(time: Timestamp, length: Duration) -> Timestamp {
    time.checked_add(length).unwrap_or(Timestamp::MAX)
}

impl Declared for CapacityLease {
    type Spec = CapacityLeaseSpec;
    type Parent = EnvironmentId;
    const KIND: Kind = Kind::CapacityLease;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.capacity_lease(key)
    }

    /// In line, for as long as it may wait.
    fn new(
        ids: &dyn IdSource,
        environment: EnvironmentId,
        meta: Meta,
        spec: CapacityLeaseSpec,
    ) -> Self {
        let since = meta.created_at;
        let state = State::Waiting { since, until: after(since, spec.wait()) };
        Self { id: CapacityLeaseId::new(ids), environment, meta, spec, state }
    }

    /// What is asked for anew lives anew as long as that says, and keeps its place in line.
    fn with(&self, meta: Meta, spec: CapacityLeaseSpec) -> Self {
        let state = match &self.state {
            State::Waiting { since, .. } => {
                State::Waiting { since: *since, until: after(*since, spec.wait()) }
            }
            State::Granted(grant) => {
                let expires_at = spec.expires_at(grant.at, meta.updated_at);
                State::Granted(Grant { expires_at, ..*grant })
            }
            ended @ State::Ended { .. } => ended.clone(),
        };
        Self { id: self.id, environment: self.environment, meta, spec, state }
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

    fn spec(&self) -> &CapacityLeaseSpec {
        &self.spec
    }

    fn is_protected(spec: &CapacityLeaseSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(records: &Records, key: &str, found: &mut Violations) -> Option<EnvironmentId> {
        Environment::around(records, key, found)
    }

    fn qualified(records: &Records, parent: &EnvironmentId, name: &str) -> String {
        Environment::qualify(records, *parent, name)
    }

    fn check(_: &Records, _: Option<&Self>, spec: &CapacityLeaseSpec, found: &mut Violations) {
        rules::check(spec, found);
    }

    fn users(&self, _: &Records) -> Vec<String> {
        Vec::new()
    }

    /// A lease that has ended is kept for a while, to be asked what became of it.
    fn retire(&self, now: Timestamp) -> Option<Self> {
        Some(self.ended(Ending::Released, now))
    }

    fn record(self) -> Record {
        Record::CapacityLease(self.into())
    }

    fn events(before: Option<&Self>, after: Option<&Self>) -> Vec<Event> {
        match (before, after) {
            (Some(before), Some(after)) if before.is_living() && !after.is_living() => {
                vec![Event::CapacityLeaseReleased(CapacityLeaseReleased {
                    amounts: after.spec.amounts.clone(),
                    fencing_token: after.grant().map(|grant| grant.fencing_token),
                })]
            }
            _ => Vec::new(),
        }
    }
}
