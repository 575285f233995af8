//! The step that ends workers nobody decided, such as those of an earlier life of the data folder.

use super::{Action, Draft};
use crate::drivers::SeenPhase;

pub(super) fn plan(draft: &mut Draft<'_>) {
    let records = draft.world.records;
    for (&target, seen) in &draft.world.observed.targets {
        for (&worker, seen) in seen.workers.iter().flatten() {
            let is_ours = records.workers.get(&worker).is_some_and(|it| it.target == target);
            let fails = draft.world.observed.failures.get(&worker);
            let pauses = fails.is_some_and(|failure| !failure.is_due(draft.now));
            if is_ours || pauses || seen.phase == SeenPhase::Stopping {
                continue;
            }
            let stopped = seen.phase == SeenPhase::Stopped;
            draft.plan.actions.push(Action::Evict { target, worker, stopped });
        }
    }
}
