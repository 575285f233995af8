//! Random configurations of every type of resources, played against a real host by the simulator.
//!
//! Ten are under way at a time in one provider process, as many as Terraform has. Each case has a seed
//! of its own: a failing one is shrunk and named, and `RUNTIMECLOUD_SEED` begins with it.
//! `RUNTIMECLOUD_CONFIGURATIONS` says how many are tried of each type.

mod hostile;
mod life;

use std::{
    hash::{BuildHasher, RandomState},
    io::{self, Write as _},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use acceptance_tests::{
    settings,
    simulator::{
        Resource, Simulator,
        known::{KNOWN, Known},
    },
};
use anyhow::{Error, Result, anyhow};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use provider::{framework::Value, resources::RESOURCES};

use crate::ground::Ground;

/// As many as Terraform has under way.
const AT_A_TIME: usize = 10;
const SHRINKINGS_MAX: u32 = 300;

#[test]
fn every_type_of_resources_is_tried() {
    let types: Vec<&str> = RESOURCES.iter().map(|resource| resource.type_name()).collect();
    let known: Vec<&str> = KNOWN.iter().map(|row| row.type_name).collect();
    assert_eq!(known, types, "KNOWN in the simulator's `known.rs` needs a row for each type");
}

#[test]
fn every_life_of_every_resource_keeps_terraforms_rules() -> Result<()> {
    for_each_type(life::strategy, life::live)
}

#[test]
fn no_hostile_configuration_comes_past_validation_and_plan_to_fail() -> Result<()> {
    for_each_type(hostile::strategy, hostile::defy)
}

/// One try of one configuration; a failing one is tried again and again, simplified.
struct Case<'a> {
    simulator: &'a Simulator,
    resource: Resource<'a>,
    known: &'static Known,
    /// Which no other try has.
    number: u64,
}

impl Case<'_> {
    /// The configuration under a name that no other case has.
    fn named(&self, config: &Value) -> Value {
        let mut config = config.clone();
        if let Some(name) = config.get("name").as_str() {
            config.set_attribute("name", format!("{name}-{}", self.number));
        }
        config
    }
}

type Strategy<T> = fn(&Resource<'_>, &'static Known) -> BoxedStrategy<T>;

fn for_each_type<T: std::fmt::Debug>(
    strategy: Strategy<T>,
    check: impl AsyncFn(&Case<'_>, &T) -> Result<()> + Sync,
) -> Result<()> {
    let seed = settings::seed().unwrap_or_else(|| RandomState::new().hash_one("seed") >> 16);
    let ground = Ground::new()?;
    for known in KNOWN {
        let count = settings::configurations();
        // Straight to the descriptor: shown also when the test passes.
        writeln!(io::stderr(), "RUNTIMECLOUD_SEED={seed}: {count} of {}", known.type_name)?;
        Cases { ground: &ground, known, strategy, check: &check }.run(seed, count)?;
    }
    ground.close()
}

/// All cases of a type.
struct Cases<'a, T, C> {
    ground: &'a Ground,
    known: &'static Known,
    strategy: Strategy<T>,
    check: &'a C,
}

impl<T: std::fmt::Debug, C: AsyncFn(&Case<'_>, &T) -> Result<()> + Sync> Cases<'_, T, C> {
    fn run(&self, seed: u64, count: u64) -> Result<()> {
        let next = AtomicU64::new(0);
        let tries = AtomicU64::new(0);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    let worked = self.work((seed, count), &next, &tries);
                    if let Err(error) = worked {
                        next.store(count, Relaxed);
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                });
            }
        });
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |error: Error| Err(error.context(self.ground.host.log())))
    }

    /// Takes one case after the other, until there is none.
    fn work(&self, (seed, count): (u64, u64), next: &AtomicU64, tries: &AtomicU64) -> Result<()> {
        let strategy =
            (self.strategy)(&self.ground.simulators[0].resource(self.known.type_name)?, self.known);
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= count {
                return Ok(());
            }
            let seed = seed.wrapping_add(at);
            let tried = runner(seed).run(&strategy, |input| {
                let number = tries.fetch_add(1, Relaxed);
                let simulator = self.ground.simulator(seed);
                let failed = |error: Error| TestCaseError::fail(format!("{error:#}"));
                let resource = simulator.resource(self.known.type_name).map_err(failed)?;
                let case = Case { simulator, resource, known: self.known, number };
                self.ground.runtime.block_on((self.check)(&case, &input)).map_err(failed)
            });
            tried.map_err(|error| {
                anyhow!(
                    "{error}\nagain: RUNTIMECLOUD_SEED={seed} RUNTIMECLOUD_CONFIGURATIONS=1, {}",
                    self.known.type_name
                )
            })?;
        }
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: SHRINKINGS_MAX,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}
