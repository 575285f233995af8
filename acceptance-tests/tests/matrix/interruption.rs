//! What ends an apply early: an interrupt, the host's end, a token that is revoked, a host that does
//! not answer. Each time the state holds what was made, and a later apply goes on from there.

use std::{fs, path::PathBuf};

use acceptance_tests::{
    cli::Cli,
    plan::Action,
    processes,
    run::{Running, until},
    world::World,
};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;

use crate::{
    life::{GROUND, fleet},
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[
    story("interruption::a_host_that_comes_back_in_mid_apply_is_waited_for", host_comes_back),
    story("interruption::a_host_that_stands_still_is_told_of_with_what_was_seen", stands_still),
    story("interruption::a_host_too_slow_to_create_loses_nothing", too_slow_to_create),
    story("interruption::a_revoked_token_is_told_of_and_a_new_one_goes_on", revoked_token),
    story("interruption::a_terraform_that_is_killed_leaves_what_can_be_imported", killed),
    story("interruption::an_update_not_ready_in_time_is_waited_for_again", update_not_ready),
    story("interruption::one_interrupt_keeps_what_was_made", one_interrupt),
    story("interruption::two_interrupts_lose_nothing_for_good", two_interrupts),
];

const APPLY: &[&str] = &["apply", "-auto-approve", "-input=false"];
const POOL: &str = "runtimecloud_worker_pool.web";

/// The file whose presence makes workers ready.
fn gate(world: &World) -> PathBuf {
    world.path().join("gate")
}

fn open_gate(world: &World) -> Result<()> {
    Ok(fs::write(gate(world), "")?)
}

fn close_gate(world: &World) -> Result<()> {
    Ok(fs::remove_file(gate(world))?)
}

/// A pool whose workers are ready while the gate is open.
fn gated(world: &World, size: u32, more: &str) -> String {
    let gate = gate(world).display().to_string();
    fleet(&format!(
        r#"  size      = {size}
  worker    = {{ command = ["sleep", "3600"] }}
  readiness = {{ command = ["test", "-e", "{gate}"], interval = "100ms" }}
{more}"#
    ))
}

fn workers(world: &World) -> Vec<String> {
    world.workers().into_keys().collect()
}

/// Begins to apply a pool whose one worker then runs and is not ready.
fn begin_apply(world: &World) -> Result<(Running, Vec<String>)> {
    world.configure(&gated(world, 1, ""))?;
    let apply = world.begin_terraform(APPLY)?;
    let before = running(world, 1)?;
    Ok((apply, before))
}

/// Waits for so many workers, and tells which they are. One that is just being started has no
/// environment for a moment and is not seen then, so one look proves nothing.
fn running(world: &World, count: usize) -> Result<Vec<String>> {
    until(&format!("{count} workers to run"), || {
        let seen = workers(world);
        Ok((seen.len() == count).then_some(seen))
    })
}

/// The workers that run are these.
fn still_running(world: &World, before: &[String]) -> Result<()> {
    until("the workers of before, and no other", || Ok((workers(world) == before).then_some(())))
        .with_context(|| format!("there are {:?}, not {before:?}", workers(world)))
}

fn expect_in_state(world: &World, addresses: &[&str]) -> Result<()> {
    world.terraform(&["state", "list"])?.succeeded()?.says(addresses)?;
    Ok(())
}

/// The plan only takes up again what was given up; then it comes about, with the same workers.
fn goes_on(world: &World, before: &[String]) -> Result<()> {
    let planned = world.plan_step()?;
    let expected = [(POOL.to_owned(), Action::Update)];
    ensure!(planned.actions.into_iter().eq(expected), "the waiting is not planned");
    open_gate(world)?;
    world.apply()?;
    world.expect_empty_plan("after the apply that went on")?;
    ensure!(world.value(POOL, "rolled_out")? == true, "the pool is not rolled out");
    still_running(world, before)?;
    world.destroy()
}

fn one_interrupt(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let (apply, before) = begin_apply(&world)?;
    processes::signal_group(apply.pid(), Signal::INT)?;
    let ended = apply.wait()?;
    ensure!(ended.code != Some(0), "an interrupted apply ended well: {ended}");
    expect_in_state(&world, &["runtimecloud_environment.dev", POOL])?;
    goes_on(&world, &before)
}

fn two_interrupts(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let (apply, before) = begin_apply(&world)?;
    // After the first the plugin still asks the host how things stand; it must not be told.
    let host = world.host.pid()?;
    processes::signal(host, Signal::STOP)?;
    processes::signal_group(apply.pid(), Signal::INT)?;
    until("the first interrupt to be heard", || {
        Ok(apply.said()?.contains("Interrupt received").then_some(()))
    })?;
    processes::signal_group(apply.pid(), Signal::INT)?;
    let ended = apply.wait()?;
    processes::signal(host, Signal::CONT)?;
    ensure!(ended.code != Some(0), "an apply that was broken off ended well: {ended}");
    until("the plugins to end", || Ok(plugins(&world).is_empty().then_some(())))?;
    expect_in_state(&world, &["runtimecloud_environment.dev"])?;
    // Terraform may have had the time to save the pool.
    let listed = world.terraform(&["state", "list"])?.succeeded()?;
    if listed.stdout.contains(POOL) { goes_on(&world, &before) } else { is_found(&world, &before) }
}

fn killed(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let (apply, before) = begin_apply(&world)?;
    processes::signal(apply.pid(), Signal::KILL)?;
    apply.wait()?;
    until("the plugins to end", || Ok(plugins(&world).is_empty().then_some(())))?;
    expect_in_state(&world, &["runtimecloud_environment.dev"])?;
    is_found(&world, &before)
}

/// A pool that Terraform does not know of: an apply tells how to import it, and then nothing is to do.
fn is_found(world: &World, before: &[String]) -> Result<()> {
    world.try_apply()?.exited_with(1)?.says(&["dev/web", "terraform import"])?;
    world.terraform(&["import", "-input=false", POOL, "dev/web"])?.succeeded()?;
    open_gate(world)?;
    world.expect_empty_plan("after the import")?;
    still_running(world, before)?;
    world.destroy()
}

fn plugins(world: &World) -> Vec<u32> {
    let is_plugin = |word: &String| word.contains("terraform-provider-");
    let mut processes = processes::of_world(world.path());
    processes.retain(|process| process.command.first().is_some_and(is_plugin));
    processes.into_iter().map(|process| process.pid).collect()
}

fn host_comes_back(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let (apply, before) = begin_apply(&world)?;
    world.host.kill()?;
    world.host.restart()?;
    open_gate(&world)?;
    apply.wait()?.succeeded().with_context(|| world.host.log())?;
    world.expect_empty_plan("after the apply that outlived the host")?;
    still_running(&world, &before)?;
    world.destroy()
}

fn revoked_token(cli: &Cli) -> Result<()> {
    let mut world = World::new(cli)?;
    let made = ["token", "create", "ci", "--role", "editor", "--output", "json"];
    let made: Value = serde_json::from_str(&world.host.operator(&made)?.succeeded()?.stdout)?;
    world.token = made["secret"].as_str().map(str::to_owned);
    let (apply, before) = begin_apply(&world)?;
    world.host.operator(&["token", "revoke", "ci"])?.succeeded()?;
    let failed = apply.wait()?.exited_with(1)?;
    failed.says(&[POOL, "token", "RUNTIMECLOUD_TOKEN", "dev/web", "0 of 1 workers"])?;
    expect_in_state(&world, &["runtimecloud_environment.dev", POOL])?;

    world.token = Some(world.host.token()?);
    // A creation that failed leaves a tainted pool, which would be replaced.
    world.terraform(&["untaint", POOL])?.succeeded()?;
    goes_on(&world, &before)
}

fn stands_still(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    open_gate(&world)?;
    world.configure(&gated(&world, 1, ""))?;
    world.apply()?;
    close_gate(&world)?;
    world.configure(&gated(&world, 2, "  timeouts = { update = \"20s\" }"))?;
    let apply = world.begin_terraform(APPLY)?;
    let before = running(&world, 2)?;
    let host = world.host.pid()?;
    processes::signal(host, Signal::STOP)?;
    let failed = apply.wait()?.exited_with(1)?;
    processes::signal(host, Signal::CONT)?;
    failed.says(&["did not answer", "dev/web", "seen last", "of 2 workers", "waits again"])?;
    ensure!(world.value(POOL, "size")? == 2, "what was changed is not in the state");
    goes_on(&world, &before)
}

fn too_slow_to_create(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(GROUND)?;
    world.apply()?;
    open_gate(&world)?;
    world.configure(&gated(&world, 1, "  timeouts = { create = \"3s\" }"))?;
    world.plan_step()?;
    let host = world.host.pid()?;
    processes::signal(host, Signal::STOP)?;
    let failed = world.terraform(&["apply", "-input=false", "plan.bin"])?;
    processes::signal(host, Signal::CONT)?;
    failed.exited_with(1)?.says(&["did not answer", "may exist all the same", "import"])?;
    expect_in_state(&world, &["runtimecloud_environment.dev"])?;
    // What was sent while the host stood still may have been done since, or not.
    let again = world.try_apply()?;
    if again.code != Some(0) {
        again.says(&["dev/web", "terraform import"])?;
        world.terraform(&["import", "-input=false", POOL, "dev/web"])?.succeeded()?;
    }
    world.expect_empty_plan("after the host went on")?;
    running(&world, 1)?;
    world.destroy()
}

fn update_not_ready(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    open_gate(&world)?;
    world.configure(&gated(&world, 1, ""))?;
    world.apply()?;
    close_gate(&world)?;
    world.configure(&gated(&world, 2, "  timeouts = { update = \"3s\" }"))?;
    world.try_apply()?.exited_with(1)?.says(&["dev/web", "took too long", "waits again"])?;
    let before = running(&world, 2)?;
    goes_on(&world, &before)
}
