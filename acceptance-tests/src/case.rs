//! A case as data: a folder of numbered configurations and what is expected of them.
//!
//! `expect.txt` holds sections. One named as a configuration lists what the plan of that step does,
//! an action and an address a line; the section `import` lists an address and the name under which it
//! is imported. Lines that begin with `#` are comments.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    cli::Cli,
    plan::{Action, Actions},
    world::{Refresh, World},
};

/// A folder under `acceptance-tests/cases`, read.
#[derive(Debug)]
pub struct Case {
    /// File name and text, in order.
    steps: Vec<(String, String)>,
    expected: BTreeMap<String, Actions>,
    /// Addresses and the names they are imported by.
    imports: Vec<(String, String)>,
}

impl Case {
    pub fn read(dir: &Path) -> Result<Self> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "tf"));
        files.sort();
        let read = |file: PathBuf| -> Result<(String, String)> {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, fs::read_to_string(&file)?))
        };
        let steps = files.into_iter().map(read).collect::<Result<_>>()?;
        let mut case = Self { steps, expected: BTreeMap::new(), imports: Vec::new() };
        let file = dir.join("expect.txt");
        let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
        case.parse_expected(&text).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(case)
    }

    fn parse_expected(&mut self, text: &str) -> Result<()> {
        let mut section = "";
        let lines = text.lines().map(str::trim_end);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if !line.starts_with(' ') {
                section = line;
                let known =
                    section == "import" || self.steps.iter().any(|(name, _)| name == section);
                ensure!(known, "`{section}` is neither a step nor `import`");
                continue;
            }
            let (first, second) =
                line.trim().split_once(' ').with_context(|| format!("`{line}` is one word"))?;
            if section == "import" {
                self.imports.push((first.to_owned(), second.to_owned()));
            } else {
                let action =
                    Action::parse(first).with_context(|| format!("no action: `{first}`"))?;
                let step = self.expected.entry(section.to_owned()).or_default();
                step.insert(second.to_owned(), action);
            }
        }
        Ok(())
    }

    /// Runs the whole life of the case.
    pub fn run(&self, cli: &Cli) -> Result<()> {
        let world = World::new(cli)?;
        for (step, text) in &self.steps {
            self.step(&world, step, text).with_context(|| format!("in step {step}"))?;
        }
        for (address, name) in &self.imports {
            let id = world.attribute(address, "id")?;
            for key in [name, &id] {
                import(&world, address, key)
                    .with_context(|| format!("when `{address}` is imported as `{key}`"))?;
            }
        }
        world.destroy()
    }

    fn step(&self, world: &World, step: &str, text: &str) -> Result<()> {
        world.configure(text)?;
        let planned = world.plan(Refresh::Yes)?;
        let expected = self.expected.get(step).cloned().unwrap_or_default();
        let actions = planned.actions()?;
        if actions != expected {
            bail!("planned {actions:?}, expected {expected:?}\n{}", planned.differences());
        }
        world.apply()?;
        world.expect_empty_plan("after the apply")
    }
}

fn import(world: &World, address: &str, key: &str) -> Result<()> {
    world.terraform(&["state", "rm", address])?.succeeded()?;
    world.terraform(&["import", "-input=false", address, key])?.succeeded()?;
    world.expect_empty_plan("after the import")
}
