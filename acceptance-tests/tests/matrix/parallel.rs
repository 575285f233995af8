//! Many applies at a time, each with a state of its own, on one host.

use std::{fs, path::PathBuf};

use acceptance_tests::{
    cli::Cli,
    run::{Ran, Running},
    world::World,
};
use anyhow::{Context, Result, ensure};

use crate::{
    life::GROUND,
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[
    story("parallel::ten_applies_of_what_they_share_and_of_their_own", of_their_own),
    story("parallel::ten_applies_of_the_same_change", of_the_same_change),
];

const APPLIES: usize = 10;
const APPLY: &[&str] = &["apply", "-auto-approve", "-input=false"];

/// The quota that all share.
fn quota(workers: usize) -> String {
    format!(
        r#"
resource "runtimecloud_quota" "team" {{
  name   = "team"
  limits = {{ workers = {{ hard = {workers} }} }}
}}
"#
    )
}

/// What one apply makes: an environment with a pool, and a pool in the one that all share.
fn own(number: usize, size: usize) -> String {
    format!(
        r#"
resource "runtimecloud_environment" "own" {{
  name  = "own-{number}"
  quota = "team"
}}

resource "runtimecloud_worker_pool" "own" {{
  name        = "work"
  environment = runtimecloud_environment.own.name
  size        = {size}
  worker      = {{ command = ["sleep", "3600"] }}
}}

resource "runtimecloud_worker_pool" "shared" {{
  name        = "work-{number}"
  environment = "dev"
  size        = {size}
  worker      = {{ command = ["sleep", "3600"] }}
}}
"#
    )
}

/// Runs something in each folder, at the same time; each must succeed.
fn all(world: &World, dirs: &[PathBuf], arguments: &[&str]) -> Result<Vec<Ran>> {
    let begin = |dir: &PathBuf| world.begin_terraform_in(dir, arguments);
    let running: Vec<Running> = dirs.iter().map(begin).collect::<Result<_>>()?;
    let ended = |running: Running| running.wait()?.succeeded();
    running.into_iter().map(ended).collect::<Result<_>>().with_context(|| world.host.log())
}

/// Lays out a folder for each apply.
fn lay_out(world: &World, text: impl Fn(usize) -> String) -> Result<Vec<PathBuf>> {
    let lay = |number: usize| -> Result<PathBuf> {
        let dir = world.path().join(format!("apply-{number}"));
        fs::create_dir_all(&dir)?;
        world.configure_in(&dir, &[("main.tf", text(number))])?;
        Ok(dir)
    };
    (0..APPLIES).map(lay).collect()
}

fn of_their_own(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let ground = GROUND.replace("name       = \"dev\"", "name = \"dev\"\n  quota = \"team\"");
    let ground = ground.replace("[runtimecloud", "[runtimecloud_quota.team, runtimecloud");
    world.configure(&(ground + &quota(4 * APPLIES)))?;
    world.apply()?;
    for size in [1, 2] {
        let dirs = lay_out(&world, |number| own(number, size))?;
        all(&world, &dirs, APPLY)?;
        for ran in all(&world, &dirs, &["plan", "-input=false"])? {
            ran.says(&["No changes."])?;
        }
        let workers = world.workers().len();
        ensure!(workers == 2 * APPLIES * size, "{workers} workers with pools of {size}");
    }
    let dirs = lay_out(&world, |number| own(number, 2))?;
    all(&world, &dirs, &["destroy", "-auto-approve", "-input=false"])?;
    world.destroy()
}

fn of_the_same_change(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    world.configure(&quota(1))?;
    world.apply()?;
    let dirs = lay_out(&world, |_| quota(1))?;
    all(&world, &dirs, &["import", "-input=false", "runtimecloud_quota.team", "team"])?;
    let dirs = lay_out(&world, |_| quota(7))?;
    all(&world, &dirs, &["plan", "-input=false", "-out=plan.bin"])?;
    all(&world, &dirs, &["apply", "-input=false", "plan.bin"])?;
    for ran in all(&world, &dirs, &["plan", "-input=false"])? {
        ran.says(&["No changes."])?;
    }
    all(&world, &dirs, &["destroy", "-auto-approve", "-input=false"])?;
    Ok(())
}
