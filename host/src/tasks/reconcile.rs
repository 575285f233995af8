//! The one loop that brings reality to intent: observe, plan, execute, record.
//!
//! 1. *Observe*: every driver lists its workers.
//! 2. *Plan*: decided and stored in one transaction, with what is new in the observation.
//! 3. *Execute*: driver calls, in parallel.
//! 4. *Record*: what became of them, in one transaction.
//!
//! Killed anywhere, the next round finds by 1 what is missing. A round with nothing to say stores
//! nothing and tells nobody.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt, future};
use tokio_util::sync::CancellationToken;

use crate::{
    admission::{self, Answer, Command, Context},
    board::Board,
    capacity::target::CapacityTarget,
    causes::with_causes,
    clock::Clock,
    drivers::SeenPhase,
    executor::{self, Outcome},
    ids::{CapacityTargetId, SystemIds, WorkerId},
    observed::{Observed, ObservedTarget},
    places::Places,
    planner::{Action, Plan, PlanReport, Receipts},
    records::Records,
    store::{CommitError, Store, Write},
    violations::Violations,
};

pub struct Reconciler {
    pub store: Arc<dyn Store>,
    pub places: Arc<Places>,
    pub board: Arc<Board>,
    pub clock: Arc<dyn Clock>,
}

/// The pause after a round that changed something; it doubles with each that did not.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// The longest pause while workers are on their way.
const PAUSE_MAX_UNSETTLED: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Something was decided, done or seen for the first time.
    Changed,
    /// There is nothing to do for the records of this version.
    Settled {
        version: u64,
    },
    Failed,
}

impl Reconciler {
    /// Goes on until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut version = self.store.version();
        let mut last: Option<(u64, Arc<Observed>)> = None;
        let mut pause = PAUSE_MIN;
        while !stop.is_cancelled() {
            let round = match AssertUnwindSafe(self.round(&mut last)).catch_unwind().await {
                Ok(Ok(round)) => round,
                Ok(Err(error)) => {
                    let error = with_causes(&error);
                    tracing::error!(error, "a round failed and is tried again");
                    Round::Failed
                }
                Err(_) => {
                    tracing::error!("a round ended in a panic and is tried again");
                    Round::Failed
                }
            };
            let longest =
                if is_settled(&self.board.observed()) { PAUSE_MAX } else { PAUSE_MAX_UNSETTLED };
            pause = match round {
                Round::Changed => PAUSE_MIN,
                Round::Settled { .. } | Round::Failed => (pause * 2).min(longest),
            };
            // A change that came in during the round wakes the next at once, unless this one changed
            // something itself: then the versions can not be told apart, and the pause is short.
            let known = match round {
                Round::Settled { version } => version,
                Round::Changed | Round::Failed => *version.borrow(),
            };
            tokio::select! {
                () = stop.cancelled() => {}
                _ = version.wait_for(|version| *version != known) => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Looks at every target and hangs up what it sees.
    pub async fn observe(&self) -> Arc<Observed> {
        let records = self.store.records();
        self.places.retain(&records);
        let targets = records.capacity_targets.values().map(|target| self.look(target));
        let targets: BTreeMap<_, _> = future::join_all(targets).await.into_iter().collect();
        let before = self.board.observed();
        let (failures, waiting) = (before.failures.clone(), before.waiting.clone());
        let mut observed = Observed { targets, failures, waiting };
        observed.drop_old(&records, self.clock.now());
        let observed = Arc::new(observed);
        self.board.hang(Arc::clone(&observed));
        observed
    }

    async fn look(&self, target: &CapacityTarget) -> (CapacityTargetId, ObservedTarget) {
        let (workers, conditions) = match self.places.driver(target) {
            Ok(driver) => (driver.list().await, driver.conditions()),
            Err(error) => (Err(error), Vec::new()),
        };
        let workers = workers.map_err(|error| with_causes(&error));
        let workers = workers.map(|all| all.into_iter().map(|seen| (seen.id, seen)).collect());
        (target.id, ObservedTarget { observed_at: self.clock.now(), workers, conditions })
    }

    async fn round(&self, last: &mut Option<(u64, Arc<Observed>)>) -> Result<Round, CommitError> {
        let observed = self.observe().await;
        let records = self.store.records();
        let now = self.clock.now();
        let is_same = last
            .as_ref()
            .is_some_and(|(version, before)| *version == records.version && **before == *observed);
        let is_over = records.operations_under_way().any(|operation| operation.expires_at <= now);
        let is_due = is_over || observed.failures.values().any(|failure| failure.is_due(now));
        let settled = Round::Settled { version: records.version };
        if is_same && !is_due {
            return Ok(settled);
        }
        if !self.has_work(&records, &observed) {
            *last = Some((records.version, observed));
            return Ok(settled);
        }
        let plan = Write::of_host(Command::Plan(observed));
        let Answer::Planned(planned) = self.store.commit(plan).await? else { return Ok(settled) };
        let (plan, report) = *planned;
        let outcome = executor::execute(&plan, &self.store.records(), &self.places).await;
        let receipts = self.take_in(&plan, outcome, report);
        if !receipts.is_empty() {
            self.store.commit(Write::of_host(Command::Receipts(receipts))).await?;
        }
        *last = None;
        Ok(Round::Changed)
    }

    /// Whether planning would decide, tell or wait for anything new.
    fn has_work(&self, records: &Records, observed: &Arc<Observed>) -> bool {
        let cx = Context { records, now: self.clock.now(), ids: &SystemIds };
        let command = Command::Plan(Arc::clone(observed));
        match admission::decide(&cx, &command, Violations::default()) {
            Ok(decision) => match &decision.answer {
                Answer::Planned(planned) => {
                    !decision.is_empty()
                        || !planned.0.actions.is_empty()
                        || planned.1.waiting != observed.waiting
                }
                _ => false,
            },
            Err(_) => false,
        }
    }

    /// Keeps failures and waits in mind for the next rounds.
    fn take_in(&self, plan: &Plan, outcome: Outcome, report: PlanReport) -> Receipts {
        let mut observed = Observed::clone(&self.board.observed());
        let now = self.clock.now();
        let Outcome { started, forgotten, stopped, failed } = outcome;
        let is_lost = |worker: &WorkerId| {
            let on_targets = observed.targets.values().flat_map(|it| it.workers.iter().flatten());
            let mut seen = on_targets.filter(|(id, _)| *id == worker);
            seen.any(|(_, seen)| seen.phase == SeenPhase::Lost)
        };
        let (lost, stopped): (Vec<_>, Vec<_>) = stopped.into_iter().partition(is_lost);
        for worker in forgotten.iter().chain(&stopped) {
            observed.failures.remove(worker);
        }
        let ensured = plan.actions.iter().filter_map(|action| match action {
            Action::Ensure(worker) if started.contains(&worker.id) => Some(worker.id),
            _ => None,
        });
        for worker in ensured.chain(lost) {
            observed.relaunched(worker, now);
        }
        let mut news = BTreeMap::new();
        for (worker, message) in failed {
            if observed.failed(worker, message.clone(), now) {
                tracing::warn!(%worker, message, "an action on a worker failed");
                news.insert(worker, message);
            }
        }
        observed.waiting = report.waiting;
        self.board.hang(Arc::new(observed));
        Receipts { plan: plan.id, started, forgotten, failed: news }
    }
}

/// No worker is on its way up or down.
fn is_settled(observed: &Observed) -> bool {
    observed.targets.values().flat_map(|target| target.workers.iter().flatten()).all(|(_, seen)| {
        match seen.phase {
            SeenPhase::Running => seen.ready,
            SeenPhase::Backoff => true,
            SeenPhase::Starting | SeenPhase::Stopping | SeenPhase::Stopped | SeenPhase::Lost => {
                false
            }
        }
    })
}
