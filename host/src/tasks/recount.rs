//! Proves from time to time that what is on the books of every quota is what is used, first when the
//! host has started: whatever it went through before, what it goes on with is right.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    admission::Command,
    board::Board,
    capacity::recount::{Recount, recount},
    causes::with_causes,
    clock::Clock,
    store::{Store, Write},
};

#[derive(Clone)]
pub struct Recounter {
    pub store: Arc<dyn Store>,
    pub board: Arc<Board>,
    pub clock: Arc<dyn Clock>,
}

const BETWEEN: Duration = Duration::from_secs(10 * 60);

impl Recounter {
    /// Goes on until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let _hung = self.count().await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(BETWEEN) => {}
            }
        }
    }

    /// Counts what is stored at this moment, without holding up anybody, and has corrected what is wrong.
    pub async fn count(&self) -> Option<Arc<Recount>> {
        let (records, now) = (self.store.records(), self.clock.now());
        let counted = tokio::task::spawn_blocking(move || recount(&records)).await.ok()?;
        correct(&self.store, &counted).await;
        let counted = Arc::new(counted);
        self.board.hang_recount(now, Arc::clone(&counted));
        Some(counted)
    }
}

async fn correct(store: &Arc<dyn Store>, counted: &Recount) {
    if counted.differences.is_empty() {
        tracing::debug!(quotas = counted.quotas, leases = counted.leases, "usage is as booked");
        return;
    }
    for it in &counted.differences {
        let (quota, resource) = (&it.quota, &it.resource);
        let (booked, used) = (it.booked.used, it.counted.used);
        tracing::error!(%quota, %resource, %booked, %used, "another use is booked than there is");
    }
    if let Err(error) = store.commit(Write::of_host(Command::CorrectUsage)).await {
        let error = with_causes(&error);
        tracing::error!(error, "usage can not be corrected yet");
    }
}
