//! What happens to a fleet besides plain changes: protection, time limits, being forgotten.

use acceptance_tests::{cli::Cli, feature::REMOVED, world::World};
use anyhow::{Result, ensure};

use crate::story::{CodedStory, story};

pub(crate) const STORIES: &[CodedStory] = &[
    story("life::a_protected_pool_is_not_destroyed", a_protected_pool_is_not_destroyed),
    story(
        "life::a_pool_that_is_not_ready_in_time_fails_and_is_kept",
        a_late_pool_fails_and_is_kept,
    ),
    story("life::a_forgotten_fleet_is_imported_with_a_written_configuration", forgotten_fleet),
    story("life::a_removed_block_forgets_a_pool_that_runs_on", a_removed_block_forgets)
        .needing(REMOVED),
];

/// A target and an environment.
pub(crate) const GROUND: &str = r#"
resource "runtimecloud_capacity_target" "local" {
  name   = "local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "dev"
  depends_on = [runtimecloud_capacity_target.local]
}
"#;

/// A target, an environment and one pool, whose arguments after the name and environment are given.
pub(crate) fn fleet(pool: &str) -> String {
    format!(
        r#"{GROUND}
resource "runtimecloud_worker_pool" "web" {{
  name        = "web"
  environment = runtimecloud_environment.dev.name
{pool}
}}
"#
    )
}

/// As many workers that only wait.
pub(crate) fn sleepers(size: u32) -> String {
    fleet(&format!("  size        = {size}\n  worker      = {{ command = [\"sleep\", \"3600\"] }}"))
}

/// Workers that never become ready.
const NEVER_READY: &str = r#"
  size      = 1
  worker    = { command = ["sleep", "3600"], ports = ["http"] }
  readiness = { tcp = { port = "http" } }
"#;

fn a_protected_pool_is_not_destroyed(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let protected = |on: bool| {
        fleet(&format!(
            "  size = 1\n  deletion_protection = {on}\n  worker = {{ command = [\"sleep\", \"3600\"] }}"
        ))
    };
    world.configure(&protected(true))?;
    world.apply()?;
    let refused = world.terraform(&["destroy", "-auto-approve"])?;
    refused.exited_with(1)?.says(&["deletion_protection"])?;
    world.host.operator(&["get", "pools", "dev/web"])?.succeeded()?;
    world.configure(&protected(false))?;
    world.apply()?;
    world.destroy()
}

fn a_removed_block_forgets(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    let removed = r#"
removed {
  from = runtimecloud_worker_pool.web
  lifecycle {
    destroy = false
  }
}
"#;
    world.configure(&format!("{GROUND}{removed}"))?;
    world.apply()?;
    let listed = world.terraform(&["state", "list"])?.succeeded()?.stdout;
    ensure!(!listed.contains("worker_pool"), "the pool is still in the state: {listed}");
    ensure!(world.workers().len() == 1, "the forgotten pool's worker is gone");
    world.configure(&sleepers(1))?;
    world.terraform(&["import", "runtimecloud_worker_pool.web", "dev/web"])?.succeeded()?;
    world.expect_empty_plan("after the import")?;
    world.destroy()
}

fn a_late_pool_fails_and_is_kept(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&fleet(&format!("{NEVER_READY}\n  timeouts = {{ create = \"2s\" }}")))?;
    world.try_apply()?.exited_with(1)?.says(&["dev/web", "ready"])?;
    let listed = world.terraform(&["state", "list"])?.succeeded()?;
    listed.says(&["runtimecloud_worker_pool.web"])?;
    world.destroy()
}

fn forgotten_fleet(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    let mut blocks = String::new();
    for (address, key) in [
        ("runtimecloud_capacity_target.local", "local"),
        ("runtimecloud_environment.dev", "dev"),
        ("runtimecloud_worker_pool.web", "dev/web"),
    ] {
        world.terraform(&["state", "rm", address])?.succeeded()?;
        blocks += &format!("import {{\n  to = {address}\n  id = \"{key}\"\n}}\n");
    }
    world.configure(&blocks)?;
    let written = ["plan", "-input=false", "-generate-config-out=written.tf", "-out=plan.bin"];
    world.terraform(&written)?.succeeded()?.says(&["3 to import, 0 to add, 0 to change"])?;
    world.apply_plan()?;
    world.expect_empty_plan("after the import")?;
    ensure!(world.workers().len() == 1, "not one worker: {:?}", world.workers());
    // What was written refers to nothing, so that it would not be destroyed in order.
    world.configure(&sleepers(1))?;
    world.expect_empty_plan("with the former configuration")?;
    world.destroy()
}
