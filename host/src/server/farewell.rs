//! Stops every worker before the host ends, when it was asked to.
//!
//! Intent stays as it is: a host that starts later puts new workers in their place. What fails on one
//! target or worker is tried again, and keeps no other from being stopped.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use futures_util::future;

use crate::{api::Core, capacity::target::CapacityTarget, causes::with_causes, drivers::SeenPhase};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Beyond the longest grace of any worker.
const MARGIN: Duration = Duration::from_secs(15);

pub(super) async fn stop_workers(core: &Core) -> Result<()> {
    let records = core.store.records();
    let grace = records.workers.values().map(|worker| worker.template.stop.grace).max();
    let patience = grace.unwrap_or_default() + MARGIN;
    let targets = records.capacity_targets.values();
    let failed = future::join_all(targets.map(async |target| {
        let mut last = Ok(());
        let stopping = async {
            loop {
                match stop_all(core, target).await {
                    Ok(0) => return,
                    Ok(left) => last = Err(anyhow!("{left} still run after {patience:?}")),
                    Err(error) => last = Err(error),
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let stopped = tokio::time::timeout(patience, stopping).await;
        let error = stopped.err().and(last.err())?;
        Some(format!("on `{}`: {}", target.meta.name, with_causes(error.as_ref())))
    }));
    let failed: Vec<_> = failed.await.into_iter().flatten().collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not all workers were stopped: {}", failed.join("; "))
}

/// Tells those that run to stop, and answers how many are not stopped yet.
async fn stop_all(core: &Core, target: &CapacityTarget) -> Result<usize> {
    let driver = core.places.driver(target)?;
    let (mut left, mut stopped) = (0, Ok(()));
    for worker in driver.list().await.context("cannot list workers")? {
        match worker.phase {
            SeenPhase::Stopped => continue,
            SeenPhase::Stopping => {}
            SeenPhase::Starting | SeenPhase::Running | SeenPhase::Backoff | SeenPhase::Lost => {
                stopped = stopped.and(driver.stop(worker.id, None).await);
            }
        }
        left += 1;
    }
    stopped.context("cannot stop a worker")?;
    Ok(left)
}
