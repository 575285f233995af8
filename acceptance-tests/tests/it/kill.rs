//! `kill -9` of the host, again and again, while clients write and Terraform applies.
//!
//! What must hold after each restart: every acknowledged change is there, no worker runs twice, none
//! is lost, and the log of events has each acknowledged change, in an order that never changes.
//! The random choices begin with a printed seed; `RUNTIMECLOUD_KILL_SEED` sets it.

mod watcher;
mod writer;

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use acceptance_tests::{cli, host::Api, run::until, settings, world::World};
use anyhow::{Context, Result, bail, ensure};
use proto::runtimecloud::v1::{
    self as api, capacity_targets_client::CapacityTargetsClient,
    environments_client::EnvironmentsClient, worker_pools_client::WorkerPoolsClient,
    workers_client::WorkersClient,
};
use tokio::runtime::Runtime;

use self::{watcher::Watcher, writer::Writer};

const WRITERS: u64 = 4;

#[test]
fn a_killed_host_loses_nothing_that_it_acknowledged() -> Result<()> {
    let seed = settings::kill_seed().unwrap_or_else(|| RandomState::new().hash_one("seed"));
    // Straight to the descriptor: shown also when the test passes.
    writeln!(io::stderr(), "RUNTIMECLOUD_KILL_SEED={seed}")?;
    let versions = settings::terraform_versions();
    let version = versions.first().context("no Terraform is asked for")?;
    let world = World::new(&cli::terraform(version)?)?;
    let stop = AtomicBool::new(false);
    let (killed, applied) = thread::scope(|scope| {
        let terraform = scope.spawn(|| apply_until(&world, &stop));
        let killed = kill_and_check(&world, seed);
        stop.store(true, SeqCst);
        (killed, terraform.join())
    });
    let acknowledged =
        killed.with_context(|| format!("RUNTIMECLOUD_KILL_SEED={seed}\n{}", world.host.log()))?;
    let Ok(applied) = applied else { bail!("the thread that applies panicked") };
    let (applied, succeeded) = applied?;
    writeln!(
        io::stderr(),
        "{acknowledged} changes acknowledged; of {applied} applies {succeeded} succeeded"
    )?;
    world.configure(&fleet(1))?;
    world.apply()?;
    world.expect_empty_plan("after all kills")
}

/// Returns how many changes were acknowledged.
fn kill_and_check(world: &World, seed: u64) -> Result<usize> {
    let runtime = Runtime::new()?;
    let api = runtime.block_on(async { world.host.api() })?;
    runtime.block_on(prepare(&api))?;
    let dying = Arc::new(AtomicBool::new(false));
    let watcher = Watcher::start(&runtime, api.clone());
    let mut random = Random(seed);
    let mut writers: Vec<Writer> =
        (0..WRITERS).map(|n| Writer::new(n, api.clone(), Random(random.next()))).collect();
    for round in 0..settings::kills() {
        let writing: Vec<_> = writers
            .drain(..)
            .map(|writer| runtime.spawn(writer.write_until(dying.clone())))
            .collect();
        thread::sleep(Duration::from_millis(random.below(600)));
        expect_single_workers(world)?;
        dying.store(true, SeqCst);
        world.host.kill()?;
        for task in writing {
            writers.push(runtime.block_on(task)??);
        }
        dying.store(false, SeqCst);
        world.host.restart()?;
        for writer in &mut writers {
            runtime.block_on(writer.check()).with_context(|| format!("after kill {round}"))?;
        }
        expect_single_workers(world).with_context(|| format!("after kill {round}"))?;
        if round % 10 == 9 {
            converge(world, &runtime, &api).with_context(|| format!("after kill {round}"))?;
        }
    }
    converge(world, &runtime, &api)?;
    let changes = writers.iter().flat_map(Writer::acknowledged).collect::<BTreeSet<_>>();
    let count = changes.len();
    runtime.block_on(expect_environments(&api, &writers))?;
    runtime.block_on(watcher.expect_all(&api, changes))?;
    Ok(count)
}

/// A place to run, and the environment of the writers' pools.
async fn prepare(api: &Api) -> Result<()> {
    let driver = api::Driver { kind: Some(api::driver::Kind::Process(api::ProcessDriver {})) };
    let target = api::CreateCapacityTargetRequest {
        name: "here".to_owned(),
        spec: Some(api::CapacityTargetSpec { driver: Some(driver), ..Default::default() }),
        ..Default::default()
    };
    CapacityTargetsClient::new(api.clone()).create(target).await?;
    let environment = api::CreateEnvironmentRequest {
        name: writer::ENVIRONMENT.to_owned(),
        spec: Some(api::EnvironmentSpec::default()),
        ..Default::default()
    };
    EnvironmentsClient::new(api.clone()).create(environment).await?;
    Ok(())
}

async fn expect_environments(api: &Api, writers: &[Writer]) -> Result<()> {
    for name in writers.iter().flat_map(Writer::environments) {
        let request = api::GetRequest { key: name.clone() };
        let found = EnvironmentsClient::new(api.clone()).get(request).await;
        found.with_context(|| format!("environment `{name}` was acknowledged and is lost"))?;
    }
    Ok(())
}

/// Each worker's process is one; two are a worker that runs twice.
fn expect_single_workers(world: &World) -> Result<()> {
    for (id, processes) in world.workers() {
        ensure!(processes.len() == 1, "worker `{id}` runs more than once: {processes:?}");
    }
    Ok(())
}

/// Waits until exactly the workers run that the host lists, as many as the pools' sizes.
fn converge(world: &World, runtime: &Runtime, api: &Api) -> Result<()> {
    let mut last = String::new();
    until("the pools to have as many workers as they shall", || {
        let (size, listed) = runtime.block_on(listed(api))?;
        let running: BTreeSet<String> = world.workers().into_keys().collect();
        last = format!("sizes sum up to {size}, listed {listed:?}, running {running:?}");
        Ok((listed.len() == size && listed == running).then_some(()))
    })
    .with_context(|| last.clone())?;
    expect_single_workers(world)
}

/// The sum of all pools' sizes, and the ids of all workers.
async fn listed(api: &Api) -> Result<(usize, BTreeSet<String>)> {
    let request = api::ListRequest::default();
    let pools = WorkerPoolsClient::new(api.clone()).list(request).await?.into_inner().worker_pools;
    let size = pools.iter().filter_map(|pool| Some(pool.spec.as_ref()?.size as usize)).sum();
    let mut ids = BTreeSet::new();
    for pool in pools {
        let parent = pool.metadata.context("a pool has no metadata")?.id;
        let request = api::ListRequest { parent, ..Default::default() };
        let workers = WorkersClient::new(api.clone()).list(request).await?.into_inner().workers;
        ids.extend(workers.into_iter().map(|worker| worker.id));
    }
    Ok((size, ids))
}

/// Applies one size after the other and tells how often, and how often with success. A killed host
/// may fail an apply; the next one mends that.
fn apply_until(world: &World, stop: &AtomicBool) -> Result<(usize, usize)> {
    let (mut applied, mut succeeded) = (0, 0);
    for size in (1..=3).cycle() {
        if stop.load(SeqCst) {
            break;
        }
        world.configure(&fleet(size))?;
        applied += 1;
        succeeded += usize::from(world.try_apply()?.code == Some(0));
    }
    Ok((applied, succeeded))
}

fn fleet(size: u32) -> String {
    format!(
        r#"
resource "runtimecloud_environment" "applied" {{
  name = "applied"
}}

resource "runtimecloud_worker_pool" "applied" {{
  name        = "web"
  environment = runtimecloud_environment.applied.name
  size        = {size}
  worker      = {{ command = ["sleep", "100000"] }}
}}
"#
    )
}

/// Random enough for choices, and the same again for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
