//! Stops every worker before the host ends, when it was asked to.
//!
//! Intent stays as it is: a host that starts later puts new workers in their place.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::{
    api::Core,
    drivers::{CapacityDriver, SeenPhase},
};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Beyond the longest grace of any worker.
const MARGIN: Duration = Duration::from_secs(15);

pub(super) async fn stop_workers(core: &Core) -> Result<()> {
    let records = core.store.records();
    let grace = records.workers.values().map(|worker| worker.template.stop.grace).max();
    let patience = grace.unwrap_or_default() + MARGIN;
    for target in records.capacity_targets.values() {
        let driver = core.places.driver(target)?;
        let stopping = async {
            while stop_all(&*driver).await? > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            anyhow::Ok(())
        };
        match tokio::time::timeout(patience, stopping).await {
            Ok(stopped) => stopped?,
            Err(_) => bail!("workers on `{}` still run after {patience:?}", target.meta.name),
        }
    }
    Ok(())
}

/// Tells those that run to stop, and answers how many are not stopped yet.
async fn stop_all(driver: &dyn CapacityDriver) -> Result<usize> {
    let mut left = 0;
    for worker in driver.list().await.context("cannot list workers")? {
        match worker.phase {
            SeenPhase::Stopped => continue,
            SeenPhase::Stopping => {}
            SeenPhase::Starting | SeenPhase::Running | SeenPhase::Backoff | SeenPhase::Lost => {
                driver.stop(worker.id).await.context("cannot stop a worker")?;
            }
        }
        left += 1;
    }
    Ok(left)
}
