//! What single calls do that no life of a resource comes to: hosts that are gone, interruptions, and
//! calls that Terraform makes side by side.

use acceptance_tests::simulator::{Outcome, Resource, Stored, block};
use anyhow::{Context, Result, ensure};
use proto::{
    runtimecloud::v1::{self as api, worker_pools_client::WorkerPoolsClient},
    tfplugin6 as pb,
};
use provider::{
    framework::{Type, Value},
    resources::RESOURCES,
};

use crate::ground::Ground;

async fn created(resource: &Resource<'_>, given: &[(&str, Value)]) -> Result<Outcome<Stored>> {
    let config = resource.config(given);
    let planned = resource.plan(&Stored::default(), &config).await?.done()?;
    resource.apply(&planned, &config).await
}

#[test]
fn a_reading_that_fails_keeps_the_state() -> Result<()> {
    let ground = Ground::new()?;
    let quota = ground.simulators[1].resource("runtimecloud_quota")?;
    let limits = Value::map([("cpu", Value::object([("hard", Value::from("1"))]))]);
    let given = [("name", Value::from("kept")), ("limits", limits)];
    let stored = ground.runtime.block_on(created(&quota, &given))?.done()?;
    ground.host.kill()?;
    // That the state of the answer is the one before, the simulator checks.
    let refusal = ground.runtime.block_on(quota.refresh(&stored))?.refused()?;
    ensure!(refusal.left.as_ref() == Some(&stored), "{refusal:?}");
    ground.host.restart()?;
    let read = ground.runtime.block_on(quota.refresh(&stored))?.done()?;
    ensure!(read == stored, "{read:?}");
    ground.close()
}

#[test]
fn an_interrupt_ends_the_waiting_and_the_provider_serves_on() -> Result<()> {
    let ground = Ground::new()?;
    let simulator = &ground.simulators[1];
    let pool = simulator.resource("runtimecloud_worker_pool")?;
    let worker = Value::object([
        ("command", Value::list(["sleep", "100000"])),
        ("ports", Value::set(["http"])),
    ]);
    let readiness = Value::object([("tcp", Value::object([("port", Value::from("http"))]))]);
    let given = [
        ("name", Value::from("never-ready")),
        ("environment", "dev".into()),
        ("size", 1_u32.into()),
        ("worker", worker),
        ("readiness", readiness),
    ];
    let stored = ground.runtime.block_on(async {
        let host = ground.host.api()?;
        let interrupted = async {
            let is_there = async || {
                let mut pools = WorkerPoolsClient::new(host.clone());
                let listed = pools.list(api::ListRequest::default()).await?.into_inner();
                anyhow::Ok(!listed.worker_pools.is_empty())
            };
            while !is_there().await? {
                tokio::task::yield_now().await;
            }
            let request = pb::stop_provider::Request {};
            anyhow::Ok(simulator.client().stop_provider(request).await?)
        };
        let (created, interrupted) = tokio::join!(created(&pool, &given), interrupted);
        interrupted?;
        // As it was asked for, only not ready: what is stored is the pool, or what is left of a failure.
        match created? {
            Outcome::Done(stored) => Ok(stored),
            Outcome::Refused(refusal) => refusal.left.context("nothing is stored"),
        }
    })?;
    let read = ground.runtime.block_on(pool.refresh(&stored))?.done()?;
    ensure!(read.state.get("id") == stored.state.get("id"), "{read:?}");
    ground.runtime.block_on(async {
        let planned = pool.plan(&read, &Value::Null).await?.done()?;
        pool.apply(&planned, &Value::Null).await?.done()
    })?;
    ground.close()
}

#[test]
fn configuring_again_disturbs_no_call_under_way() -> Result<()> {
    let ground = Ground::new()?;
    let simulator = &ground.simulators[1];
    let block = block(&ground.host, &[])?;
    ground.runtime.block_on(async {
        let configured = async {
            for _ in 0..50 {
                simulator.configure(&block).await?;
            }
            anyhow::Ok(())
        };
        let worked = async {
            let environment = simulator.resource("runtimecloud_environment")?;
            for number in 0..20 {
                let name = format!("busy-{number}");
                let stored = created(&environment, &[("name", name.into())]).await?.done()?;
                let read = environment.refresh(&stored).await?.done()?;
                ensure!(read == stored, "{read:?}");
            }
            Ok(())
        };
        let (configured, worked) = tokio::join!(configured, worked);
        configured.and(worked)
    })?;
    ground.close()
}

#[test]
fn no_type_takes_over_what_it_does_not_know() -> Result<()> {
    let ground = Ground::new()?;
    for resource in RESOURCES {
        let resource = ground.simulators[1].resource(resource.type_name())?;
        let moved = resource.move_from("registry.terraform.io/example/notes", "notes_note", "{}");
        let refusal = ground.runtime.block_on(moved)?.refused()?;
        let said = &refusal.diagnostics[0].detail;
        ensure!(said.contains("import block"), "no way out is told: {said}");
    }
    ground.close()
}

#[test]
fn functions_are_called_without_a_host() -> Result<()> {
    let ground = Ground::new()?;
    ground.host.kill()?;
    let call = |name, arguments: &[Value]| {
        ground.runtime.block_on(ground.simulators[0].call(name, arguments))
    };
    let shape = || Value::map([("cpu", "500m")]);
    let limits = Value::map([("cpu", "2")]);
    let limits = || Value::Dynamic(Type::map(Type::String), Box::new(limits.clone()));
    for (size, fits) in [(4_u32, true), (5, false)] {
        let result = call("fits", &[shape(), size.into(), limits()])?;
        ensure!(result == Ok(fits.into()), "{size}: {result:?}");
    }
    let unknown = call("fits", &[shape(), Value::UNKNOWN, limits()])?;
    ensure!(unknown == Ok(Value::UNKNOWN), "{unknown:?}");
    let wrong = call("fits", &[Value::map([("cpu", "much")]), 1_u32.into(), limits()])?;
    ensure!(wrong.as_ref().is_err_and(|error| error.argument == Some(0)), "{wrong:?}");
    ground.close()
}

#[test]
fn what_can_not_be_imported_is_told_with_what_can() -> Result<()> {
    let ground = Ground::new()?;
    for resource in RESOURCES {
        let resource = ground.simulators[1].resource(resource.type_name())?;
        for nonsense in ["", "A b", "x/y/z", "\0"] {
            let refusal = ground.runtime.block_on(resource.import(nonsense))?.refused()?;
            let said = &refusal.diagnostics[0].detail;
            ensure!(said.contains("terraform import"), "no form is told for {nonsense:?}: {said}");
        }
    }
    ground.close()
}
