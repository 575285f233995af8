//! Where the time comes from: the system, or a test that moves it by hand.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};

pub trait Clock: Send + Sync {
    /// Now, in whole microseconds.
    fn now(&self) -> Timestamp;
}

#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.round(TimestampRound::new().smallest(Unit::Microsecond)).unwrap_or(now)
    }
}

/// Stands still until it is moved.
#[derive(Debug)]
pub struct FakeClock(Mutex<Timestamp>);

impl FakeClock {
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    pub fn advance(&self, by: SignedDuration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
