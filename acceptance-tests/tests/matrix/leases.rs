//! Capacity leases: those that end, those that wait, and those that a run holds while it lasts.

use acceptance_tests::{
    cli::Cli,
    feature::EPHEMERAL,
    processes,
    run::{Running, until},
    world::World,
};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;

use crate::story::{CodedStory, story};

pub(crate) const STORIES: &[CodedStory] = &[
    story(
        "leases::a_lease_that_ended_is_gone_with_a_warning_and_made_again",
        an_ended_lease_is_made_again,
    ),
    story("leases::a_lease_waits_in_line_until_there_is_room", a_lease_waits_in_line),
    story("leases::a_run_holds_a_lease_while_it_needs_it", a_run_holds_a_lease).needing(EPHEMERAL),
    story("leases::what_a_killed_run_held_expires", what_a_killed_run_held_expires)
        .needing(EPHEMERAL),
];

/// An environment with two CPUs.
const GROUND: &str = r#"
resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { cpu = { hard = "2" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "dev"
  quota = runtimecloud_quota.team.name
}
"#;

fn managed(more: &str) -> String {
    format!(
        r#"{GROUND}
resource "runtimecloud_capacity_lease" "batch" {{
  name        = "batch"
  environment = runtimecloud_environment.dev.name
  amounts     = {{ cpu = "1500m" }}
  {more}
}}
"#
    )
}

/// A run that goes on until the file `go` is there.
fn held(world: &World, ttl: &str) -> String {
    let dir = world.path().display();
    format!(
        r#"{GROUND}
ephemeral "runtimecloud_capacity_lease" "run" {{
  name        = "run"
  environment = runtimecloud_environment.dev.name
  amounts     = {{ cpu = "2" }}
  ttl         = "{ttl}"
}}

resource "terraform_data" "work" {{
  provisioner "local-exec" {{
    command     = "touch {dir}/begun; until [ -e {dir}/go ]; do sleep 0.1; done"
    environment = {{ TOKEN = ephemeral.runtimecloud_capacity_lease.run.fencing_token }}
  }}
}}
"#
    )
}

/// Begins an apply of [`held`]. Planning opens and closes the lease too; then the work begins.
fn begin_work(world: &World) -> Result<Running> {
    let apply = begin_apply(world)?;
    let begun = world.path().join("begun");
    until("the work to begin", || Ok(begun.exists().then_some(())))?;
    Ok(apply)
}

/// What the host observes of a lease; `None` when there is none of the name.
fn observed(world: &World, key: &str) -> Result<Option<Value>> {
    let ran = world.host.operator(&["get", "lease", key, "--output", "json"])?;
    if ran.code == Some(3) {
        return Ok(None);
    }
    let shown: Value = serde_json::from_str(&ran.succeeded()?.stdout)?;
    Ok(Some(shown["observed"].clone()))
}

fn until_it_is(world: &World, key: &str, state: &str) -> Result<Value> {
    until(&format!("lease `{key}` to be {state}"), || {
        Ok(observed(world, key)?.filter(|observed| observed["state"] == state))
    })
}

fn an_ended_lease_is_made_again(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&managed("ttl = \"2s\""))?;
    world.apply()?;
    let token = world.value("runtimecloud_capacity_lease.batch", "fencing_token")?;
    until_it_is(&world, "dev/batch", "expired")?;
    world.configure(&managed(""))?;
    let planned = world.terraform(&["plan", "-input=false"])?.succeeded()?;
    planned.says(&[
        "Gone from the host",
        "has ended",
        "nobody had renewed it",
        "will be created",
    ])?;
    world.apply()?;
    world.expect_empty_plan("after it was made again")?;
    let again = world.value("runtimecloud_capacity_lease.batch", "fencing_token")?;
    ensure!(again.as_u64() > token.as_u64(), "{again} is not above {token}");
    world.destroy()
}

fn a_lease_waits_in_line(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(GROUND)?;
    world.apply()?;
    world.host.operator(&["create", "lease", "dev/other", "--amount", "cpu=1"])?.succeeded()?;
    world.configure(&managed(""))?;
    let refused = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
    refused.says(&["The quota has no room", "1500m more of cpu", "limit: 2", "in use: 1"])?;
    world.configure(&managed("wait = \"10m\""))?;
    let apply = begin_apply(&world)?;
    let waiting = until_it_is(&world, "dev/batch", "waiting")?;
    ensure!(waiting["position"] == 1, "{waiting}");
    world.host.operator(&["delete", "lease", "dev/other"])?.succeeded()?;
    apply.wait()?.succeeded()?;
    world.expect_empty_plan("after the grant")?;

    world.configure(&managed("wait = \"10m\"\n  timeouts = { update = \"2s\" }"))?;
    world.apply()?;
    world.destroy()
}

fn begin_apply(world: &World) -> Result<Running> {
    world.begin_terraform(&["apply", "-auto-approve", "-input=false"])
}

fn a_run_holds_a_lease(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(GROUND)?;
    world.apply()?;
    world.configure(&held(&world, "3s"))?;
    let apply = begin_work(&world)?;
    let granted = until_it_is(&world, "dev/run", "granted")?;
    let first = granted["expires_at"].clone();
    // It is renewed, and nobody else gets what it holds.
    until("a renewal", || {
        let now = observed(&world, "dev/run")?.context("the lease is gone")?;
        let is_renewed = now["state"] == "granted" && now["expires_at"] != first;
        Ok(is_renewed.then_some(()))
    })?;
    let refused = world.host.operator(&["create", "lease", "dev/other", "--amount", "cpu=1"])?;
    refused.exited_with(7)?;
    std::fs::write(world.path().join("go"), "")?;
    apply.wait()?.succeeded()?;
    until_it_is(&world, "dev/run", "released")?;
    let state = std::fs::read_to_string(world.config().join("terraform.tfstate"))?;
    let is_stored = state.contains("\"type\": \"runtimecloud_capacity_lease\"");
    ensure!(!is_stored, "it is in the state: {state}");
    world.expect_empty_plan("after the run")?;
    world.destroy()
}

fn what_a_killed_run_held_expires(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(GROUND)?;
    world.apply()?;
    world.configure(&held(&world, "2s"))?;
    let apply = begin_work(&world)?;
    let token = until_it_is(&world, "dev/run", "granted")?["fencing_token"].clone();
    processes::signal(apply.pid(), Signal::KILL)?;
    drop(apply.wait()?);
    until_it_is(&world, "dev/run", "expired")?;
    let check = ["lease", "check", "dev/run", "--fencing-token", &token.to_string()];
    world.host.operator(&check)?.exited_with(1)?.says(&["Expired"])?;
    std::fs::write(world.path().join("go"), "")?;
    world.configure(GROUND)?;
    world.apply()?;
    world.destroy()
}
