//! The waiting line: who is next, and why somebody waits.
//!
//! There is one line, by priority and then by arrival. A lease that waits holds the quotas that have no
//! room for it: every later one that counts against such a quota waits too, also one that is smaller and
//! would fit. So what becomes free gathers for the first, and it does not starve. Quotas that have room
//! it does not hold, so teams under the same quota do not wait for each other's limits.
//!
//! Owners come before borrowers: a lease that would stay within the shares of its quotas passes those that
//! would not, wherever they stand, so what an owner gets back is not taken by somebody else. One that asks for more than a limit itself would hold the others
//! back for nothing, so it does not.

use std::{collections::BTreeSet, sync::Arc};

use super::{index::place, model::CapacityLease};
use crate::{
    capacity::{
        excess::{Excess, explained},
        ledger::Ledger,
        room,
    },
    ids::EnvironmentId,
    pools::template::Amounts,
    records::Records,
};

/// What stands between a lease that is not granted and its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing does.
    Next,
    /// It asks for more than there is, whoever else uses it.
    Beyond(Vec<Excess>),
    /// Others that it shares a quota with.
    Behind {
        others: usize,
        quota: String,
    },
    NoRoom(Vec<Excess>),
}

pub fn standing(records: &Records, lease: &CapacityLease) -> Standing {
    let (ledger, uses) = (&records.ledger, lease.uses());
    let beyond = room::beyond(ledger, lease.environment, &uses);
    if !beyond.is_empty() {
        return Standing::Beyond(beyond);
    }
    if let Some((others, quota)) = behind(records, lease) {
        return Standing::Behind { others, quota };
    }
    let lacking = room::lacking(ledger, lease.environment, &uses);
    if lacking.is_empty() {
        return Standing::Next;
    }
    let mut asked = ledger.clone();
    asked.count(lease.environment, &Amounts::new(), &uses);
    Standing::NoRoom(explained(records, asked, lacking))
}

/// Counted from 1 among those that hold it back.
pub fn position(records: &Records, lease: &CapacityLease) -> u32 {
    let others = behind(records, lease).map_or(0, |(others, _)| others);
    u32::try_from(others + 1).unwrap_or(u32::MAX)
}

/// How many hold it back, and the name of a quota that the first of them holds.
fn behind(records: &Records, lease: &CapacityLease) -> Option<(usize, String)> {
    if records.capacity_leases.line_is_empty() {
        return None;
    }
    let (ledger, asked) = (&records.ledger, Asked::of(lease));
    let mut held = Held::default();
    let mut first = None;
    let mut others = 0;
    let is_owner = asked.is_owner(ledger);
    let end = place(lease);
    for other in in_order(records) {
        let other_asked = Asked::of(other);
        let is_later = end.as_ref().is_some_and(|end| place(other).as_ref() >= Some(end));
        match (other_asked.is_owner(ledger), is_owner) {
            (true, false) => {}
            (false, true) => break,
            (true, true) | (false, false) if is_later => break,
            (true, true) | (false, false) => {}
        }
        let Wait::For(holds) = held.next(ledger, &other_asked) else { continue };
        if let Some(hold) = holds.iter().find(|hold| hold.keeps_out(ledger, &asked)) {
            others += 1;
            first = first.or_else(|| Some(hold.quota.clone()));
        }
        held.0.extend(holds);
    }
    first.map(|quota| (others, quota))
}

/// All in line in the order in which they are served: owners, then borrowers; each by place.
pub(super) fn in_order(records: &Records) -> Vec<&Arc<CapacityLease>> {
    let is_owner = |lease: &&Arc<CapacityLease>| Asked::of(lease).is_owner(&records.ledger);
    let (mut owners, borrowers): (Vec<_>, Vec<_>) =
        records.capacity_leases.in_line().partition(is_owner);
    owners.extend(borrowers);
    owners
}

/// Whether a use that does not stand in line would take what somebody in line waits for as their own: the
/// quota that they hold, and how many they are.
pub(crate) fn withheld(records: &Records, asked: &Asked) -> Option<(String, usize)> {
    if asked.amounts.is_empty() || records.capacity_leases.line_is_empty() {
        return None;
    }
    let ledger = &records.ledger;
    let mut held = Held::default();
    let mut first = None;
    let mut others = 0;
    for lease in in_order(records) {
        let Wait::For(holds) = held.next(ledger, &Asked::of(lease)) else { continue };
        let keeps_out = |hold: &&Hold| hold.is_own && hold.keeps_out_borrower(ledger, asked);
        if let Some(hold) = holds.iter().find(keeps_out) {
            others += 1;
            first = first.or_else(|| Some(hold.quota.clone()));
        }
        held.0.extend(holds);
    }
    first.map(|quota| (quota, others))
}

/// What somebody asks for, and where.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) environment: EnvironmentId,
    pub(crate) amounts: Amounts,
}

impl Asked {
    pub(super) fn of(lease: &CapacityLease) -> Self {
        Self { environment: lease.environment, amounts: lease.uses() }
    }

    /// Whether it would use no more than what is the own of every quota on the way up.
    pub(super) fn is_owner(&self, ledger: &Ledger) -> bool {
        let above = ledger.chain(self.environment).into_iter().skip(1);
        above.into_iter().all(|quota| self.is_own(ledger, quota))
    }

    /// Whether it would use no more of a quota than what is the own of that one under it, through which
    /// it counts; as far as the quota limits any of it.
    fn is_own(&self, ledger: &Ledger, quota: &str) -> bool {
        let chain = ledger.chain(self.environment);
        let at = chain.iter().position(|name| *name == quota);
        let Some(child) = at.and_then(|at| at.checked_sub(1)).map(|at| chain[at]) else {
            return false;
        };
        let limited = |resource: &&String| room::limits(ledger, quota, resource).next().is_some();
        let mut limited = self.amounts.keys().filter(limited);
        limited.all(|it| room::is_own(ledger, child, it, self.amounts[it]))
    }
}

/// Somebody holds a quota until it has room for them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hold {
    quota: String,
    /// They would not borrow.
    is_own: bool,
}

impl Hold {
    /// Whether it keeps out somebody who would borrow, and nobody else.
    fn keeps_out_borrower(&self, ledger: &Ledger, asked: &Asked) -> bool {
        ledger.chain(asked.environment).contains(&self.quota.as_str())
            && !asked.is_own(ledger, &self.quota)
    }

    fn keeps_out(&self, ledger: &Ledger, asked: &Asked) -> bool {
        if self.is_own {
            return ledger.chain(asked.environment).contains(&self.quota.as_str());
        }
        self.keeps_out_borrower(ledger, asked)
    }
}

/// What becomes of the next in line.
#[derive(Debug)]
pub(super) enum Wait {
    Not,
    /// It asks for more than there is, and holds nothing.
    InVain,
    /// It holds these from now on.
    For(Vec<Hold>),
}

/// What is held as the line is gone through from its head.
#[derive(Debug, Default)]
pub(super) struct Held(pub(super) BTreeSet<Hold>);

impl Held {
    pub(super) fn next(&self, ledger: &Ledger, asked: &Asked) -> Wait {
        if !room::beyond(ledger, asked.environment, &asked.amounts).is_empty() {
            return Wait::InVain;
        }
        let lacking = room::lacking(ledger, asked.environment, &asked.amounts);
        let kept_out = self.0.iter().filter(|hold| hold.keeps_out(ledger, asked));
        let quotas = lacking.iter().map(|it| &it.quota).chain(kept_out.map(|hold| &hold.quota));
        let quotas: BTreeSet<_> = quotas.collect();
        if quotas.is_empty() {
            return Wait::Not;
        }
        let hold =
            |quota: &String| Hold { is_own: asked.is_own(ledger, quota), quota: quota.clone() };
        Wait::For(quotas.into_iter().map(hold).collect())
    }

    /// Whether somebody holds a quota against what is asked for.
    pub(super) fn keeps_out(&self, ledger: &Ledger, asked: &Asked) -> bool {
        self.0.iter().any(|hold| hold.keeps_out(ledger, asked))
    }
}
