//! What only looks: data sources of what is not there or given in another way, and functions.

use acceptance_tests::{
    cli::Cli,
    feature::FUNCTIONS,
    world::{Refresh, World},
};
use anyhow::{Result, ensure};

use crate::story::{CodedStory, story};

pub(crate) const STORIES: &[CodedStory] = &[
    story("looking::a_function_is_a_syntax_error_to_old_command_lines", functions_on_old),
    story("looking::a_function_points_at_its_argument", function_points).needing(FUNCTIONS),
    story("looking::a_function_waits_for_what_is_unknown", function_waits).needing(FUNCTIONS),
    story("looking::an_environment_may_be_given_by_id", environment_by_id),
    story("looking::what_is_not_there_is_told_at_its_argument", not_there),
];

fn not_there(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    for (source, argument, what) in [
        ("runtimecloud_environment", "name = \"absent\"", "environment `absent`"),
        ("runtimecloud_quota", "id = \"quota_absent\"", "quota `quota_absent`"),
        ("runtimecloud_quota_usage", "quota = \"absent\"", "quota `absent`"),
        ("runtimecloud_workers", "worker_pool = \"dev/absent\"", "worker pool `dev/absent`"),
        ("runtimecloud_worker_pools", "environment = \"absent\"", "environment `absent`"),
    ] {
        world.configure(&format!("data \"{source}\" \"it\" {{\n  {argument}\n}}\n"))?;
        let refused = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
        // The line of the argument is shown, not that of the block.
        refused.says(&["Not found", what, argument])?;
    }
    Ok(())
}

fn environment_by_id(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(
        r#"
resource "runtimecloud_environment" "dev" {
  name = "dev"
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 0
  worker      = { command = ["sleep", "3600"] }
}

data "runtimecloud_worker_pool" "web" {
  environment = runtimecloud_environment.dev.id
  name        = runtimecloud_worker_pool.web.name
}

data "runtimecloud_worker_pools" "dev" {
  environment = runtimecloud_environment.dev.id
  depends_on  = [runtimecloud_worker_pool.web]
}

output "found" {
  value = one(data.runtimecloud_worker_pools.dev.worker_pools[*].id) == data.runtimecloud_worker_pool.web.id
}
"#,
    )?;
    world.apply()?;
    let shown = world.show()?;
    ensure!(shown["values"]["outputs"]["found"]["value"] == true, "not the one pool: {shown}");
    world.expect_empty_plan("after the apply")?;
    world.destroy()
}

fn output(value: &str) -> String {
    format!("output \"it\" {{\n  value = {value}\n}}\n")
}

fn function_points(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    for (call, says) in [
        ("parse_quantity(\"fast\", \"cpu\")", "`fast` is not an amount"),
        ("sum_quantities(\"cpu\", [\"1\", \"0.0001\"])", "At `[1]`"),
        ("fits({ cpu = null }, 1, {})", "must not be null"),
        ("format_quantity(1.5, \"memory\")", "whole number"),
    ] {
        world.configure(&output(&format!("provider::runtimecloud::{call}")))?;
        let refused = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
        refused.says(&["Invalid function argument", says])?;
    }
    Ok(())
}

fn function_waits(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let unknown = "resource \"terraform_data\" \"cpu\" {\n  input = \"500m\"\n}\n";
    let sum =
        output("provider::runtimecloud::sum_quantities(\"cpu\", terraform_data.cpu.output, 1)");
    world.configure(&format!("{unknown}{sum}"))?;
    world.plan(Refresh::Yes)?;
    world.apply()?;
    let shown = world.show()?;
    ensure!(shown["values"]["outputs"]["it"]["value"] == "1500m", "not the sum: {shown}");
    world.expect_empty_plan("after the apply")
}

/// The parts that an old command line knows work all the same.
fn functions_on_old(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let call = output("provider::runtimecloud::parse_quantity(\"2\", \"cpu\")");
    world.configure(&call)?;
    let ran = world.terraform(&["validate"])?;
    if cli.has(FUNCTIONS) {
        ran.succeeded()?;
    } else {
        ran.exited_with(1)?.says(&["provider::runtimecloud::parse_quantity"])?;
    }
    world.configure("data \"runtimecloud_host\" \"this\" {}\n")?;
    world.apply()
}
