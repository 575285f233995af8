//! Whether a failed call is made again, and after how long. Pure: chance comes in as a number.
//!
//! - Every call may be repeated: reads change nothing, and writes carry a request id under which
//!   the host does a thing once.
//! - A host that has answered before is given longer (it may be restarting) than one that never
//!   did (it is probably not there, and the user wants to know).
//! - The delay doubles, and is spread by chance over its upper half, so that the calls of one run
//!   do not come back together.

use std::time::Duration;

use super::error::Fault;

const DELAY: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(5);
/// Tries of a host that never answered: about two seconds.
const TRIES_UNKNOWN_HOST: u32 = 5;
/// Tries of a host that did: about fifteen seconds.
const TRIES_KNOWN_HOST: u32 = 9;
/// Tries of a call that ran into its time limit.
const TRIES_TIMED_OUT: u32 = 2;

/// What is known when a try has failed.
#[derive(Debug, Clone, Copy)]
pub struct Tried<'a> {
    /// Tries made so far, from 1.
    pub tries: u32,
    pub fault: &'a Fault,
    /// The host has answered some call before.
    pub host_answered: bool,
    /// Evenly spread over all values.
    pub chance: u32,
}

/// How long to wait before the next try; `None`: there shall be none.
pub fn delay_before_next(tried: Tried<'_>) -> Option<Duration> {
    let patient = if tried.host_answered { TRIES_KNOWN_HOST } else { TRIES_UNKNOWN_HOST };
    let (tries_max, hint) = match tried.fault {
        Fault::Unreachable { .. } => (patient, None),
        Fault::TimedOut { .. } => (TRIES_TIMED_OUT, None),
        Fault::Remote(remote) => match remote.code {
            tonic::Code::Unavailable => (patient, remote.retry_after),
            // A quota does not grow by asking again: only a host that says when is asked again.
            tonic::Code::ResourceExhausted => (patient, Some(remote.retry_after?)),
            tonic::Code::DeadlineExceeded => (TRIES_TIMED_OUT, remote.retry_after),
            _ => return None,
        },
        Fault::Tls { .. } | Fault::Cancelled => return None,
    };
    (tried.tries < tries_max).then(|| hint.unwrap_or_default().min(DELAY_MAX).max(backoff(tried)))
}

fn backoff(tried: Tried<'_>) -> Duration {
    let doublings = tried.tries.saturating_sub(1).min(16);
    let whole = DELAY.saturating_mul(1 << doublings).min(DELAY_MAX);
    whole / 2 + (whole / 2).mul_f64(f64::from(tried.chance) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::error::Remote, *};

    fn fault(code: tonic::Code, retry_after: Option<Duration>) -> Fault {
        Fault::Remote(Box::new(Remote { code, retry_after, ..Remote::default() }))
    }

    fn tries(fault: &Fault, host_answered: bool) -> u32 {
        (1..100)
            .find(|&tries| {
                delay_before_next(Tried { tries, fault, host_answered, chance: 0 }).is_none()
            })
            .unwrap()
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let second = Some(Duration::from_secs(1));
        let gone = Fault::Unreachable { cause: "refused".into(), connected: false };
        assert_eq!(tries(&gone, false), TRIES_UNKNOWN_HOST);
        assert_eq!(tries(&gone, true), TRIES_KNOWN_HOST);
        assert_eq!(tries(&fault(tonic::Code::Unavailable, None), true), TRIES_KNOWN_HOST);
        assert_eq!(tries(&fault(tonic::Code::ResourceExhausted, second), true), TRIES_KNOWN_HOST);
        assert_eq!(tries(&fault(tonic::Code::ResourceExhausted, None), true), 1);
        assert_eq!(tries(&Fault::TimedOut { after: Duration::ZERO }, true), TRIES_TIMED_OUT);
        for code in [tonic::Code::NotFound, tonic::Code::Aborted, tonic::Code::Unauthenticated] {
            assert_eq!(tries(&fault(code, second), true), 1, "{code:?}");
        }
        for fault in [Fault::Cancelled, Fault::Tls { cause: "unknown issuer".into() }] {
            assert_eq!(tries(&fault, true), 1, "{fault:?}");
        }
    }

    proptest! {
        #[test]
        fn delays_grow_to_a_limit_and_heed_the_hosts_hint(
            tries in 1..TRIES_KNOWN_HOST, chance: u32, hint_ms in 0..20_000_u64,
        ) {
            let hint = Duration::from_millis(hint_ms);
            let fault = fault(tonic::Code::Unavailable, Some(hint));
            let tried = Tried { tries, fault: &fault, host_answered: true, chance };
            let delay = delay_before_next(tried).unwrap();
            prop_assert!(delay >= DELAY / 2 && delay <= DELAY_MAX);
            prop_assert!(delay >= hint.min(DELAY_MAX));
            let next = delay_before_next(Tried { tries: tries + 1, ..tried });
            prop_assert!(next.is_none_or(|next| next >= delay));
        }
    }
}
