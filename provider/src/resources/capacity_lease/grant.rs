//! Waiting until a lease is granted, and telling why it is not.

use std::time::Duration;

use proto::runtimecloud::v1::{self as api, CapacityLeaseState as State};

use crate::{
    client::{CallError, Client, Noun as _, noun::key},
    framework::{Context, Diagnostics, Path, Reported},
    resources::managed::{
        lifecycle::{GaveUp, pause},
        report,
    },
};

const FIRST_LOOK: Duration = Duration::from_millis(50);

/// Why there is no grant.
#[derive(Debug)]
pub(crate) enum NotGranted {
    /// The lease, as it was seen last.
    Ended(Box<api::CapacityLease>),
    GaveUp(Box<api::CapacityLease>, GaveUp),
    Failed(Box<CallError>),
}

/// The lease as it is granted.
pub(crate) async fn wait_until_granted(
    client: &Client,
    context: &Context<Client>,
    asked: &api::CapacityLease,
) -> Result<api::CapacityLease, NotGranted> {
    let mut lease = asked.clone();
    let mut delay = FIRST_LOOK;
    loop {
        match state(&lease) {
            State::Granted => return Ok(lease),
            State::Expired | State::Reclaimed | State::Released | State::Refused => {
                return Err(NotGranted::Ended(lease.into()));
            }
            State::Waiting | State::Unspecified => {}
        }
        if let Some(gave_up) = pause(context, &mut delay).await {
            return Err(NotGranted::GaveUp(lease.into(), gave_up));
        }
        match client.get(&lease.metadata().id, context).await {
            Ok(now) => lease = now,
            // What was seen last holds.
            Err(error) if error.ended_early() => {}
            Err(error) => return Err(NotGranted::Failed(error.into())),
        }
    }
}

impl NotGranted {
    /// Tells the user; `left` is what becomes of a lease that still waits.
    pub(crate) fn report(&self, left: &str, diagnostics: &mut Diagnostics) -> Reported {
        let key = |lease: &api::CapacityLease| key(&lease.environment, &lease.metadata().name);
        match self {
            Self::Failed(error) => report(error, &[], diagnostics),
            Self::Ended(lease) => diagnostics.error(
                Path::root(),
                "Not granted",
                format!(
                    "The capacity lease `{}` has ended before it was granted: {}.\n\nAsk for less, \
                     let it `wait` longer, or give it a higher `priority`, and run again.",
                    key(lease),
                    said(lease)
                ),
            ),
            Self::GaveUp(lease, gave_up) => {
                let (summary, cause) = gave_up.words("Waiting for the grant");
                let detail = format!(
                    "The capacity lease `{}` is not granted; {cause}.\n\n{}\n\n{left}",
                    key(lease),
                    said(lease)
                );
                diagnostics.error(Path::root(), summary, detail)
            }
        }
    }
}

fn state(lease: &api::CapacityLease) -> State {
    lease.observed.as_ref().map_or(State::Unspecified, api::CapacityLeaseObserved::state)
}

/// How the lease ended, in a sentence; `None` while it waits or is granted.
pub(super) fn ending(lease: &api::CapacityLease) -> Option<String> {
    match state(lease) {
        State::Expired | State::Reclaimed | State::Released | State::Refused => Some(said(lease)),
        State::Unspecified | State::Waiting | State::Granted => None,
    }
}

/// What the host says of the grant.
fn said(lease: &api::CapacityLease) -> String {
    let observed = lease.observed.clone().unwrap_or_default();
    let granted = observed.conditions.into_iter().find(|it| it.r#type == "Granted");
    let said = granted.map(|it| it.message).unwrap_or_default();
    match observed.position {
        Some(position) => format!("It stands at {position} in line: {said}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(state: State, position: Option<u32>) -> api::CapacityLease {
        let condition = api::Condition {
            r#type: "Granted".to_owned(),
            message: "because".to_owned(),
            ..api::Condition::default()
        };
        api::CapacityLease {
            observed: Some(api::CapacityLeaseObserved {
                state: state.into(),
                position,
                conditions: vec![condition],
                ..api::CapacityLeaseObserved::default()
            }),
            ..api::CapacityLease::default()
        }
    }

    #[test]
    fn what_ended_is_told_with_its_reason_and_what_lives_is_not() {
        for state in [State::Expired, State::Reclaimed, State::Released, State::Refused] {
            assert_eq!(ending(&lease(state, None)).as_deref(), Some("because"));
        }
        for state in [State::Unspecified, State::Waiting, State::Granted] {
            assert_eq!(ending(&lease(state, None)), None);
        }
        assert_eq!(said(&lease(State::Waiting, Some(3))), "It stands at 3 in line: because");
    }
}
