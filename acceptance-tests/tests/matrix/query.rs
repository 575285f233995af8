//! Objects that are on the host and not in the configuration: found by a query, generated, and brought
//! under management by their identities.

use std::fs;

use acceptance_tests::{
    cli::Cli,
    feature::{IDENTITY, QUERY},
    world::World,
};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::story::{CodedStory, story};

pub(crate) const STORIES: &[CodedStory] = &[
    story("query::what_is_on_the_host_is_found_and_generated", found_and_generated).needing(QUERY),
    story("query::a_query_picks_by_labels_and_environment", picked).needing(QUERY),
    story("query::an_identity_is_in_the_state_and_imports_its_object", imported_by_identity)
        .needing(IDENTITY),
];

/// Of each type one, with every kind of value somewhere.
const ALL: &str = r#"
resource "runtimecloud_capacity_target" "here" {
  name     = "here"
  driver   = { process = {} }
  capacity = { cpu = "4", memory = "8Gi" }
  labels   = { region = "here", team = "a" }
}

resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { workers = { hard = 20, soft = 10 }, cpu = { hard = "1500m" } }
  labels = { team = "a" }
}

resource "runtimecloud_environment" "dev" {
  name            = "dev"
  description     = "For ${"$"}{trying} things: \"out\""
  quota           = runtimecloud_quota.team.name
  target_selector = { region = "here" }
  variables       = { STAGE = "dev" }
  labels          = { team = "a" }
  depends_on      = [runtimecloud_capacity_target.here]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 1
  worker      = { command = ["sleep", "3600"], shape = { cpu = "100m" } }
  restart     = { delay = "1s", delay_max = "30s" }
  labels      = { team = "a" }
}

resource "runtimecloud_worker_pool" "idle" {
  name        = "idle"
  environment = runtimecloud_environment.dev.name
  size        = 0
  worker      = { command = ["sleep", "3600"] }
}
"#;

const QUERY_ALL: &str = r#"
list "runtimecloud_capacity_target" "all" {
  provider = runtimecloud
}

list "runtimecloud_quota" "all" {
  provider = runtimecloud
}

list "runtimecloud_environment" "all" {
  provider = runtimecloud
}

list "runtimecloud_worker_pool" "all" {
  provider = runtimecloud
}
"#;

/// What a query prints as JSON, one result each.
fn results(world: &World) -> Result<Vec<Value>> {
    let ran = world.terraform(&["query", "-json"])?.succeeded()?;
    let lines = ran.stdout.lines().map(serde_json::from_str::<Value>);
    let mut results = Vec::new();
    for line in lines {
        let line = line.context("a query prints a line that is no JSON")?;
        if line["type"] == "list_resource_found" {
            results.push(line["list_resource_found"].clone());
        }
    }
    Ok(results)
}

fn names(results: &[Value]) -> Vec<String> {
    let names = results.iter().map(|it| it["display_name"].as_str().unwrap_or_default().to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn found_and_generated(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(ALL)?;
    world.apply()?;
    // All that Terraform knew is gone; all that it made is still there.
    fs::remove_file(world.config().join("terraform.tfstate"))?;
    world.configure_files(&[("all.tfquery.hcl", QUERY_ALL.to_owned())])?;
    let found = names(&results(&world)?);
    ensure!(found == ["dev", "dev/idle", "dev/web", "here", "team"], "found {found:?}");

    let generated = world.config().join("generated.tf");
    world.terraform(&["query", "-generate-config-out=generated.tf"])?.succeeded()?;
    let text = fs::read_to_string(generated)?;
    for part in ["\"For $${trying} things: \\\"out\\\"\"", "process = {", "1500m"] {
        ensure!(text.contains(part), "`{part}` is not in\n{text}");
    }
    for part in ["labels_all", "deletion_protection", "wait_for_ready"] {
        ensure!(!text.contains(part), "`{part}` is in\n{text}");
    }
    world.configure(&text)?;
    let planned = world.plan_step()?;
    ensure!(
        planned.actions.is_empty() && planned.drifted.is_empty(),
        "the generated configuration changes {planned:?}\n{}\n{text}",
        world.kept_plan()?.differences()
    );
    world.apply_plan()?;
    world.expect_empty_plan("after all was imported")?;
    // What is generated names, and does not refer: the order of its end is up to people.
    for last in ["worker_pool.all_0", "worker_pool.all_1", "environment.all_0"] {
        let target = format!("-target=runtimecloud_{last}");
        world.terraform(&["destroy", "-auto-approve", "-input=false", &target])?.succeeded()?;
    }
    world.destroy()
}

fn picked(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let query = |config: &str| {
        let list = format!(
            "list \"runtimecloud_worker_pool\" \"some\" {{\n  provider = runtimecloud\n{config}\n}}\n"
        );
        [("main.tf", ALL.to_owned()), ("some.tfquery.hcl", list)]
    };
    world.configure(ALL)?;
    world.apply()?;
    for (config, expected) in [
        ("config {\n labels = { team = \"a\" }\n }", vec!["dev/web"]),
        ("config {\n environment = \"dev\"\n }", vec!["dev/idle", "dev/web"]),
        ("limit = 1", vec!["dev/idle"]),
    ] {
        world.configure_files(&query(config))?;
        let found = results(&world)?;
        let found_names = names(&found);
        if config == "limit = 1" {
            ensure!(found_names.len() == expected.len(), "{config} finds {found_names:?}");
        } else {
            ensure!(found_names == expected, "{config} finds {found_names:?}");
        }
        ensure!(found.iter().all(|it| it["resource_object"].is_null()), "nobody asked for states");
    }
    world.configure_files(&query("include_resource = true"))?;
    let found = results(&world)?;
    let pool = found.iter().find(|it| it["display_name"] == "dev/web").context("no dev/web")?;
    ensure!(pool["resource_object"]["size"] == 1, "{pool}");
    ensure!(
        pool["identity"]["id"] == world.attribute("runtimecloud_worker_pool.web", "id")?,
        "{pool}"
    );

    for (environment, said) in
        [("Not a name", "`environment` must be 1 to 63 of"), ("prod", "no environment `prod`")]
    {
        let config = format!("config {{\n environment = \"{environment}\"\n }}");
        world.configure_files(&query(&config))?;
        world.terraform(&["query"])?.exited_with(1)?.says(&[said])?;
    }
    world.configure(ALL)?;
    world.destroy()
}

fn imported_by_identity(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(ALL)?;
    world.apply()?;
    for address in ["runtimecloud_quota.team", "runtimecloud_worker_pool.web"] {
        let id = world.attribute(address, "id")?;
        let shown = world.show()?;
        let resources = shown["values"]["root_module"]["resources"].as_array();
        let resource = resources.into_iter().flatten().find(|it| it["address"] == address);
        let resource = resource.context("it is not in the state")?;
        ensure!(resource["identity"]["id"] == id.as_str(), "no identity in {resource}");
        let block = |id: &str| {
            format!("import {{\n  to = {address}\n  identity = {{\n    id = \"{id}\"\n  }}\n}}\n")
        };
        world.reimport_by_block(&block(&id))?;
        for (wrong, said) in [
            ("dev/web", "`dev/web` is not the id of a"),
            ("pool_none", "Cannot import non-existent remote object"),
        ] {
            world.terraform(&["state", "rm", address])?.succeeded()?;
            world.configure(&format!("{ALL}\n{}", block(wrong)))?;
            world.terraform(&["plan", "-input=false"])?.exited_with(1)?.says(&[said])?;
            world.configure(&format!("{ALL}\n{}", block(&id)))?;
            world.apply()?;
        }
        world.configure(ALL)?;
        world.expect_empty_plan("after the imports")?;
    }
    world.destroy()
}
