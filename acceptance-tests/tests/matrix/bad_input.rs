//! What goes wrong says so once, clearly, with what to do; and loses nothing.

use acceptance_tests::{
    cli::Cli,
    processes,
    run::until,
    world::{Refresh, World},
};
use anyhow::{Result, ensure};

use crate::{
    life::{fleet, sleepers},
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[
    story("bad_input::a_command_that_does_not_exist_is_the_reason_given", missing_command),
    story("bad_input::a_host_that_is_down_is_named", host_down),
    story("bad_input::a_host_that_stops_in_mid_apply_loses_nothing", host_stops_in_mid_apply),
    story("bad_input::a_missing_token_is_asked_for", missing_token),
    story("bad_input::a_name_that_exists_can_be_imported", name_exists),
    story("bad_input::a_plan_that_driftgate_can_not_read_is_explained", unreadable_plans),
    story("bad_input::a_quota_that_is_too_small_fails_the_plan", quota_too_small),
    story("bad_input::a_wrong_token_is_refused", wrong_token),
];

const QUOTA: &str = r#"
resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { workers = { hard = 2 } }
}
"#;

fn wrong_token(cli: &Cli) -> Result<()> {
    let mut world = World::new(cli)?;
    world.token = Some("not-the-token".to_owned());
    world.configure(&sleepers(1))?;
    world.try_apply()?.exited_with(1)?.says(&["token", "RUNTIMECLOUD_TOKEN"])?;
    Ok(())
}

fn missing_token(cli: &Cli) -> Result<()> {
    let mut world = World::new(cli)?;
    world.token = None;
    world.configure(&sleepers(1))?;
    world.try_apply()?.exited_with(1)?.says(&["token", "RUNTIMECLOUD_TOKEN"])?;
    Ok(())
}

fn host_down(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.apply()?;
    world.host.stop()?;
    let failed = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
    failed.says(&[&world.host.endpoint()])?;
    world.host.restart()?;
    world.expect_empty_plan("after the host came back")?;
    world.destroy()
}

fn host_stops_in_mid_apply(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let pool = |readiness: &str| {
        fleet(&format!(
            "  size = 1\n  worker = {{ command = [\"sleep\", \"3600\"], ports = [\"http\"] }}\n{readiness}"
        ))
    };
    world.configure(&pool("  readiness = { tcp = { port = \"http\" } }"))?;
    let apply = world.begin_terraform(&["apply", "-auto-approve", "-input=false"])?;
    until("a worker to run", || Ok((!world.workers().is_empty()).then_some(())))?;
    world.host.kill()?;
    let failed = apply.wait()?.exited_with(1)?;
    failed.says(&["runtimecloud_worker_pool.web", &world.host.endpoint()])?;
    let listed = world.terraform(&["state", "list"])?.succeeded()?;
    listed.says(&["runtimecloud_environment.dev", "runtimecloud_worker_pool.web"])?;
    ensure!(world.workers().len() == 1, "the worker did not outlive the host");
    world.host.restart()?;
    // The pool is tainted, since its creation failed: the next apply replaces it.
    world.configure(&pool(""))?;
    world.apply()?;
    world.expect_empty_plan("after the apply that followed")?;
    world.destroy()
}

fn name_exists(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(QUOTA)?;
    world.apply()?;
    world.terraform(&["state", "rm", "runtimecloud_quota.team"])?.succeeded()?;
    world.try_apply()?.exited_with(1)?.says(&["team", "import"])?;
    world.terraform(&["import", "runtimecloud_quota.team", "team"])?.succeeded()?;
    world.expect_empty_plan("after the import")?;
    world.destroy()
}

fn quota_too_small(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let sized = |size: u32| {
        let bound = "  name  = \"dev\"\n  quota = runtimecloud_quota.team.name";
        sleepers(size).replace("  name       = \"dev\"", bound) + QUOTA
    };
    world.configure(&sized(2))?;
    world.apply()?;
    world.configure(&sized(3))?;
    let refused = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
    refused.says(&["runtimecloud_worker_pool.web", "quota `team`", "workers"])?;
    // A destroy plans the configuration first, and is not refused for what it will never make.
    world.destroy()
}

fn missing_command(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let pool = "  size = 1\n  worker = { command = [\"no-such-command\"] }\n  timeouts = { create = \"5s\" }";
    world.configure(&fleet(pool))?;
    world.try_apply()?.exited_with(1)?.says(&["no-such-command"])?;
    let shown = world.show()?;
    let resources = shown["values"]["root_module"]["resources"].to_string();
    ensure!(resources.contains("\"tainted\":true"), "the pool is not tainted: {resources}");
    let id = world.attribute("runtimecloud_worker_pool.web", "id")?;
    ensure!(id.starts_with("pool_"), "the state has no id of the pool but `{id}`");
    world.destroy()
}

fn unreadable_plans(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&sleepers(1))?;
    world.plan(Refresh::Yes)?;
    let whole = std::fs::read_to_string(world.config().join("plan.json"))?;
    let unknown = whole.replacen("\"format_version\":\"1.", "\"format_version\":\"9.", 1);
    ensure!(unknown != whole, "the plan names no format version");
    for (file, text, code, says) in [
        ("cut.json", &whole[..whole.len() / 2], 4, "truncated"),
        ("not.json", "this is not JSON", 1, "not.json"),
        ("unknown.json", &unknown, 1, "9."),
    ] {
        std::fs::write(world.config().join(file), text)?;
        world.driftgate(&["check", file])?.exited_with(code)?.says(&[says])?;
    }
    let binary = world.driftgate(&["check", "plan.bin"])?.exited_with(1)?;
    binary.says(&["terraform show -json"])?;
    world.driftgate(&["check", "absent.json"])?.exited_with(1)?.says(&["absent.json"])?;
    ensure!(processes::of_world(world.path()).len() == 1, "something besides the host runs");
    Ok(())
}
