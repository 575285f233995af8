//! Every folder under `examples/` is a configuration that applies, stays clean and is destroyed.

use std::{fs, path::Path};

use acceptance_tests::{cli::Cli, examples, repository, world::World};
use anyhow::{Result, ensure};

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
    world.destroy()
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
