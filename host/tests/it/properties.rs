//! What holds for the planner whatever happens.

use std::collections::BTreeSet;

use host::{
    capacity::usage,
    clock::Clock as _,
    drivers::SeenPhase,
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
        1 => pool.prop_map(|pool| format!("delete pool {pool}")),
        1 => "x|y".prop_map(|target| format!("target {target} cordoned cpu=2")),
        1 => "x|y".prop_map(|target| format!("target {target} cpu=2")),
        1 => "x|y".prop_map(|target| format!("mute {target}")),
        1 => "x|y".prop_map(|target| format!("refuse {target}")),
        1 => "x|y".prop_map(|target| format!("heal {target}")),
        1 => "x|y".prop_map(|target| format!("stray {target}")),
        2 => Just("shake".to_owned()),
        4 => Just("round".to_owned()),
        3 => Just("tick".to_owned()),
    ]
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
    for line in lines {
        match line.as_str() {
            "shake" => shake(&mut script.world),
            line => drop(script.run(line)),
        }
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
        for pool in world.records.worker_pools.values() {
            prop_assert!(pool.meta.deleting_since.is_none());
            let template = world.records.template(pool);
            let workers = world.records.workers_of(pool.id);
            let current = workers.filter(|it| Some(&it.template) == template.as_ref()).count();
            prop_assert_eq!(current, pool.spec.size as usize);
        }
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

    #[test]
    fn a_hard_limit_is_never_exceeded(lines in prop::collection::vec(line(), 0..40)) {
        let mut script = Script::new();
        run(&mut script, &lines);
        let quota = script.world.records.quota("team").unwrap();
        prop_assert!(usage::of_quota(&script.world.records, quota)["cpu"] <= 1000);
    }
}
