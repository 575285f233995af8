//! Who has to give back what they borrow, so that the owner of a share gets it.
//!
//! A lease that waits, would stay within its quota's share and lacks room because others under the same
//! quota use more than is theirs, gets it back from leases that have agreed to that. They are told, and end
//! after the notice of the quota in which the shares lie: the lowest one that both count against.
//!
//! Invariants:
//! - Only who would stay within its share takes back, and only from who is above its own. So the sum of
//!   what is borrowed falls with each time, and two never take from each other in turn.
//! - Nobody gives back in vain: only when the one that waits then fits in every quota, and is next.
//! - None could be spared of those that are chosen.
//! - When nobody waits for it any more, it is called off.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    line::{self, Asked, Held, Wait},
    model::{CapacityLease, Preemption, Reclaim, State, after},
};
use crate::{
    capacity::{excess::Excess, ledger::Ledger, room, tree},
    ids::CapacityLeaseId,
    pools::template::Amounts,
    records::Records,
};

/// A lease and what shall become of its end.
pub(super) struct Verdict {
    pub(super) lease: Arc<CapacityLease>,
    /// `None`: it is called off.
    pub(super) reclaim: Option<Reclaim>,
}

/// Changes of who is reclaimed, as the line stands.
pub(super) fn verdicts(records: &Records, now: Timestamp) -> Vec<Verdict> {
    let wanted = wanted(records, now);
    let told = records.capacity_leases.reclaimed().cloned();
    let spared = told.filter(|lease| !wanted.contains_key(&lease.id));
    let spared = spared.map(|lease| Verdict { lease, reclaim: None });
    let news = wanted.values().filter(|(lease, reclaim)| lease.reclaim() != Some(*reclaim));
    let news = news.map(|(lease, it)| Verdict { lease: Arc::clone(lease), reclaim: Some(*it) });
    spared.chain(news).collect()
}

/// Who shall give back, whether or not they were told already. Those that were keep their time.
fn wanted(records: &Records, now: Timestamp) -> Wanted {
    let mut review = Review { records, shadow: records.ledger.clone(), wanted: Wanted::new() };
    let mut held = Held::default();
    for lease in line::in_order(records) {
        let asked = Asked::of(lease);
        match held.next(&review.shadow, &asked) {
            Wait::Not => {}
            Wait::InVain => continue,
            Wait::For(holds) => {
                let chosen = review.victims(&asked, &held);
                let Some((victims, notice)) = chosen else {
                    held.0.extend(holds);
                    continue;
                };
                for victim in victims {
                    let ends_at =
                        victim.reclaim().map_or_else(|| after(now, notice), |it| it.ends_at);
                    review.take(victim, Reclaim { ends_at, by: lease.id });
                }
            }
        }
        review.shadow.count(lease.environment, &Amounts::new(), &asked.amounts);
    }
    review.wanted
}

type Wanted = BTreeMap<CapacityLeaseId, (Arc<CapacityLease>, Reclaim)>;

/// Who is chosen, and how long they live on.
type Chosen = (Vec<Arc<CapacityLease>>, Duration);

struct Review<'a> {
    records: &'a Records,
    /// What will be used when all who are wanted have ended, and those before in line have got theirs.
    shadow: Ledger,
    wanted: Wanted,
}

impl Review<'_> {
    fn take(&mut self, lease: Arc<CapacityLease>, reclaim: Reclaim) {
        self.shadow.count(lease.environment, &lease.holds(), &Amounts::new());
        self.wanted.insert(lease.id, (lease, reclaim));
    }

    /// Those that may be chosen, the first first. Who was told already stands before all others.
    fn candidates(&self) -> impl Iterator<Item = &Arc<CapacityLease>> {
        let leases = &self.records.capacity_leases;
        let others = leases.reclaimable().filter(|lease| lease.reclaim().is_none());
        let all = leases.reclaimed().chain(others);
        all.filter(|lease| !self.wanted.contains_key(&lease.id))
    }

    /// The fewest that have to end for what is asked to fit, and how long they live on. `None` when it is
    /// nobody's duty, or would not help, or those who are before it hold what it would get.
    fn victims(&self, asked: &Asked, held: &Held) -> Option<Chosen> {
        // Who is bound to the root has no share of anything.
        if self.shadow.chain(asked.environment).len() < 2 {
            return None;
        }
        let lacking = |ledger: &Ledger| room::lacking(ledger, asked.environment, &asked.amounts);
        let mut trial = self.shadow.clone();
        let mut left = lacking(&trial);
        let mut chosen: Vec<Arc<CapacityLease>> = Vec::new();
        let mut notice = Duration::ZERO;
        for reach in [Reach::Whole, Reach::Top, Reach::Top] {
            for lease in self.candidates() {
                if left.is_empty() {
                    break;
                }
                let gives_back = |it| gives_back(&trial, (it, reach), (lease, asked));
                if let Some(quota) = left.iter().find_map(gives_back)
                    && chosen.iter().all(|it| it.id != lease.id)
                {
                    notice = notice.max(tree::reclaim_notice(self.records, &quota));
                    trial.count(lease.environment, &lease.holds(), &Amounts::new());
                    chosen.push(Arc::clone(lease));
                    left = lacking(&trial);
                }
            }
        }
        let mut index = chosen.len();
        while index > 0 && left.is_empty() {
            index -= 1;
            let spared = &chosen[index];
            let mut with = trial.clone();
            with.count(spared.environment, &Amounts::new(), &spared.holds());
            if lacking(&with).is_empty() {
                trial = with;
                chosen.remove(index);
            }
        }
        let fits = left.is_empty() && !held.keeps_out(&trial, asked);
        (fits && !chosen.is_empty()).then_some((chosen, notice))
    }
}

/// How far down a borrower has to be above its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// In every quota from the one where they meet down to its own. These come first.
    Whole,
    /// In the uppermost of them.
    Top,
}

/// The quota whose shares say so, if the end of a lease gives back some of what is lacking: the lowest one
/// that both count against. What is asked for is the asker's own there, and the lease is of a borrower.
fn gives_back(
    ledger: &Ledger,
    (lacking, reach): (&Excess, Reach),
    (lease, asked): (&CapacityLease, &Asked),
) -> Option<String> {
    let resource = lacking.resource.as_str();
    if !lease.uses().contains_key(resource) {
        return None;
    }
    let (chain, asking) = (ledger.chain(lease.environment), ledger.chain(asked.environment));
    let at = chain.iter().position(|quota| asking.contains(quota))?;
    let meets = chain[at];
    let owner = asking[asking.iter().position(|quota| *quota == meets)?.checked_sub(1)?];
    // What gives nothing back to the one that lacks room is of no use.
    if !chain.contains(&lacking.quota.as_str()) {
        return None;
    }
    let borrows = |quota: &&str| !room::is_own(ledger, quota, resource, 0);
    let is_borrowed = match reach {
        Reach::Whole => chain[..at].iter().all(borrows),
        // Bound to it itself, it uses what is nobody's share.
        Reach::Top => at.checked_sub(1).is_none_or(|top| borrows(&chain[top])),
    };
    let is_own = room::is_own(ledger, owner, resource, lacking.requested);
    (is_own && is_borrowed).then(|| meets.to_owned())
}

/// The order in which leases give back: those of a low priority first, then the newest.
pub(super) type Turn = (i32, Reverse<Timestamp>, Reverse<CapacityLeaseId>);

/// `None` for one that gives nothing back.
pub(super) fn turn(lease: &CapacityLease) -> Option<Turn> {
    match (&lease.state, lease.spec.preemption) {
        (State::Granted(grant), Preemption::Reclaimable) => {
            Some((lease.spec.priority, Reverse(grant.at), Reverse(lease.id)))
        }
        (State::Granted(_), Preemption::Never)
        | (State::Waiting { .. } | State::Ended { .. }, _) => None,
    }
}
