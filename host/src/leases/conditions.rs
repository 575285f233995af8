//! What is true of a lease, in words; and whether a fencing token is good.

use jiff::Timestamp;

use super::{
    line::{self, Standing},
    model::{CapacityLease, Ending, Reclaim, State},
};
use crate::{
    admission::Declared as _,
    capacity::excess::Excess,
    conditions::{Condition, Status},
    records::Records,
};

/// `Granted`, and `Reclaiming` while it is.
pub fn conditions(lease: &CapacityLease, records: &Records) -> Vec<Condition> {
    let reclaiming = lease.reclaim().map(|Reclaim { ends_at, by }| {
        let by = records.capacity_leases.get(by).map(|by| by.key(records)).unwrap_or_default();
        let message = format!(
            "what it borrows goes back to its owner: it ends at {ends_at}, since `{by}` waits for it"
        );
        Condition::new("Reclaiming", Status::True, "ShareAwaited", message)
    });
    std::iter::once(granted(lease, records)).chain(reclaiming).collect()
}

fn granted(lease: &CapacityLease, records: &Records) -> Condition {
    const NAME: &str = "Granted";
    match &lease.state {
        State::Waiting { until, .. } => {
            let (reason, message) = why_waiting(lease, records);
            let message = format!("{message}; it is refused if that lasts until {until}");
            Condition::new(NAME, Status::False, reason, message)
        }
        State::Granted(grant) => {
            let until = match grant.expires_at {
                Some(expires) => format!("it expires at {expires} unless it is renewed"),
                None => "it lives until it is released".to_owned(),
            };
            Condition::new(NAME, Status::True, "Granted", until)
        }
        State::Ended { how, at, .. } => {
            Condition::new(NAME, Status::False, how.code(), ending(*how, *at))
        }
    }
}

/// Since when the condition is what it is.
pub fn changed_at(lease: &CapacityLease) -> Timestamp {
    match &lease.state {
        State::Waiting { since, .. } => *since,
        State::Granted(grant) => grant.at,
        // One that was never granted has not been so since it began.
        State::Ended { grant: None, .. } => lease.meta.created_at,
        State::Ended { at, .. } => *at,
    }
}

fn why_waiting(lease: &CapacityLease, records: &Records) -> (&'static str, String) {
    let list =
        |all: Vec<Excess>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    match line::standing(records, lease) {
        Standing::Next => ("Next", "it is about to be granted".to_owned()),
        Standing::Behind { others, quota } => {
            let others = match others {
                1 => "1 other lease waits".to_owned(),
                others => format!("{others} other leases wait"),
            };
            ("OthersWait", format!("{others} before it, the first for quota `{quota}`"))
        }
        Standing::NoRoom(lacking) => ("NoRoom", format!("it is the next; {}", list(lacking))),
        Standing::Beyond(beyond) => {
            ("AboveLimit", format!("it asks for more than there is at all: {}", list(beyond)))
        }
    }
}

pub fn ending(how: Ending, at: Timestamp) -> String {
    match how {
        Ending::Expired => format!("its time was over at {at}, and nobody had renewed it"),
        Ending::Reclaimed => {
            format!("what it had borrowed went back to its owner at {at}")
        }
        Ending::Released => format!("it was released at {at}"),
        Ending::Refused => format!("it had waited as long as it might at {at}"),
    }
}

/// An answer to a holder, or to somebody who is asked to trust one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub valid: bool,
    /// One word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    pub expires_at: Option<Timestamp>,
}

/// Whether the lease that was found, if any, is granted with the token. What has expired is not, also
/// in the moment before that is on record.
pub fn check(lease: Option<&CapacityLease>, fencing_token: u64, now: Timestamp) -> Checked {
    let no = |reason, message| Checked { valid: false, reason, message, expires_at: None };
    let Some(lease) = lease else {
        return no("Unknown", "there is no such lease, or no longer".to_owned());
    };
    let grant = match &lease.state {
        State::Waiting { .. } => return no("Waiting", "it is not granted yet".to_owned()),
        State::Ended { how, at, .. } => return no(how.code(), ending(*how, *at)),
        State::Granted(grant) => grant,
    };
    if let Some(reclaimed) = grant.reclaim.filter(|it| it.ends_at <= now) {
        return no(Ending::Reclaimed.code(), ending(Ending::Reclaimed, reclaimed.ends_at));
    }
    if let Some(expires) = grant.expires_at.filter(|expires| *expires <= now) {
        return no(Ending::Expired.code(), ending(Ending::Expired, expires));
    }
    if grant.fencing_token != fencing_token {
        let has = grant.fencing_token;
        return no("StaleToken", format!("it was granted with fencing token {has}, not this one"));
    }
    let message = "it is granted with this fencing token".to_owned();
    Checked { valid: true, reason: "Granted", message, expires_at: lease.due() }
}
