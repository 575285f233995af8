//! Lets old events go, a few at a time, so that the log does not grow for ever.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{
    causes::with_causes,
    clock::Clock,
    store::{Prune, Store},
};

/// How long events are kept: whichever limit is reached first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub age: Duration,
    pub count: u64,
}

pub struct EventPruner {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub retention: Retention,
}

const AT_ONCE: u32 = 500;
/// Between two times, so that other writes come in between.
const PAUSE: Duration = Duration::from_millis(20);
const BETWEEN_ROUNDS: Duration = Duration::from_secs(1);
/// Events grow old also while none is added.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl EventPruner {
    /// Goes on until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut last = self.store.last_position();
        while !stop.is_cancelled() {
            last.mark_unchanged();
            let prune = Prune {
                before: self
                    .clock
                    .now()
                    .saturating_sub(self.retention.age)
                    .unwrap_or(Timestamp::MIN),
                keep: self.retention.count,
                most: AT_ONCE,
            };
            let is_more = match self.store.prune_events(prune).await {
                Ok(removed) => removed >= u64::from(AT_ONCE),
                Err(error) => {
                    let error = with_causes(&error);
                    tracing::error!(error, "old events can not be removed yet");
                    false
                }
            };
            let rest = if is_more { PAUSE } else { BETWEEN_ROUNDS };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(rest) => {}
            }
            if !is_more {
                tokio::select! {
                    () = stop.cancelled() => {}
                    _ = last.changed() => {}
                    () = tokio::time::sleep(LOOK_AGAIN) => {}
                }
            }
        }
    }
}
