//! How fast the heart plans and the store commits. `cargo bench -p host`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails where its helpers fail")]

#[path = "../tests/sim.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod sim;

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use host::{
    admission::{Command, Create, Declare},
    capacity::quota::QuotaSpec,
    clock::{Clock as _, SystemClock},
    ids::SystemIds,
    planner::{self, World},
    store::{Store as _, Write, sqlite::SqliteStore},
};
use sim::{script::Script, world::CountingIds};

fn main() {
    divan::main();
}

/// A settled world of ten pools with a thousand workers each.
fn large_world() -> Script {
    let mut script = Script::new();
    script.run("target local");
    script.run("environment dev");
    for pool in 0..10 {
        script.run(&format!("pool dev/pool-{pool} size=1000 cpu=100m"));
    }
    script.run("settle");
    script.world.observe();
    script
}

#[divan::bench]
fn plan_of_a_settled_world_of_10k_workers(bencher: Bencher<'_, '_>) {
    let world = large_world().world;
    let seen = World { records: &world.records, observed: &world.observed };
    bencher.bench_local(|| planner::plan(seen, world.clock.now(), &CountingIds::default()));
}

#[divan::bench]
fn plan_that_starts_1k_of_10k_workers(bencher: Bencher<'_, '_>) {
    let mut script = large_world();
    script.run("scale dev/pool-3 2000");
    let world = script.world;
    let seen = World { records: &world.records, observed: &world.observed };
    bencher.bench_local(|| planner::plan(seen, world.clock.now(), &CountingIds::default()));
}

/// Five hundred quotas, an environment of each, and two pools in each of those.
fn many_resources() -> Script {
    let mut script = Script::new();
    script.run("target local");
    for number in 0..500 {
        script.run(&format!("quota quota-{number} cpu=10"));
        script.run(&format!("environment env-{number} quota=quota-{number}"));
        script.run(&format!("pool env-{number}/a size=0 cpu=1"));
        script.run(&format!("pool env-{number}/b size=0 cpu=1"));
    }
    script.run("settle");
    script.world.observe();
    script
}

#[divan::bench]
fn decision_among_2k_resources(bencher: Bencher<'_, '_>) {
    let world = many_resources().world;
    let (key, size) = ("env-7/a".to_owned(), 1);
    let scale = Command::ScalePool { key, size, revision: 0 };
    bencher.bench_local(|| world.records.with(&world.decide(&scale).unwrap().changes));
}

#[divan::bench]
fn round_over_2k_resources(bencher: Bencher<'_, '_>) {
    let mut world = many_resources().world;
    bencher.bench_local(|| world.round());
}

/// Durable commits, each with its event; `CALLERS` at once.
#[divan::bench(consts = [1, 16, 64], sample_count = 20)]
fn store_commits<const CALLERS: u64>(bencher: Bencher<'_, '_>) {
    let dir = tempfile::TempDir::new().unwrap();
    let store = SqliteStore::open(dir.path(), Arc::new(SystemClock), Arc::new(SystemIds)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut number = 0_u64;
    bencher.counter(ItemsCount::new(CALLERS)).bench_local(|| {
        let calls = (0..CALLERS).map(|_| {
            number += 1;
            store.commit(create(number % 50, number))
        });
        let calls: Vec<_> = calls.collect();
        runtime.block_on(futures_util::future::join_all(calls))
    });
}

/// Fifty quotas, declared again and again with another limit.
fn create(name: u64, hard: u64) -> Write {
    let limit = host::capacity::quota::Limit { hard: Some(hard), ..Default::default() };
    let spec = QuotaSpec { limits: [("cpu".to_owned(), limit)].into(), ..QuotaSpec::default() };
    let (name, labels) = (format!("quota-{name}"), [].into());
    let change = if hard <= 50 {
        Declare::Create(Create { parent: String::new(), name, labels, spec })
    } else {
        Declare::Update(host::admission::Update { key: name, labels, spec, revision: 0 })
    };
    Write::of_host(Command::Quota(change))
}
