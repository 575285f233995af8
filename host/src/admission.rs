//! Says yes or no to every change, and what the change is. Pure: the store calls it within the
//! transaction, so that what it decides is still true when it is committed.
//!
//! Invariants:
//! - A refusal, and a dry run, change nothing.
//! - All faults of a call are found at once.
//! - Every change of intent carries its events.

pub mod declare;
pub mod refusal;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    declare::{Create, Declared, Delete, Update},
    refusal::Refusal,
};
use crate::{
    accounts::model::ServiceAccount,
    capacity::{correct, quota::Quota, target::CapacityTarget},
    conditions::Condition,
    environments::model::Environment,
    events::{Event, Subject},
    ids::{EventSubscriptionId, IdSource},
    leases::{self, admit::Renew, model::CapacityLease},
    observed::Observed,
    operations::{
        decide::{self as operations, Cancel, Start},
        model::Operation,
    },
    planner::{self, Plan, PlanReport, Receipts},
    pools::model::WorkerPool,
    records::{Change, Records},
    subscriptions::model::{self as subscriptions, EventSubscription},
    tokens::{
        self,
        decide::{NewToken, Revocation, TokenUpdate},
        model::Token,
    },
    violations::Violations,
};

/// A change that somebody asks for.
#[derive(Debug, Clone)]
pub enum Command {
    CancelOperation(Cancel),
    CapacityLease(Declare<CapacityLease>),
    CapacityTarget(Declare<CapacityTarget>),
    /// The host itself: what is booked as used of quotas shall be what is used.
    CorrectUsage,
    CreateToken(NewToken),
    Environment(Declare<Environment>),
    EventSubscription(Declare<EventSubscription>),
    /// The host itself: plan anew from what was observed, and record what is new in it.
    Plan(Arc<Observed>),
    Quota(Declare<Quota>),
    /// The host itself: what became of a plan.
    Receipts(Receipts),
    /// The host itself: the token in the data folder shall have the secret of this hash.
    ReplaceFirstToken {
        hash: String,
    },
    RenewLease(Renew),
    ResumeSubscription(subscriptions::Resume),
    RevokeToken(Revocation),
    ScalePool {
        key: String,
        size: u32,
        revision: u64,
    },
    ServiceAccount(Declare<ServiceAccount>),
    /// The host itself: end leases whose time is over, and grant what has become free.
    SettleLeases,
    StartOperation(Start),
    /// The host itself: how the deliveries of a subscription stand.
    SubscriptionStands {
        id: EventSubscriptionId,
        said: Vec<Condition>,
    },
    UpdateToken(TokenUpdate),
    WorkerPool(Declare<WorkerPool>),
}

/// A change of one declared resource.
#[derive(Debug, Clone)]
pub enum Declare<N: Declared> {
    Create(Create<N::Spec>),
    Update(Update<N::Spec>),
    Delete(Delete),
}

/// What a decision is made with.
pub struct Context<'a> {
    pub records: &'a Records,
    pub now: Timestamp,
    pub ids: &'a dyn IdSource,
}

/// What shall be stored, told to subscribers, and answered.
#[derive(Debug)]
pub struct Decision {
    pub changes: Vec<Change>,
    pub events: Vec<(Subject, Event)>,
    pub answer: Answer,
}

/// All but a plan is stored beside its request id, to answer again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    CapacityLease(Arc<CapacityLease>),
    CapacityTarget(Arc<CapacityTarget>),
    Done,
    Environment(Arc<Environment>),
    EventSubscription(Arc<EventSubscription>),
    Operation(Arc<Operation>),
    #[serde(skip)]
    Planned(Box<(Plan, PlanReport)>),
    Quota(Arc<Quota>),
    ServiceAccount(Arc<ServiceAccount>),
    Token(Arc<Token>),
    WorkerPool(Arc<WorkerPool>),
}

impl Decision {
    pub fn unchanged(answer: Answer) -> Self {
        Self { changes: Vec::new(), events: Vec::new(), answer }
    }

    /// Both, with the later one's answer.
    fn and_then(mut self, later: Self) -> Self {
        self.changes.extend(later.changes);
        self.events.extend(later.events);
        Self { answer: later.answer, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.events.is_empty()
    }
}

/// Decides, and what follows from that by itself. `found` are faults that were seen when the call was
/// decoded.
pub fn decide(cx: &Context<'_>, command: &Command, found: Violations) -> Result<Decision, Refusal> {
    if !leases::settle::is_due(cx) {
        return Ok(leases::settle::after_change(cx, answer(cx, command, found)?));
    }
    let due = leases::settle::by_time(cx);
    let records = cx.records.with(&due.changes);
    let cx = Context { records: &records, ..*cx };
    let decision = leases::settle::after_change(&cx, answer(&cx, command, found)?);
    Ok(due.and_then(decision))
}

fn answer(cx: &Context<'_>, command: &Command, found: Violations) -> Result<Decision, Refusal> {
    match command {
        Command::CancelOperation(it) => operations::cancel(cx, it, found),
        Command::CapacityLease(change) => leases::admit::decide(cx, change, found),
        Command::CapacityTarget(change) => declare::decide(cx, change, found),
        Command::CorrectUsage => Ok(correct::decide(cx)),
        Command::CreateToken(new) => tokens::decide::create(cx, new, found),
        Command::Environment(change) => declare::decide(cx, change, found),
        Command::EventSubscription(change) => declare::decide(cx, change, found),
        Command::Plan(observed) => Ok(planner::decide(cx, observed)),
        Command::Quota(change) => declare::decide(cx, change, found),
        Command::Receipts(receipts) => Ok(planner::record(cx, receipts)),
        Command::ReplaceFirstToken { hash } => Ok(tokens::decide::replace_first(cx, hash)),
        Command::RenewLease(it) => leases::admit::renew(cx, it, found),
        Command::ResumeSubscription(it) => subscriptions::resume(cx, it, found),
        Command::RevokeToken(it) => tokens::decide::revoke(cx, it),
        Command::ScalePool { key, size, revision } => {
            declare::scale(cx, &declare::Scale { key, size: *size, revision: *revision }, found)
        }
        Command::ServiceAccount(change) => declare::decide(cx, change, found),
        Command::SettleLeases => Ok(Decision::unchanged(Answer::Done)),
        Command::StartOperation(it) => operations::start(cx, it, found),
        Command::SubscriptionStands { id, said } => Ok(subscriptions::report(cx, *id, said)),
        Command::UpdateToken(it) => tokens::decide::update(cx, it, found),
        Command::WorkerPool(change) => declare::decide(cx, change, found),
    }
}
