//! Why a use has no room: each quota and resource that says no, with its numbers.

use std::{collections::BTreeSet, fmt};

use jiff::Timestamp;

use super::{
    amounts,
    ledger::{Ledger, saturated},
    room,
};
use crate::{pools::template::Amounts, records::Records};

/// A limit that a change would exceed, in the units of [`Amounts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    pub quota: String,
    pub resource: String,
    pub rule: Rule,
    pub limit: u64,
    /// Used before the change.
    pub used: u64,
    /// Kept for the quotas under it, which do not lend it.
    pub kept: u64,
    /// What the change would add.
    pub requested: u64,
    /// Who uses more than their share of it, the most first.
    pub lent: Vec<(String, u64)>,
    /// When it would fit if nobody else came, as far as anybody knows.
    pub fits_at: Option<Timestamp>,
}

/// What kind of limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Its own hard limit.
    Hard,
    /// Its share and what it may borrow.
    Borrowing,
    /// All shares under it together.
    Shares,
}

impl Rule {
    /// One word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Borrowing => "borrowing",
            Self::Shares => "shares",
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, resource, limit, used, requested, .. } = self;
        let shown = |amount| amounts::shown(resource, amount);
        write!(
            f,
            "quota `{quota}` has no room for {} more of {resource}: {} of at most {} is used",
            shown(*requested),
            shown(*used),
            shown(*limit)
        )?;
        match self.rule {
            Rule::Hard => {}
            Rule::Borrowing => f.write_str(", with all that it may borrow")?,
            Rule::Shares => f.write_str(", which is what the shares under it add up to")?,
        }
        if self.kept > 0 {
            write!(f, ", and {} is kept for quotas that do not lend it", shown(self.kept))?;
        }
        for (borrower, amount) in &self.lent {
            write!(f, "; `{borrower}` uses {} more than its share", shown(*amount))?;
        }
        match self.fits_at {
            Some(at) => write!(f, "; it fits at {at} if no lease is renewed"),
            None => Ok(()),
        }
    }
}

/// So many leases are looked at, to say when it would fit.
const LOOKED_AT: usize = 1_000;
/// So many borrowers are named.
const NAMED: usize = 3;

/// Says who has borrowed what is lacking, and when it would fit. `asked` is the ledger with the use that
/// has no room in it.
pub fn explained(records: &Records, asked: Ledger, mut excesses: Vec<Excess>) -> Vec<Excess> {
    for it in &mut excesses {
        it.lent = borrowers(&records.ledger, &it.quota, &it.resource);
    }
    let mut left: BTreeSet<usize> = (0..excesses.len()).collect();
    let mut ledger = asked;
    for lease in records.capacity_leases.expiring().take(LOOKED_AT) {
        let Some(at) = lease.due().filter(|_| !left.is_empty()) else { break };
        let chain = ledger.chain(lease.environment);
        if !left.iter().any(|it| chain.contains(&&*excesses[*it].quota)) {
            continue;
        }
        ledger.count(lease.environment, &lease.uses(), &Amounts::new());
        left.retain(|index| {
            let it = &mut excesses[*index];
            let is_left = room::is_exceeded(&ledger, it);
            it.fits_at = (!is_left).then_some(at);
            is_left
        });
    }
    excesses
}

/// The quotas directly under one that use more than is theirs, if shares are given there.
fn borrowers(ledger: &Ledger, quota: &str, resource: &str) -> Vec<(String, u64)> {
    if ledger.figures(quota, resource).shares_below.is_none() {
        return Vec::new();
    }
    let borrowed = |child: &str| {
        let it = ledger.figures(child, resource);
        let more = it.used.saturating_sub(it.share.unwrap_or(0));
        (more > 0).then(|| (child.to_owned(), saturated(more)))
    };
    let mut all: Vec<_> = ledger.children(quota).filter_map(borrowed).collect();
    all.sort_by(|(_, one), (_, other)| other.cmp(one));
    all.truncate(NAMED);
    all
}
