//! Create, update and delete, the same for every declared kind; what differs is in [`Declared`].

use std::collections::BTreeMap;

use super::{Answer, Context, Decision, Declare, Refusal};
use crate::{
    capacity::{amounts, excess::explained, quota, room},
    conditions::{self, Status},
    events::{ConditionNow, Event, QuotaExceeded, Subject, Verb},
    ids::IdSource,
    leases::line::{self, Asked},
    pools::{model::WorkerPool, rules},
    records::{Change, Record, Records},
    resource::{self, Kind, Meta},
    violations::Violations,
};

/// A kind of resource that users declare.
pub trait Declared: Clone + Sized {
    type Spec: Clone + PartialEq + std::fmt::Debug;
    /// What it lies in: the parent's id, or `()`.
    type Parent;
    const KIND: Kind;

    /// By id or name.
    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self>;
    fn new(ids: &dyn IdSource, parent: Self::Parent, meta: Meta, spec: Self::Spec) -> Self;
    fn with(&self, meta: Meta, spec: Self::Spec) -> Self;
    fn id(&self) -> String;
    fn meta(&self) -> &Meta;
    fn spec(&self) -> &Self::Spec;
    fn is_protected(spec: &Self::Spec) -> bool;
    /// Finds the parent, or says at its field that it does not exist.
    fn parent(records: &Records, key: &str, found: &mut Violations) -> Option<Self::Parent>;
    /// Finds all faults of a specification; `before` is what it would replace.
    fn check(records: &Records, before: Option<&Self>, spec: &Self::Spec, found: &mut Violations);
    /// What still needs it, for people.
    fn users(&self, records: &Records) -> Vec<String>;
    fn record(self) -> Record;

    /// Its name as a key.
    fn key(&self, _: &Records) -> String {
        self.meta().name.clone()
    }

    /// The key that a new one under a parent would have.
    fn qualified(_: &Records, _: &Self::Parent, name: &str) -> String {
        name.to_owned()
    }

    /// What stays when it is deleted, until it is gone; by default it is gone at once.
    fn retire(&self, _: jiff::Timestamp) -> Option<Self> {
        None
    }

    /// What goes with it when it is deleted, and what is told of that.
    fn takes_along(&self, _: &Context<'_>) -> (Vec<Change>, Vec<(Subject, Event)>) {
        (Vec::new(), Vec::new())
    }

    /// Events of its own besides that it was declared.
    fn events(_before: Option<&Self>, _after: Option<&Self>) -> Vec<Event> {
        Vec::new()
    }
}

#[derive(Debug, Clone)]
pub struct Create<S> {
    /// Id or name; empty for kinds without a parent.
    pub parent: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub spec: S,
}

#[derive(Debug, Clone)]
pub struct Update<S> {
    pub key: String,
    pub labels: BTreeMap<String, String>,
    pub spec: S,
    /// 0: whatever it has.
    pub revision: u64,
}

#[derive(Debug, Clone)]
pub struct Delete {
    pub key: String,
    /// 0: whatever it has.
    pub revision: u64,
}

pub(super) struct Scale<'a> {
    pub(super) key: &'a str,
    pub(super) size: u32,
    pub(super) revision: u64,
}

pub(crate) fn decide<N: Declared>(
    cx: &Context<'_>,
    change: &Declare<N>,
    found: Violations,
) -> Result<Decision, Refusal> {
    match change {
        Declare::Create(it) => create::<N>(cx, it, found),
        Declare::Update(it) => {
            let current = find::<N>(cx, &it.key, it.revision)?;
            update(cx, current, it.labels.clone(), it.spec.clone(), found)
        }
        Declare::Delete(it) => delete::<N>(cx, it),
    }
}

fn create<N: Declared>(
    cx: &Context<'_>,
    it: &Create<N::Spec>,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    resource::check_name("name", &it.name, &mut found);
    resource::check_labels("labels", &it.labels, &mut found);
    let parent = N::parent(cx.records, &it.parent, &mut found);
    N::check(cx.records, None, &it.spec, &mut found);
    let parent = match parent {
        Some(parent) if found.is_empty() => parent,
        _ => return Err(Refusal::Invalid(found.into_vec())),
    };
    let key = N::qualified(cx.records, &parent, &it.name);
    if let Some(other) = N::find(cx.records, &key) {
        return Err(Refusal::NameExists { kind: N::KIND, name: key, id: other.id() });
    }
    let meta = Meta::first(it.name.clone(), it.labels.clone(), cx.now);
    let new = N::new(cx.ids, parent, meta, it.spec.clone());
    grant(cx, &Step::Put { before: None, after: new, verb: Verb::Created })
}

fn update<N: Declared>(
    cx: &Context<'_>,
    current: &N,
    labels: BTreeMap<String, String>,
    spec: N::Spec,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    resource::check_labels("labels", &labels, &mut found);
    N::check(cx.records, Some(current), &spec, &mut found);
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    if current.meta().deleting_since.is_some() {
        return Err(Refusal::BeingDeleted { kind: N::KIND, name: current.key(cx.records) });
    }
    if current.meta().labels == labels && *current.spec() == spec {
        return Ok(Decision::unchanged(answer(current.clone().record())));
    }
    let after = current.with(current.meta().declared_anew(labels, cx.now), spec);
    grant(cx, &Step::Put { before: Some(current), after, verb: Verb::Updated })
}

/// Changes a pool's size alone.
pub(super) fn scale(
    cx: &Context<'_>,
    it: &Scale<'_>,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    let current = find::<WorkerPool>(cx, it.key, it.revision)?;
    rules::check_size("size", it.size, &mut found);
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let spec = crate::pools::model::WorkerPoolSpec { size: it.size, ..current.spec.clone() };
    update(cx, current, current.meta.labels.clone(), spec, found)
}

fn delete<N: Declared>(cx: &Context<'_>, it: &Delete) -> Result<Decision, Refusal> {
    let current = find::<N>(cx, &it.key, it.revision)?;
    let name = current.key(cx.records);
    if current.meta().deleting_since.is_some() {
        return Ok(Decision::unchanged(answer(current.clone().record())));
    }
    if N::is_protected(current.spec()) {
        return Err(Refusal::Protected { kind: N::KIND, name });
    }
    let by = current.users(cx.records);
    if !by.is_empty() {
        return Err(Refusal::InUse { kind: N::KIND, name, by });
    }
    grant(
        cx,
        &match current.retire(cx.now) {
            Some(after) => Step::Put { before: Some(current), after, verb: Verb::Deleted },
            None => Step::Remove(current),
        },
    )
}

pub(crate) fn find<'a, N: Declared>(
    cx: &Context<'a>,
    key: &str,
    revision: u64,
) -> Result<&'a N, Refusal> {
    let not_found = || Refusal::NotFound { kind: N::KIND, key: key.to_owned() };
    let current = N::find(cx.records, key).ok_or_else(not_found)?;
    let has = current.meta().revision;
    if revision != 0 && revision != has {
        let name = current.key(cx.records);
        return Err(Refusal::RevisionMismatch { kind: N::KIND, name, wanted: revision, has });
    }
    Ok(current)
}

/// A change whose form is right.
enum Step<'a, N> {
    Put { before: Option<&'a N>, after: N, verb: Verb },
    Remove(&'a N),
}

/// The decision for a step, if the quotas have room for it.
fn grant<N: Declared>(cx: &Context<'_>, step: &Step<'_, N>) -> Result<Decision, Refusal> {
    let (it, verb, own) = match step {
        Step::Put { before, after, verb } => (after, *verb, N::events(*before, Some(after))),
        Step::Remove(before) => (*before, Verb::Deleted, N::events(Some(before), None)),
    };
    let subject = subject(cx.records, it);
    let record = it.clone().record();
    let (changes, along) = match step {
        Step::Put { .. } => (vec![Change::Put(record.clone())], Vec::new()),
        Step::Remove(before) => {
            let conditions = Record::Conditions(subject.id.clone(), BTreeMap::new());
            let (mut changes, along) = before.takes_along(cx);
            changes.extend([Change::Remove(record.clone()), Change::Remove(conditions)]);
            (changes, along)
        }
    };
    let after = cx.records.with(&changes);
    let excesses = room::excesses(cx.records, &after, &changes);
    if !excesses.is_empty() {
        let asked = after.ledger.clone();
        return Err(Refusal::QuotaExceeded(explained(cx.records, asked, excesses)));
    }
    for change in &changes {
        if let Some(asked) = growth(cx.records, &after, change)
            && let Some((quota, others)) = line::withheld(cx.records, &asked)
        {
            return Err(Refusal::ShareAwaited { quota, others });
        }
    }
    let concerned = room::concerned(cx.records, &after, &changes);
    let events = std::iter::once(Event::declared(verb)).chain(own);
    let events = events.map(|event| (subject.clone(), event)).chain(along).collect();
    let mut decision = Decision { changes, events, answer: answer(record) };
    report_quotas(cx, &after, (&concerned, &mut decision));
    Ok(decision)
}

/// What a change of one pool or lease uses more than before.
fn growth(before: &Records, after: &Records, change: &Change) -> Option<Asked> {
    let environment = match change {
        Change::Put(Record::WorkerPool(it)) => it.environment,
        Change::Put(Record::CapacityLease(it)) => it.environment,
        _ => return None,
    };
    let was = before.ledger.used_in(environment);
    let grown = after.ledger.used_in(environment).into_iter().filter_map(|(resource, amount)| {
        let more = amount.saturating_sub(amounts::get(&was, &resource));
        (more > 0).then_some((resource, more))
    });
    Some(Asked { environment, amounts: grown.collect() })
}

pub(crate) fn subject<N: Declared>(records: &Records, it: &N) -> Subject {
    Subject { kind: N::KIND, id: it.id(), name: it.key(records), generation: it.meta().generation }
}

/// Records which of the concerned quotas are over a limit after the change, and tells when that is new.
pub(crate) fn report_quotas(
    cx: &Context<'_>,
    after: &Records,
    (concerned, decision): (&[String], &mut Decision),
) {
    for quota in concerned.iter().filter_map(|name| after.quota_named(name)) {
        let id = quota.id.to_string();
        let used = room::used(&after.ledger, &quota.meta.name);
        let said = quota::conditions(quota, &used, &after.ledger);
        let before = after.conditions.get(&id);
        let Some(recorded) = conditions::record(before, cx.now, &said) else { continue };
        let is_news = |it: &&conditions::Condition| {
            let was = before.and_then(|before| before.get(it.name)).map(|it| it.status);
            it.status == Status::False && was != Some(Status::False)
        };
        let news: BTreeMap<_, _> = said.iter().filter(is_news).map(ConditionNow::entry).collect();
        decision.changes.push(Change::Put(Record::Conditions(id, recorded)));
        if !news.is_empty() {
            let event = Event::QuotaExceeded(QuotaExceeded { conditions: news });
            decision.events.push((subject(cx.records, &**quota), event));
        }
    }
}

pub(crate) fn answer(record: Record) -> Answer {
    match record {
        Record::CapacityLease(it) => Answer::CapacityLease(it),
        Record::CapacityTarget(it) => Answer::CapacityTarget(it),
        Record::Environment(it) => Answer::Environment(it),
        Record::EventSubscription(it) => Answer::EventSubscription(it),
        Record::Operation(it) => Answer::Operation(it),
        Record::Quota(it) => Answer::Quota(it),
        Record::ServiceAccount(it) => Answer::ServiceAccount(it),
        Record::Token(it) => Answer::Token(it),
        Record::WorkerPool(it) => Answer::WorkerPool(it),
        Record::Conditions(..) | Record::Counter(..) | Record::Worker(_) => Answer::Done,
    }
}
