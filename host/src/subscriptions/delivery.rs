//! How far a subscription's deliveries are, and what follows from each attempt. Pure.
//!
//! Invariants:
//! - The position moves only over events that were taken, given up, or not wanted.
//! - Attempts are counted across restarts of the host.
//! - Nothing is tried while it is suspended.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::model::{DAY, EventSubscription, EventSubscriptionSpec};
use crate::conditions::{Condition, Status};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// All events up to here are done with.
    pub position: u64,
    /// Of the subscription when it last began to try.
    pub generation: u64,
    pub resumed: u64,
    /// Failed ones of the event that is next.
    pub attempts: u32,
    pub next_attempt_at: Option<Timestamp>,
    pub delivered: u64,
    pub delivered_at: Option<Timestamp>,
    pub failure: Option<Failure>,
    /// Dead letters since the last event that was taken.
    pub dead_in_row: u32,
    pub stopped: Option<Stopped>,
    /// Events that went from the log before they were sent: from the first position to the last.
    pub missed: Option<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at: Timestamp,
    pub why: String,
}

/// The host tries no more until somebody asks it to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    pub at: Timestamp,
    /// One word.
    pub reason: String,
    pub message: String,
}

/// An event that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    pub position: u64,
    pub event_id: String,
    pub event_type: String,
    pub body: String,
    pub attempts: u32,
    pub failure: Failure,
    /// It is to be sent again.
    #[serde(default)]
    pub redelivering: bool,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Taken,
    Failed {
        why: String,
        retry_after: Option<Duration>,
    },
    /// The other side says that it will never take anything again.
    Gone,
}

/// What is to be done with the event that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Following,
    Again,
    /// It becomes a dead letter, and the following is next.
    GiveUp,
}

/// After so many dead letters in a row nobody is likely to listen.
pub const DEAD_IN_ROW_MAX: u32 = 5;
/// So many dead letters are kept of a subscription.
pub const DEAD_LETTERS_MAX: u32 = 1_000;

impl Delivery {
    /// Goes on if somebody has asked for it: by that, or by changing the subscription.
    pub fn follow(&mut self, subscription: &EventSubscription) -> bool {
        let asked = (subscription.meta.generation, subscription.resumed);
        if (self.generation, self.resumed) == asked {
            return false;
        }
        (self.generation, self.resumed) = asked;
        self.stopped = None;
        self.missed = None;
        self.next_attempt_at = None;
        self.dead_in_row = 0;
        true
    }

    /// Takes in what came of an attempt to send the event at a position. `random` is below 1,000.
    pub fn take_in(
        &mut self,
        (position, outcome): (u64, &Outcome),
        spec: &EventSubscriptionSpec,
        (now, random): (Timestamp, u32),
    ) -> Next {
        match outcome {
            Outcome::Taken => {
                self.delivered += 1;
                self.delivered_at = Some(now);
                self.dead_in_row = 0;
                self.done_with(position);
                Next::Following
            }
            Outcome::Gone => {
                let message = "the other side answered 410 Gone: change the URL, or resume it";
                self.fail(now, "the other side answered 410 Gone");
                self.stop(now, "EndpointGone", message.to_owned());
                Next::Again
            }
            Outcome::Failed { why, retry_after } => {
                self.fail(now, why);
                self.attempts += 1;
                if self.attempts < spec.max_attempts {
                    let pause =
                        pause(spec, self.attempts, random).max(retry_after.unwrap_or_default());
                    self.next_attempt_at = now.checked_add(pause.min(DAY)).ok();
                    return Next::Again;
                }
                self.done_with(position);
                self.dead_in_row += 1;
                if self.dead_in_row >= DEAD_IN_ROW_MAX {
                    let message = format!(
                        "{DEAD_IN_ROW_MAX} events in a row were given up, the last because {why}: mend \
                         what receives them, and resume it"
                    );
                    self.stop(now, "KeepsFailing", message);
                }
                Next::GiveUp
            }
        }
    }

    fn fail(&mut self, at: Timestamp, why: &str) {
        self.failure = Some(Failure { at, why: why.to_owned() });
    }

    fn stop(&mut self, at: Timestamp, reason: &str, message: String) {
        self.next_attempt_at = None;
        self.stopped = Some(Stopped { at, reason: reason.to_owned(), message });
    }

    /// Goes on after an event.
    pub fn done_with(&mut self, position: u64) {
        self.position = self.position.max(position);
        self.attempts = 0;
        self.next_attempt_at = None;
    }

    /// Goes over what is gone from the log.
    pub fn skip_gone(&mut self, gone: u64) {
        if gone > self.position {
            let first = self.missed.map_or(self.position + 1, |(first, _)| first);
            self.missed = Some((first, gone));
            self.done_with(gone);
        }
    }
}

/// It doubles with each attempt, up to the longest, less up to a half at random.
fn pause(spec: &EventSubscriptionSpec, attempts: u32, random: u32) -> Duration {
    let doubled = spec.retry_min.saturating_mul(1 << attempts.saturating_sub(1).min(20));
    let longest = doubled.min(spec.retry_max);
    longest - longest / 2 * random.min(1_000) / 1_000
}

/// What can be said of a subscription; `last` is the log's last position.
pub fn conditions(
    it: &EventSubscription,
    delivery: &Delivery,
    (dead_letters, last): (u64, u64),
) -> Vec<Condition> {
    let delivering = |status, reason: &str, message: String| {
        Condition::new("Delivering", status, reason, message)
    };
    let behind = last.saturating_sub(delivery.position);
    let is_asked_again =
        (delivery.generation, delivery.resumed) != (it.meta.generation, it.resumed);
    let delivering = match (&delivery.stopped, &delivery.failure) {
        _ if it.spec.suspended => delivering(
            Status::False,
            "Suspended",
            "it is suspended by its specification".to_owned(),
        ),
        (Some(stopped), _) if !is_asked_again => {
            delivering(Status::False, &stopped.reason, stopped.message.clone())
        }
        (_, Some(failure)) if delivery.attempts > 0 => {
            let (attempts, most) = (delivery.attempts, it.spec.max_attempts);
            let why = &failure.why;
            let message = format!("{attempts} of {most} attempts failed, the last because {why}");
            delivering(Status::True, "Retrying", message)
        }
        _ if behind > 0 => {
            let message = format!("{behind} events of the log are still to be looked at");
            delivering(Status::True, "CatchingUp", message)
        }
        _ => delivering(Status::True, "UpToDate", "all events were looked at".to_owned()),
    };
    let complete = match (delivery.missed, dead_letters) {
        (Some((first, last)), _) => {
            let message = format!(
                "events of the positions {first} to {last} went from the log before they were sent: \
                 take a snapshot, and resume the subscription"
            );
            Condition::new("Complete", Status::False, "EventsMissed", message)
        }
        (None, 0) => {
            let message = "every event that fitted was taken, or will be tried";
            Condition::new("Complete", Status::True, "AllTaken", message)
        }
        (None, letters) => {
            let message = format!("{letters} dead letters are kept: redeliver or drop them");
            Condition::new("Complete", Status::False, "DeadLetters", message)
        }
    };
    vec![delivering, complete]
}
