//! Waiting until a pool's workers are ready and of its present generation, and telling why they
//! are not.
//!
//! What no waiting can heal (a command that does not exist) is told at once; anything else until
//! time is up.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use proto::runtimecloud::v1::{self as api, ConditionStatus, WorkerPhase};

use crate::{
    client::{CallError, Client, Noun as _, noun::key},
    framework::{Context, Diagnostics, Path, Reported, Value},
    resources::managed::{
        Settled,
        lifecycle::{GaveUp, TAINTED, pause},
    },
};

/// Reasons of a worker that stay until someone changes the pool or the machine, and after how many
/// starts that is certain.
const HOPELESS: &[(&str, u32)] =
    &[("CannotStart", 2), ("CommandNotFound", 0), ("WorkingFolderMissing", 0)];
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// Reasons told at most; more do not help.
const TOLD_MAX: usize = 5;

/// `prior` is what was before (null: nothing). A creation that is interrupted ends well, with a
/// warning: the pool is as it was asked for, and a failure would make Terraform replace it.
pub(super) async fn wait_until_ready(
    context: &Context<Client>,
    asked: &api::WorkerPool,
    prior: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<Settled, Reported> {
    let client = context.client(diagnostics)?;
    let metadata = asked.metadata();
    let mut pool = asked.clone();
    let mut delay = FIRST_LOOK;
    let mut silence = "";
    loop {
        match client.get::<api::WorkerPool>(&metadata.id, context).await {
            Ok(now) => (pool, silence) = (now, ""),
            // What was seen last holds.
            Err(error) if error.ended_early() => {
                if error.is_silence() {
                    silence = " The host did not answer at the end; this was seen last.";
                }
            }
            Err(error) => return Err(lost_sight(&pool, (prior, &error), diagnostics)),
        }
        if is_ready(&pool, metadata.generation) {
            return Ok(Settled::Awaited);
        }
        let is_stuck = is_stuck(&pool, metadata.generation);
        let gave_up = pause(context, &mut delay).await;
        if !is_stuck && gave_up.is_none() {
            continue;
        }
        // Without the workers' own reasons when they can not be had: the pool's still stand.
        let workers = client.workers_at_last(&metadata.id, context).await.unwrap_or_default();
        let hopeless = workers.iter().any(|worker| is_hopeless(worker, metadata.generation));
        let (summary, cause) = match gave_up {
            Some(gave_up) => gave_up.words("Waiting for ready workers"),
            None if hopeless => ("Workers can not start".to_owned(), "waiting would not help"),
            None => continue,
        };
        let key = key(&pool.environment, &metadata.name);
        let how = format!(
            "The worker pool `{key}` is not ready; {cause}.{silence}\n\n{}\n\nIt is in the state as it \
             is.",
            why_not_ready(&pool, &workers)
        );
        if gave_up == Some(GaveUp::Interrupted) && prior.is_null() && is_as_asked(&pool, asked) {
            diagnostics.warning(
                Path::root(),
                summary,
                format!("{how} The next apply waits again."),
            );
            return Ok(Settled::GivenUp);
        }
        let tainted = if prior.is_null() { TAINTED } else { " The next apply waits again." };
        let detail = format!("{how} {}{tainted}", next_step(&pool));
        let path = if hopeless { Path::attributes(["worker", "command"]) } else { Path::root() };
        return Err(diagnostics.error(path, summary, detail));
    }
}

/// The host does not tell any more how it stands: why, what was waited for, and what was seen last.
fn lost_sight(
    pool: &api::WorkerPool,
    (prior, error): (&Value, &CallError),
    diagnostics: &mut Diagnostics,
) -> Reported {
    let (problem, _) = error.problems();
    let key = key(&pool.environment, &pool.metadata().name);
    let tainted = if prior.is_null() { TAINTED } else { " The next apply waits again." };
    let detail = format!(
        "{}\n\nThis happened while waiting until all workers of the worker pool `{key}` are ready. \
         Seen last:\n\n{}\n\nThe pool is in the state as it is.{tainted}",
        problem.detail,
        why_not_ready(pool, &[])
    );
    diagnostics.error(Path::root(), problem.summary, detail)
}

/// Whether nobody has changed or deleted what was asked for.
fn is_as_asked(pool: &api::WorkerPool, asked: &api::WorkerPool) -> bool {
    let (now, then) = (pool.metadata(), asked.metadata());
    now.generation == then.generation && now.deleting_since.is_none()
}

fn condition<'a>(pool: &'a api::WorkerPool, name: &str) -> Option<&'a api::Condition> {
    pool.observed.as_ref()?.conditions.iter().find(|condition| condition.r#type == name)
}

fn holds(pool: &api::WorkerPool, name: &str, status: ConditionStatus, generation: u64) -> bool {
    condition(pool, name).is_some_and(|condition| {
        condition.status() == status && condition.observed_generation >= generation
    })
}

fn is_ready(pool: &api::WorkerPool, generation: u64) -> bool {
    holds(pool, "Ready", ConditionStatus::True, generation)
}

fn is_stuck(pool: &api::WorkerPool, generation: u64) -> bool {
    holds(pool, "Progressing", ConditionStatus::False, generation)
}

fn is_hopeless(worker: &api::Worker, generation: u64) -> bool {
    worker.pool_generation >= generation
        && !worker.ready
        && worker.phase() == WorkerPhase::Backoff
        && HOPELESS
            .iter()
            .any(|(reason, restarts)| worker.reason == *reason && worker.restarts >= *restarts)
}

/// The pool's own words, then its workers': those that say the same told once, with one's id.
fn why_not_ready(pool: &api::WorkerPool, workers: &[api::Worker]) -> String {
    let observed = pool.observed.clone().unwrap_or_default();
    let size = pool.spec().size;
    let mut text = format!("Ready: {} of {size} workers.", observed.current_workers);
    if let Some(ready) = condition(pool, "Ready") {
        let _ = write!(text, "\n{}: {}", ready.reason, ready.message);
    }
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for worker in workers.iter().filter(|worker| !worker.ready) {
        reasons.entry(said(worker)).or_default().push(&worker.id);
    }
    for (reason, ids) in reasons.iter().take(TOLD_MAX) {
        let _ = write!(text, "\n  {} × {reason} ({})", ids.len(), ids[0]);
    }
    if reasons.len() > TOLD_MAX {
        let _ = write!(text, "\n  and {} other reasons", reasons.len() - TOLD_MAX);
    }
    text
}

fn next_step(pool: &api::WorkerPool) -> &'static str {
    match condition(pool, "Ready").map(|ready| ready.reason.as_str()) {
        Some("NoTarget") => {
            "Declare a capacity target whose labels match the environment's `target_selector`, \
             mend the selector, or open a target that is cordoned, and apply again."
        }
        Some("NoCapacity") => {
            "Give a matching capacity target more `capacity`, declare another one, or ask for \
             less, and apply again."
        }
        _ => {
            "Mend what its workers run and apply again; `runtimecloud logs WORKER` shows what one \
             printed."
        }
    }
}

/// A worker's phase in one lower-case word.
pub(crate) fn phase(worker: &api::Worker) -> String {
    worker.phase().as_str_name().trim_start_matches("WORKER_PHASE_").to_lowercase()
}

fn said(worker: &api::Worker) -> String {
    let mut said = phase(worker);
    for part in [&worker.reason, &worker.message] {
        if !part.is_empty() {
            said.push_str(": ");
            said.push_str(part);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(phase: WorkerPhase, reason: &str, message: &str) -> api::Worker {
        api::Worker {
            id: format!("worker_{reason}"),
            phase: phase.into(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            ..api::Worker::default()
        }
    }

    fn pool(ready: ConditionStatus, observed_generation: u64) -> api::WorkerPool {
        let condition = api::Condition {
            r#type: "Ready".to_owned(),
            status: ready.into(),
            reason: "CommandNotFound".to_owned(),
            message: "1 of 3 workers are ready".to_owned(),
            observed_generation,
            ..api::Condition::default()
        };
        api::WorkerPool {
            spec: Some(api::WorkerPoolSpec { size: 3, ..Default::default() }),
            observed: Some(api::WorkerPoolObserved {
                conditions: vec![condition],
                current_workers: 1,
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn only_what_was_said_of_the_generation_asked_for_counts() {
        assert!(is_ready(&pool(ConditionStatus::True, 2), 2));
        assert!(!is_ready(&pool(ConditionStatus::True, 1), 2));
        assert!(!is_ready(&pool(ConditionStatus::False, 2), 2));
        assert!(!is_ready(&api::WorkerPool::default(), 0));
    }

    #[test]
    fn reasons_of_workers_are_told_once_with_their_count() {
        let workers = [
            worker(WorkerPhase::Backoff, "CommandNotFound", "`nope` is not there"),
            worker(WorkerPhase::Running, "ReadinessFailing", "GET / answered 500"),
            worker(WorkerPhase::Backoff, "CommandNotFound", "`nope` is not there"),
            api::Worker { ready: true, ..worker(WorkerPhase::Running, "", "") },
        ];
        assert_eq!(
            why_not_ready(&pool(ConditionStatus::False, 1), &workers),
            "Ready: 1 of 3 workers.\n\
             CommandNotFound: 1 of 3 workers are ready\
             \n  2 × backoff: CommandNotFound: `nope` is not there (worker_CommandNotFound)\
             \n  1 × running: ReadinessFailing: GET / answered 500 (worker_ReadinessFailing)"
        );
    }

    #[test]
    fn the_next_step_is_about_the_workers_only_where_there_are_some() {
        for (reason, step) in
            [("NoTarget", "target_selector"), ("NoCapacity", "`capacity`"), ("Exited", "logs")]
        {
            let mut pool = pool(ConditionStatus::False, 1);
            let mut observed = pool.observed.unwrap_or_default();
            observed.conditions[0].reason = reason.to_owned();
            pool.observed = Some(observed);
            assert!(next_step(&pool).contains(step), "{reason}");
        }
    }

    #[test]
    fn only_workers_that_can_not_start_end_the_waiting() {
        for (phase, reason, generation, hopeless) in [
            (WorkerPhase::Backoff, "CommandNotFound", 0, true),
            (WorkerPhase::Backoff, "CommandNotFound", 1, false),
            (WorkerPhase::Backoff, "Exited", 0, false),
            (WorkerPhase::Running, "CommandNotFound", 0, false),
        ] {
            let found = is_hopeless(&worker(phase, reason, ""), generation);
            assert_eq!(found, hopeless, "{phase:?} {reason} {generation}");
        }
    }
}
