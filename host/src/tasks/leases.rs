//! Lets leases end when their time is over, and grants what has become free.
//!
//! It only wakes: what is due is found by every decision, from what is stored, so that a host that was
//! away for hours begins with what came due meanwhile.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    admission::Command,
    causes::with_causes,
    clock::Clock,
    leases::settle,
    store::{Store, Write},
};

pub struct LeaseKeeper {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

/// The clock may be set anew meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl LeaseKeeper {
    /// Goes on until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut version = self.store.version();
        while !stop.is_cancelled() {
            version.mark_unchanged();
            let records = self.store.records();
            let now = self.clock.now().max(records.time);
            let pause = match settle::next_due(&records) {
                None => LOOK_AGAIN,
                Some(due) if due > now => due.duration_since(now).unsigned_abs().min(LOOK_AGAIN),
                Some(_) => match self.store.commit(Write::of_host(Command::SettleLeases)).await {
                    Ok(_) => continue,
                    Err(error) => {
                        let error = with_causes(&error);
                        tracing::error!(error, "leases that are due can not be ended yet");
                        LOOK_AGAIN
                    }
                },
            };
            tokio::select! {
                () = stop.cancelled() => {}
                _ = version.changed() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}
