//! Tokens that Terraform makes: good while they should be, and found in nothing that is kept.

use std::fs;

use acceptance_tests::{
    cli::Cli,
    feature::{EPHEMERAL, WRITE_ONLY},
    host,
    plan::Action,
    world::{DEPLOY_SECRET, Refresh, World},
};
use anyhow::{Result, ensure};
use serde_json::Value;

use crate::story::{CodedStory, story};

pub(crate) const STORIES: &[CodedStory] = &[
    story("access::a_token_of_a_run_ends_with_the_run", a_token_of_a_run_ends_with_the_run)
        .needing(EPHEMERAL),
    story("access::a_token_revoked_outside_is_made_again", a_revoked_token_is_made_again)
        .needing(WRITE_ONLY),
];

/// The configuration uses the token in the midst of the run; afterwards it is worth nothing.
fn a_token_of_a_run_ends_with_the_run(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let operator = |arguments: &[&str]| world.host.operator(arguments);
    operator(&["create", "service-account", "ci", "--role", "editor"])?.succeeded()?;
    let (program, endpoint) = (host::program()?, world.host.endpoint());
    let program = program.display();
    world.configure(&format!(
        r#"
ephemeral "runtimecloud_access_token" "run" {{
  service_account = "ci"
  lifetime        = "1m"
}}

resource "terraform_data" "use" {{
  provisioner "local-exec" {{
    command = <<-EOT
      printf %s "$ACCESS" > access
      '{program}' create quota of-the-run --limit cpu=1 --endpoint {endpoint} --token "$ACCESS"
    EOT
    environment = {{ ACCESS = ephemeral.runtimecloud_access_token.run.token }}
  }}
}}
"#
    ))?;
    world.apply()?;
    let secret = fs::read_to_string(world.config().join("access"))?;
    ensure!(secret.starts_with("rct_"), "the run had no token");
    operator(&["get", "quota", "of-the-run"])?.succeeded()?;
    operator(&["events", "--type", "SpecificationDeclared"])?.succeeded()?.says(&["ci/run-"])?;
    let refused = operator(&["get", "quotas", "--endpoint", &endpoint, "--token", &secret])?;
    refused.exited_with(5)?.says(&["was revoked"])?;
    world.plan(Refresh::Yes)?;
    let tokens = operator(&["token", "list", "--service-account", "ci", "--output", "json"])?;
    let tokens: Value = serde_json::from_str(&tokens.succeeded()?.stdout)?;
    let all = tokens.as_array().cloned().unwrap_or_default();
    ensure!(!all.is_empty() && all.iter().all(|it| it["reason"] == "Revoked"), "left: {tokens:#}");
    expect_nowhere(&world, &secret)?;
    operator(&["delete", "quota", "of-the-run"])?.succeeded()?;
    world.destroy()
}

fn a_revoked_token_is_made_again(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(
        r#"
variable "deploy_secret" {
  type      = string
  ephemeral = true
}

resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "viewer"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account   = runtimecloud_service_account.ci.name
  name              = "deploy"
  secret_wo         = var.deploy_secret
  secret_wo_version = 1
}
"#,
    )?;
    world.apply()?;
    let endpoint = world.host.endpoint();
    let look = ["get", "quotas", "--endpoint", &endpoint, "--token", DEPLOY_SECRET];
    world.host.operator(&look)?.succeeded()?;
    world.host.operator(&["token", "revoke", "ci/deploy"])?.succeeded()?;
    world.host.operator(&look)?.exited_with(5)?;
    let said = world.terraform(&["plan", "-input=false"])?.succeeded()?;
    said.says(&["Gone from the host", "`ci/deploy` has ended (it was revoked)"])?;
    let actions = world.plan(Refresh::Yes)?.actions()?;
    let token = "runtimecloud_service_account_token.deploy".to_owned();
    ensure!(actions.clone().into_iter().eq([(token, Action::Create)]), "planned {actions:?}");
    expect_nowhere(&world, DEPLOY_SECRET)?;
    world.apply()?;
    world.host.operator(&look)?.succeeded()?;
    expect_nowhere(&world, DEPLOY_SECRET)?;
    world.destroy()?;
    world.host.operator(&look)?.exited_with(5)?;
    Ok(())
}

/// Neither in the state, nor in a plan, nor in what the host has written.
fn expect_nowhere(world: &World, secret: &str) -> Result<()> {
    let state = world.config().join("terraform.tfstate");
    let kept = ["plan.json", "terraform.tfstate.backup"].map(|name| world.config().join(name));
    let data = fs::read_dir(world.host.data())?.map(|entry| Ok(entry?.path()));
    let data = data.collect::<Result<Vec<_>>>()?;
    for file in [state].into_iter().chain(kept).chain(data).filter(|file| file.is_file()) {
        let bytes = fs::read(&file)?;
        let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        ensure!(!is_there, "the secret is in {}", file.display());
    }
    ensure!(!world.host.log().contains(secret), "the secret is in the host's log");
    Ok(())
}
