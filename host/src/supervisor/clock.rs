//! A clock to measure with: it never goes back, and goes on while the machine sleeps.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since the machine's boot.
pub(crate) fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let part = u32::try_from(now.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), part)
}
