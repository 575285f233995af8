//! Somebody changes the fleet by hand: the plan shows it, driftgate explains it, and both ways back
//! work.

use std::process::Command;

use acceptance_tests::{
    cli::Cli,
    plan::Action,
    run::{expect_said, run},
    world::{Refresh, World},
};
use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{
    life::sleepers,
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[
    story("drift::a_change_by_hand_is_adopted_with_the_patch", a_change_is_adopted_with_the_patch),
    story("drift::a_change_by_hand_is_found_without_a_plan", a_change_is_found_without_a_plan),
    story("drift::a_change_by_hand_is_reverted_by_apply", a_change_is_reverted_by_apply),
    story("drift::a_healthy_fleet_is_clean", a_healthy_fleet_is_clean),
    story("drift::a_pool_deleted_by_hand_is_made_again", a_deleted_pool_is_made_again),
    story("drift::what_is_gone_already_is_destroyed", what_is_gone_is_destroyed),
];

const POOL: &str = "runtimecloud_worker_pool.web";

/// A fleet of one worker that somebody has scaled to two, and the plan that shows it.
fn scaled(cli: &Cli) -> Result<World> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    world.host.operator(&["scale", "dev/web", "--size", "2"])?.succeeded()?;
    let plan = world.plan(Refresh::Yes)?;
    ensure!(plan.drifted()? == [POOL], "drift is {:?}", plan.drifted()?);
    ensure!(
        plan.actions()?.into_iter().eq([(POOL.to_owned(), Action::Update)]),
        "planned {:?}",
        plan.actions()?
    );
    Ok(world)
}

fn a_change_is_reverted_by_apply(cli: &Cli) -> Result<()> {
    let world = scaled(cli)?;
    let report = world.driftgate(&["check", "plan.json", "--config-dir", "."])?;
    report.exited_with(2)?.says(&[POOL, "size", "revert", "adopt"])?;
    world.apply()?;
    world.expect_empty_plan("after the change was reverted")?;
    acceptance_tests::run::until("one worker to be left", || {
        Ok((world.workers().len() == 1).then_some(()))
    })?;
    world.destroy()
}

fn a_change_is_found_without_a_plan(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    world.driftgate_state(&[])?.exited_with(0)?;
    let kept = world.config().join("terraform.tfstate");
    let before = std::fs::read(&kept)?;
    std::fs::copy(&kept, world.config().join("before.tfstate"))?;
    world.host.operator(&["scale", "dev/web", "--size", "2"])?.succeeded()?;
    world.driftgate_state(&[])?.exited_with(2)?.says(&[POOL, "size"])?;
    world.driftgate_state(&["before.tfstate"])?.exited_with(2)?.says(&[POOL, "size"])?;
    ensure!(std::fs::read(&kept)? == before, "the state was written");
    // The engine records what is real: now two states tell the same.
    let record = ["apply", "-refresh-only", "-auto-approve", "-input=false"];
    world.terraform(&record)?.succeeded()?;
    let difference = world.driftgate(&["diff", "before.tfstate", "terraform.tfstate"])?;
    difference.exited_with(2)?.says(&[POOL, "size"])?;
    world.apply()?;
    world.destroy()
}

fn a_change_is_adopted_with_the_patch(cli: &Cli) -> Result<()> {
    let world = scaled(cli)?;
    let report = ["check", "plan.json", "--config-dir", ".", "--format", "json"];
    let report: Value = serde_json::from_str(&world.driftgate(&report)?.exited_with(2)?.stdout)?;
    let patch = report["patch"].as_str().unwrap_or_default();
    ensure!(!patch.is_empty(), "the report proposes no patch: {report:#}");
    std::fs::write(world.config().join("adopt.patch"), patch)?;
    let mut git = Command::new("git");
    git.args(["apply", "--unsafe-paths", "adopt.patch"]).current_dir(world.config());
    git.env("GIT_CEILING_DIRECTORIES", world.path());
    run(git)?.succeeded()?;
    let plan = world.plan(Refresh::Yes)?;
    ensure!(plan.actions()?.is_empty(), "after the patch something is left to do");
    // Terraform's state still holds the old size; an apply records the new one and changes nothing.
    world.apply()?;
    world.expect_empty_plan("after the change was adopted")?;
    ensure!(world.workers().len() == 2, "the adopted size is not there: {:?}", world.workers());
    world.destroy()
}

fn a_healthy_fleet_is_clean(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    world.plan(Refresh::Yes)?;
    world.driftgate(&["check", "plan.json"])?.exited_with(0)?;
    world.destroy()
}

/// A fleet whose pool somebody has deleted.
fn without_pool(cli: &Cli) -> Result<World> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    world.host.operator(&["delete", "pools", "dev/web"])?.succeeded()?;
    acceptance_tests::run::until("the pool to be gone", || {
        let code = world.host.operator(&["get", "pools", "dev/web"])?.code;
        Ok((code != Some(0)).then_some(()))
    })?;
    Ok(world)
}

fn a_deleted_pool_is_made_again(cli: &Cli) -> Result<()> {
    let world = without_pool(cli)?;
    let planned = world.plan_step()?;
    let expected = [(POOL.to_owned(), Action::Create)];
    ensure!(planned.actions.clone().into_iter().eq(expected), "planned {planned:?}");
    expect_said(&planned.said, &["dev/web", "no longer exists"])?;
    world.apply_plan()?;
    world.expect_empty_plan("after it was made again")?;
    world.destroy()
}

fn what_is_gone_is_destroyed(cli: &Cli) -> Result<()> {
    let world = without_pool(cli)?;
    let destroy = ["destroy", "-auto-approve", "-input=false", "-refresh=false"];
    world.terraform(&destroy)?.succeeded()?;
    world.destroy()
}
