//! What follows by itself: time ends leases, and what becomes free goes to those in line.
//!
//! It is a part of every decision, so nothing that was due, and nobody who was next, is passed over by
//! a command that happened to come first.

use std::{sync::Arc, time::Duration};

use super::{
    line::{self, Asked, Held, Wait},
    model::{CapacityLease, Ending, Reclaim, State, after},
    reclaim::{self, Verdict},
};
use crate::{
    admission::{Answer, Context, Decision, Declared, declare},
    capacity::room,
    events::{
        CapacityLeaseExpired, CapacityLeaseGranted, CapacityLeaseKept, CapacityLeaseReclaimed,
        CapacityLeaseReclaiming, CapacityLeaseRefused, Event, Subject,
    },
    records::{Change, Counter, Record, Records},
};

/// A lease that has ended is kept for so long,
pub const ENDED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// or until so many have ended after it.
pub const ENDED_KEPT_MAX: usize = 1_000;

/// Whether time alone has changed something.
pub(crate) fn is_due(cx: &Context<'_>) -> bool {
    next_due(cx.records).is_some_and(|due| due <= cx.now)
}

/// When time alone changes something next.
pub fn next_due(records: &Records) -> Option<jiff::Timestamp> {
    let leases = &records.capacity_leases;
    let is_surplus = leases.ended().len() > ENDED_KEPT_MAX;
    let goes_at = |at| if is_surplus { at } else { after(at, ENDED_KEPT) };
    let oldest = leases.ended().next().map(|(at, _)| goes_at(*at));
    leases.next_due().into_iter().chain(oldest).min()
}

/// What time has brought about, and what follows from that.
pub(crate) fn by_time(cx: &Context<'_>) -> Decision {
    let mut settling = Settling::new(cx, cx.records.clone());
    settling.settle();
    settling.prune();
    settling.into_decision(Decision::unchanged(Answer::Done))
}

/// A decision with what follows from it.
pub(crate) fn after_change(cx: &Context<'_>, decision: Decision) -> Decision {
    if !decision.changes.iter().any(|change| may_follow(cx.records, change)) {
        return decision;
    }
    let mut settling = Settling::new(cx, cx.records.with(&decision.changes));
    settling.settle();
    settling.follow(&decision.changes);
    settling.into_decision(decision)
}

/// Whether a change may end leases, or make room for those in line.
fn may_follow(before: &Records, change: &Change) -> bool {
    let is_awaited = !before.capacity_leases.line_is_empty();
    match change {
        Change::Remove(Record::Environment(_)) => true,
        // A renewal frees nothing. A new one that waits may have something to get back.
        Change::Put(Record::CapacityLease(lease)) => match before.capacity_leases.get(lease.id) {
            Some(before) => before.spec != lease.spec || before.is_living() != lease.is_living(),
            None => is_awaited || matches!(lease.state, State::Waiting { .. }),
        },
        Change::Put(Record::Environment(_) | Record::Quota(_) | Record::WorkerPool(_))
        | Change::Remove(_)
        | Change::Recount => is_awaited,
        Change::Put(
            Record::CapacityTarget(_)
            | Record::Conditions(..)
            | Record::Counter(..)
            | Record::EventSubscription(_)
            | Record::Operation(_)
            | Record::ServiceAccount(_)
            | Record::Token(_)
            | Record::Worker(_),
        ) => false,
    }
}

struct Settling<'a> {
    cx: &'a Context<'a>,
    /// As they are after what was settled so far.
    records: Records,
    changes: Vec<Change>,
    events: Vec<(Subject, Event)>,
}

impl<'a> Settling<'a> {
    fn new(cx: &'a Context<'a>, records: Records) -> Self {
        Self { cx, records, changes: Vec::new(), events: Vec::new() }
    }

    fn change(&mut self, change: Change) {
        self.records.apply(&change);
        self.changes.push(change);
    }

    fn turn(&mut self, lease: CapacityLease, event: Event) {
        self.events.push((declare::subject(&self.records, &lease), event));
        self.change(Change::Put(lease.record()));
    }

    fn settle(&mut self) {
        self.end_due();
        self.grant();
        if self.reclaim() {
            self.end_due();
            self.grant();
        }
    }

    /// Tells who has to give back what they borrow. Whether somebody has to do so at once.
    fn reclaim(&mut self) -> bool {
        let now = self.cx.now;
        let mut is_at_once = false;
        for Verdict { lease, reclaim } in reclaim::verdicts(&self.records, now) {
            let amounts = lease.spec.amounts.clone();
            let fencing_token = lease.grant().map_or(0, |grant| grant.fencing_token);
            let event = match reclaim {
                Some(Reclaim { ends_at, by }) => {
                    is_at_once |= ends_at <= now;
                    let by = self.records.capacity_leases.get(by);
                    let by = by.map(|by| by.key(&self.records)).unwrap_or_default();
                    let event = CapacityLeaseReclaiming { amounts, fencing_token, ends_at, by };
                    Event::CapacityLeaseReclaiming(event)
                }
                None => Event::CapacityLeaseKept(CapacityLeaseKept { amounts, fencing_token }),
            };
            self.turn(lease.with_reclaim(reclaim, now), event);
        }
        is_at_once
    }

    fn end_due(&mut self) {
        let now = self.cx.now;
        let due: Vec<_> = self.records.capacity_leases.due(now).cloned().collect();
        for lease in due {
            let amounts = lease.spec.amounts.clone();
            match &lease.state {
                State::Waiting { .. } => {
                    let event = Event::CapacityLeaseRefused(CapacityLeaseRefused { amounts });
                    self.turn(lease.ended(Ending::Refused, now), event);
                }
                State::Granted(grant) if grant.reclaim.is_some_and(|it| it.ends_at <= now) => {
                    let fencing_token = grant.fencing_token;
                    let event = CapacityLeaseReclaimed { amounts, fencing_token };
                    let event = Event::CapacityLeaseReclaimed(event);
                    self.turn(lease.ended(Ending::Reclaimed, now), event);
                }
                State::Granted(grant) => {
                    let fencing_token = grant.fencing_token;
                    let event = CapacityLeaseExpired { amounts, fencing_token };
                    let event = Event::CapacityLeaseExpired(event);
                    self.turn(lease.ended(Ending::Expired, now), event);
                }
                State::Ended { .. } => {}
            }
        }
    }

    fn grant(&mut self) {
        // Who was granted something may have become a borrower with the next.
        while !self.records.capacity_leases.line_is_empty() && self.grant_in_order() {}
    }

    /// Goes through the line once. Whether anybody was granted something.
    fn grant_in_order(&mut self) -> bool {
        let line: Vec<_> = line::in_order(&self.records).into_iter().cloned().collect();
        let mut is_any = false;
        let mut held = Held::default();
        for lease in line {
            match held.next(&self.records.ledger, &Asked::of(&lease)) {
                Wait::InVain => {}
                Wait::For(holds) => held.0.extend(holds),
                Wait::Not => {
                    let (lease, event, counter) = granted(self.cx, &self.records, &lease);
                    self.change(counter);
                    self.turn(lease, event);
                    is_any = true;
                }
            }
        }
        is_any
    }

    /// Takes what is left of ended leases out of an environment that is gone.
    fn follow(&mut self, changes: &[Change]) {
        for change in changes {
            let Change::Remove(Record::Environment(environment)) = change else { continue };
            let leases = self.records.capacity_leases.of_environment(environment.id);
            let leases: Vec<_> = leases.map(Arc::clone).collect();
            leases.into_iter().for_each(|it| self.change(Change::Remove(it.into())));
        }
    }

    fn prune(&mut self) {
        let ended = self.records.capacity_leases.ended();
        let surplus = ended.len().saturating_sub(ENDED_KEPT_MAX);
        let is_old = |(index, (at, _)): &(usize, &(jiff::Timestamp, _))| {
            *index < surplus || after(*at, ENDED_KEPT) <= self.cx.now
        };
        let old = ended.enumerate().take_while(is_old).map(|(_, (_, id))| *id);
        let old = old.filter_map(|id| self.records.capacity_leases.get(id).cloned());
        let old: Vec<_> = old.collect();
        old.into_iter().for_each(|lease| self.change(Change::Remove(lease.into())));
    }

    /// Added to what was decided before; a lease in its answer is shown as it has become.
    fn into_decision(self, mut decision: Decision) -> Decision {
        if self.changes.is_empty() {
            return decision;
        }
        decision.changes.extend(self.changes);
        decision.events.extend(self.events);
        let concerned = room::concerned(self.cx.records, &self.records, &decision.changes);
        declare::report_quotas(self.cx, &self.records, (&concerned, &mut decision));
        if let Answer::CapacityLease(lease) = &mut decision.answer
            && let Some(now) = self.records.capacity_leases.get(lease.id)
        {
            *lease = Arc::clone(now);
        }
        decision
    }
}

/// A lease as it is granted, what is told of it, and the counter of fencing tokens afterwards.
pub(super) fn granted(
    cx: &Context<'_>,
    records: &Records,
    lease: &CapacityLease,
) -> (CapacityLease, Event, Change) {
    let fencing_token = records.fencing_token + 1;
    let lease = lease.granted(fencing_token, cx.now);
    let event = Event::CapacityLeaseGranted(CapacityLeaseGranted {
        amounts: lease.spec.amounts.clone(),
        expires_at: lease.due(),
        fencing_token,
    });
    let counter = Change::Put(Record::Counter(Counter::FencingToken, fencing_token));
    (lease, event, counter)
}

impl From<Arc<CapacityLease>> for Record {
    fn from(lease: Arc<CapacityLease>) -> Self {
        Self::CapacityLease(lease)
    }
}
