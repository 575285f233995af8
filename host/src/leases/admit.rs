//! Says yes, no or "in line" to what is asked of leases.

use super::{
    line::{self, Standing},
    model::{CapacityLease, CapacityLeaseSpec, State},
    settle,
};
use crate::{
    admission::{Answer, Context, Create, Decision, Declare, Declared, Refusal, Update, declare},
    capacity::room,
    events::{CapacityLeaseWaiting, Event, Verb},
    records::{Change, Record},
    resource::{self, Meta},
    violations::Violations,
};

/// The grant that somebody wants to prolong.
#[derive(Debug, Clone)]
pub struct Renew {
    /// By id or name.
    pub key: String,
    /// 0: whatever it has.
    pub fencing_token: u64,
    /// 0: whatever it has.
    pub revision: u64,
}

pub(crate) fn decide(
    cx: &Context<'_>,
    change: &Declare<CapacityLease>,
    found: Violations,
) -> Result<Decision, Refusal> {
    match change {
        Declare::Create(it) => create(cx, it, found),
        Declare::Update(it) => {
            check_update(cx, it)?;
            declare::decide(cx, change, found)
        }
        Declare::Delete(it) => {
            let current = declare::find::<CapacityLease>(cx, &it.key, it.revision)?;
            if current.is_living() {
                return declare::decide(cx, change, found);
            }
            Ok(Decision::unchanged(Answer::CapacityLease(current.clone().into())))
        }
    }
}

fn create(
    cx: &Context<'_>,
    it: &Create<CapacityLeaseSpec>,
    mut found: Violations,
) -> Result<Decision, Refusal> {
    resource::check_name("name", &it.name, &mut found);
    resource::check_labels("labels", &it.labels, &mut found);
    let parent = CapacityLease::parent(cx.records, &it.parent, &mut found);
    CapacityLease::check(cx.records, None, &it.spec, &mut found);
    let environment = match parent {
        Some(environment) if found.is_empty() => environment,
        _ => return Err(Refusal::Invalid(found.into_vec())),
    };
    let other = cx.records.capacity_leases.named(environment, &it.name);
    if let Some(other) = other.filter(|other| other.is_living()) {
        let name = other.key(cx.records);
        return Err(Refusal::NameExists { kind: CapacityLease::KIND, name, id: other.id() });
    }
    let meta = Meta::first(it.name.clone(), it.labels.clone(), cx.now);
    let lease = CapacityLease::new(cx.ids, environment, meta, it.spec.clone());
    match line::standing(cx.records, &lease) {
        Standing::Next => Ok(grant(cx, &lease)),
        Standing::Beyond(excesses) => Err(Refusal::QuotaExceeded(excesses)),
        Standing::Behind { .. } | Standing::NoRoom(_) if !it.spec.wait().is_zero() => {
            Ok(put_in_line(cx, lease))
        }
        Standing::Behind { others, quota } => Err(Refusal::OthersWait { quota, others }),
        Standing::NoRoom(excesses) => Err(Refusal::QuotaExceeded(excesses)),
    }
}

fn grant(cx: &Context<'_>, lease: &CapacityLease) -> Decision {
    let (lease, event, counter) = settle::granted(cx, cx.records, lease);
    // It is new: nobody has seen it before.
    let lease = CapacityLease { meta: Meta { revision: 1, ..lease.meta }, ..lease };
    declared(cx, lease, event, Some(counter))
}

fn put_in_line(cx: &Context<'_>, lease: CapacityLease) -> Decision {
    let event = Event::CapacityLeaseWaiting(CapacityLeaseWaiting {
        amounts: lease.spec.amounts.clone(),
        position: line::position(cx.records, &lease),
        until: lease.due(),
    });
    declared(cx, lease, event, None)
}

fn declared(
    cx: &Context<'_>,
    lease: CapacityLease,
    event: Event,
    counter: Option<Change>,
) -> Decision {
    let subject = declare::subject(cx.records, &lease);
    let record = lease.record();
    let mut changes = vec![Change::Put(record.clone())];
    changes.extend(counter);
    let after = cx.records.with(&changes);
    let events = [Event::declared(Verb::Created), event].map(|event| (subject.clone(), event));
    let answer = declare::answer(record);
    let mut decision = Decision { changes, events: events.into(), answer };
    let concerned = room::concerned(cx.records, &after, &decision.changes);
    declare::report_quotas(cx, &after, (&concerned, &mut decision));
    decision
}

/// What ended stays as it was, and nobody waits for more than there is.
fn check_update(cx: &Context<'_>, it: &Update<CapacityLeaseSpec>) -> Result<(), Refusal> {
    let current = declare::find::<CapacityLease>(cx, &it.key, it.revision)?;
    match &current.state {
        State::Ended { how, at, .. } => {
            Err(Refusal::LeaseEnded { name: current.key(cx.records), how: *how, at: *at })
        }
        State::Granted(_) => Ok(()),
        State::Waiting { .. } => {
            let wanted = current.with(current.meta.clone(), it.spec.clone()).uses();
            let beyond = room::beyond(&cx.records.ledger, current.environment, &wanted);
            if beyond.is_empty() { Ok(()) } else { Err(Refusal::QuotaExceeded(beyond)) }
        }
    }
}

pub(crate) fn renew(cx: &Context<'_>, it: &Renew, found: Violations) -> Result<Decision, Refusal> {
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let current = declare::find::<CapacityLease>(cx, &it.key, it.revision)?;
    let name = || current.key(cx.records);
    let grant = match &current.state {
        State::Granted(grant) => grant,
        State::Waiting { .. } => return Err(Refusal::LeaseWaits { name: name() }),
        State::Ended { how, at, .. } => {
            return Err(Refusal::LeaseEnded { name: name(), how: *how, at: *at });
        }
    };
    if it.fencing_token != 0 && it.fencing_token != grant.fencing_token {
        let (given, has) = (it.fencing_token, grant.fencing_token);
        return Err(Refusal::StaleFencingToken { name: name(), given, has });
    }
    let renewed = current.renewed(grant, cx.now);
    let is_news = renewed.due() != current.due();
    let answer = Answer::CapacityLease((if is_news { renewed } else { current.clone() }).into());
    let changes = match &answer {
        Answer::CapacityLease(it) if is_news => {
            vec![Change::Put(Record::CapacityLease(it.clone()))]
        }
        _ => Vec::new(),
    };
    Ok(Decision { changes, events: Vec::new(), answer })
}
