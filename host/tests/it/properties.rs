//! What holds for the planner whatever happens.

use std::{cmp::Reverse, collections::BTreeSet};

use host::{
    capacity::{recount::recount, room},
    clock::Clock as _,
    drivers::SeenPhase,
    events::Event,
    leases::{
        line::{self, Standing},
        model::CapacityLease,
    },
    operations::model::OperationState,
    planner::{self, World as Seen},
};
use proptest::prelude::*;

use crate::sim::{
    script::Script,
    world::{CountingIds, World},
};

/// A line of a scenario. Names are few, so that lines meet.
fn line() -> impl Strategy<Value = String> {
    let pool = prop_oneof!["dev/a", "dev/b", "test/a"];
    let pools =
        (pool.clone(), 0..6_u32, "one|two", 1..3_u32).prop_map(|(pool, size, command, missing)| {
            format!("pool {pool} size={size} command={command} max_unavailable={missing} cpu=100m")
        });
    prop_oneof![
        4 => pools,
        2 => (pool.clone(), 0..6_u32).prop_map(|(pool, size)| format!("scale {pool} {size}")),
        1 => pool.clone().prop_map(|pool| format!("delete pool {pool}")),
        3 => (pool, "drain|restart|replace", 1..3_u32)
            .prop_map(|(pool, verb, parallel)| format!("{verb} {pool} parallel={parallel}")),
        1 => "x|y".prop_map(|target| format!("target {target} cordoned cpu=2")),
        1 => "x|y".prop_map(|target| format!("target {target} cpu=2")),
        1 => "x|y".prop_map(|target| format!("mute {target}")),
        1 => "x|y".prop_map(|target| format!("refuse {target}")),
        1 => "x|y".prop_map(|target| format!("heal {target}")),
        1 => "x|y".prop_map(|target| format!("stray {target}")),
        4 => leases(),
        1 => "dev/p|dev/q|dev/r|test/p".prop_map(|lease| format!("delete lease {lease}")),
        1 => "dev/p|dev/q|dev/r|test/p".prop_map(|lease| format!("renew {lease} 0")),
        2 => (1..30_u32).prop_map(|seconds| format!("pass {seconds}")),
        1 => (1..6_u32).prop_map(|cpu| format!("quota team cpu={cpu}00m")),
        2 => Just("shake".to_owned()),
        4 => Just("round".to_owned()),
        3 => Just("tick".to_owned()),
    ]
}

fn leases() -> impl Strategy<Value = String> {
    let lease = prop_oneof!["dev/p", "dev/q", "dev/r", "test/p"];
    (lease, 1..8_u32, 0..3_u32, 0..20_u32, 0..40_u32).prop_map(
        |(lease, cpu, priority, ttl, wait)| {
            let ttl = if ttl == 0 { String::new() } else { format!("ttl={ttl}") };
            format!("lease {lease} cpu={cpu}00m priority={priority} wait={wait} {ttl}")
        },
    )
}

/// Something bad happens to the first worker that runs.
fn shake(world: &mut World) {
    let running = world.running().find(|seen| seen.phase == SeenPhase::Running);
    if let Some(id) = running.map(|seen| seen.id) {
        let seen = world.seen_mut(id);
        seen.phase = SeenPhase::Lost;
        seen.ready = false;
    }
}

fn run(script: &mut Script, lines: &[String]) {
    for line in [
        "target x cpu=2",
        "target y cpu=2",
        "quota team cpu=1",
        "environment dev quota=team",
        "environment test",
    ] {
        script.run(line);
    }
    lines.iter().for_each(|line| run_line(script, line));
}

fn run_line(script: &mut Script, line: &str) {
    match line {
        "shake" => shake(&mut script.world),
        line => drop(script.run(line)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_the_world_settles_as_asked(lines in prop::collection::vec(line(), 0..40)) {
        let mut script = Script::new();
        run(&mut script, &lines);
        for line in ["heal x", "heal y", "target x cpu=2", "target y cpu=2"] {
            script.run(line);
        }
        let world = &mut script.world;
        world.settle();
        let (plan, report) = world.plan();
        prop_assert_eq!(plan.actions, vec![]);
        prop_assert_eq!(report.waiting.len(), 0);
        let rows: BTreeSet<_> = world.records.workers.keys().copied().collect();
        let running: BTreeSet<_> = world.running().map(|seen| seen.id).collect();
        prop_assert_eq!(rows, running, "drivers have just what was decided");
        prop_assert!(world.running().all(|seen| seen.ready));
        prop_assert_eq!(world.records.operations_under_way().count(), 0);
        for it in world.records.operations.values() {
            prop_assert_eq!(it.done + it.failed + it.skipped, it.total, "{:?}", it);
        }
        prop_assert!(world.records.workers.values().all(|worker| worker.task.is_none()));
        for pool in world.records.worker_pools.values() {
            prop_assert!(pool.meta.deleting_since.is_none());
            let template = world.records.template(pool);
            let workers = world.records.workers_of(pool.id);
            let current = workers.filter(|it| Some(&it.template) == template.as_ref()).count();
            prop_assert_eq!(current, pool.spec.size as usize);
        }
    }

    #[test]
    fn an_operation_keeps_as_many_workers_ready_as_it_was_told(
        verb in "drain|restart|replace", size in 1..6_u32, parallel in 1..4_u32, least in 0..5_u32,
    ) {
        let least = least.min(size - 1);
        let mut script = Script::new();
        for line in [
            "target x".to_owned(),
            "environment dev".to_owned(),
            format!("pool dev/a size={size}"),
            "settle".to_owned(),
            format!("{verb} dev/a parallel={parallel} min_ready={least}"),
        ] {
            script.run(&line);
        }
        let world = &mut script.world;
        let before: Vec<_> = world.records.workers.keys().copied().collect();
        let floor = size.saturating_sub(parallel).max(least) as usize;
        for _ in 0..200 {
            let (_, _unread) = world.round();
            let ready = world.running().filter(|seen| seen.ready).count();
            prop_assert!(ready >= floor, "{ready} are ready, not {floor}");
            world.tick();
        }
        let operation = world.records.operations.values().next().unwrap();
        prop_assert_eq!(operation.state(), OperationState::Done);
        prop_assert_eq!(operation.done, size);
        let after: Vec<_> = world.records.workers.keys().copied().collect();
        prop_assert_eq!(after == before, verb == "restart");
        prop_assert!(verb != "restart" || world.running().all(|seen| seen.restart == 1));
        prop_assert_eq!(after.len(), size as usize);
    }

    #[test]
    fn the_same_world_gives_the_same_plan(lines in prop::collection::vec(line(), 0..30)) {
        let mut script = Script::new();
        run(&mut script, &lines);
        let world = &mut script.world;
        world.observe();
        let seen = Seen { records: &world.records, observed: &world.observed };
        let now = world.clock.now();
        let first = planner::plan(seen, now, &CountingIds::default());
        prop_assert_eq!(planner::plan(seen, now, &CountingIds::default()), first);
    }

    /// What is used may be above a limit that was lowered, but never grows beyond one.
    #[test]
    fn a_hard_limit_is_never_exceeded(lines in prop::collection::vec(line(), 0..40)) {
        let mut script = Script::new();
        run(&mut script, &[]);
        let (mut used, mut limit) = (0, 0);
        for line in &lines {
            run_line(&mut script, line);
            let quota = script.world.records.quota("team").unwrap();
            let now = room::used(&script.world.records.ledger, "team")["cpu"];
            limit = quota.spec.limits["cpu"].hard.unwrap().max(limit.min(used));
            prop_assert!(now <= limit.max(used), "{}: {} of {}, {} before", line, now, limit, used);
            used = now;
        }
    }

    #[test]
    fn leases_keep_their_promises(lines in prop::collection::vec(line(), 0..60)) {
        let mut script = Script::new();
        run(&mut script, &[]);
        let mut last_token = 0;
        for line in &lines {
            let told = script.world.events.len();
            run_line(&mut script, line);
            let records = &script.world.records;
            // Tokens grow with each grant, and are never given twice.
            for (_, event) in &script.world.events[told..] {
                if let Event::CapacityLeaseGranted(granted) = event {
                    prop_assert!(granted.fencing_token > last_token);
                    last_token = granted.fencing_token;
                }
            }
            // What is counted is what is there.
            prop_assert_eq!(recount(records).differences, vec![]);
            // Nobody waits who could be granted, nor longer than allowed, nor behind a later one.
            let line: Vec<_> = records.capacity_leases.in_line().collect();
            for lease in &line {
                prop_assert_ne!(line::standing(records, lease), Standing::Next);
            }
            let key = |lease: &CapacityLease| (Reverse(lease.spec.priority), lease.id);
            prop_assert!(line.is_sorted_by_key(|lease| key(lease)), "{:?}", line);
        }
        script.run("pass 1000");
        prop_assert!(script.world.records.capacity_leases.line_is_empty());
    }
}
