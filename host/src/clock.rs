//! Where the time comes from: the system, or a test that moves it by hand.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::supervisor::clock::uptime;

pub trait Clock: Send + Sync {
    /// Now, in whole microseconds.
    fn now(&self) -> Timestamp;
}

#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        whole(Timestamp::now())
    }
}

/// The last whole microsecond.
fn whole(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// The system's time, but steady: it never goes back, and it does not jump when the system's clock is
/// set anew. It is then drawn towards that clock slowly, so that what was granted for a minute ends
/// after a minute.
#[derive(Debug)]
pub struct SteadyClock(Mutex<Reading>);

#[derive(Debug, Clone, Copy)]
struct Reading {
    time: Timestamp,
    uptime: Duration,
}

impl SteadyClock {
    /// Begins with the system's time.
    pub fn start() -> Self {
        Self(Mutex::new(Reading { time: SystemClock.now(), uptime: uptime() }))
    }

    /// Moves it forward to a time that was told before, perhaps by another host of the same data.
    pub fn not_before(&self, time: Timestamp) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.time = last.time.max(time);
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.follow(Reading { time: SystemClock.now(), uptime: uptime() });
        whole(last.time)
    }
}

impl Reading {
    /// The time goes on as fast as the machine's own, faster or slower by at most a tenth as long as
    /// it is behind the system's or before it.
    fn follow(self, system: Self) -> Self {
        let passed = system.uptime.saturating_sub(self.uptime);
        let passed = SignedDuration::try_from(passed).unwrap_or(SignedDuration::ZERO);
        let by_itself = self.time.checked_add(passed).unwrap_or(Timestamp::MAX);
        let off = system.time.duration_since(by_itself);
        let most = passed / 10;
        let time = by_itself.checked_add(off.clamp(-most, most)).unwrap_or(Timestamp::MAX);
        Self { time, uptime: system.uptime.max(self.uptime) }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The steady time after some seconds while the system's clock is off by some.
    fn after(passed: u64, off: i64) -> i64 {
        let start = Timestamp::from_second(1_000_000).unwrap();
        let mut steady = Reading { time: start, uptime: Duration::ZERO };
        for second in 1..=passed {
            let by_itself = start + SignedDuration::from_secs(i64::try_from(second).unwrap());
            let time = by_itself + SignedDuration::from_secs(off);
            let before = steady.time;
            steady = steady.follow(Reading { time, uptime: Duration::from_secs(second) });
            assert!(steady.time > before, "it goes on");
        }
        steady.time.duration_since(start).as_secs()
    }

    #[test]
    fn a_clock_that_is_set_anew_makes_no_jump() {
        assert_eq!(after(60, 0), 60);
        assert_eq!(after(60, 3600), 66);
        assert_eq!(after(60, -3600), 54);
    }

    #[test]
    fn it_comes_to_agree_with_the_system() {
        assert_eq!(after(600, 60), 660);
        assert_eq!(after(600, -60), 540);
    }

    #[test]
    fn times_are_whole_microseconds_as_they_are_stored() {
        let clock = SteadyClock::start();
        for _ in 0..100 {
            for now in [clock.now(), SystemClock.now()] {
                assert_eq!(now.subsec_nanosecond() % 1_000, 0, "{now}");
            }
        }
    }

    #[test]
    fn a_time_that_was_told_before_is_not_gone_back_to() {
        let clock = SteadyClock::start();
        let told = clock.now() + SignedDuration::from_hours(1);
        clock.not_before(told);
        assert!(clock.now() >= told);
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
    }
}
