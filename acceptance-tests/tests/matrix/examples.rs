//! Every folder under `examples/` is a configuration that applies, stays clean and is destroyed.

use std::{fs, path::Path};

use acceptance_tests::{
    cli::Cli,
    examples, repository,
    world::{Refresh, World},
};
use anyhow::{Context, Result, ensure};

use crate::Story;

pub(crate) fn stories() -> Vec<(String, Story)> {
    let top = repository().join("examples");
    examples()
        .into_iter()
        .map(|dir| {
            let name = format!("example::{}", dir.strip_prefix(&top).unwrap_or(&dir).display());
            (name, Box::new(move |cli: &Cli| run(&dir, cli)) as Story)
        })
        .collect()
}

fn run(dir: &Path, cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let files = configuration(dir)?;
    ensure!(!files.is_empty(), "no `.tf` file in {}", dir.display());
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    world.configure_files(&files)?;
    world.apply()?;
    world.expect_empty_plan("after the apply")?;
    if dir.join("import.sh").is_file() {
        import(&world, &dir.join("import.sh"))?;
    }
    world.destroy()
}

/// Runs the one command of an `import.sh` on a state that has lost what it imports.
fn import(world: &World, script: &Path) -> Result<()> {
    let text = fs::read_to_string(script)?;
    let command = text.lines().find_map(|line| line.strip_prefix("terraform import "));
    let words = command.context("no `terraform import` in the example")?.split_once(' ');
    let (address, key) = words.context("an import names an address and a key")?;
    world.terraform(&["state", "rm", address])?.succeeded()?;
    world.terraform(&["import", "-input=false", address, key])?.succeeded()?;
    // Time limits are nobody's but the configuration's: an import can not find them.
    let differences = world.plan(Refresh::Yes)?.differences();
    let others: Vec<&str> =
        differences.lines().filter(|line| !line.contains(" timeouts: ")).collect();
    ensure!(others.is_empty(), "after the import of `{address}` a plan changes {others:?}");
    world.apply()?;
    world.expect_empty_plan("after the import")
}

fn configuration(dir: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tf") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    Ok(files)
}
