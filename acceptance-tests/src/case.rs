//! A case as data: a folder of numbered configurations and what is expected of them.
//!
//! A step is a file `N_NAME.tf`; a file `N_NAME.tfquery.hcl` is laid beside it.

pub mod expect;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use self::expect::{Expected, Import, Key, Run, Step};
use crate::{cli::Cli, feature::Release, run::expect_said, world::World};

/// A folder under `acceptance-tests/cases`, read.
#[derive(Debug)]
pub struct Case {
    dir: PathBuf,
    /// Names of the steps, in order.
    steps: Vec<String>,
    expected: Expected,
}

impl Case {
    pub fn read(dir: &Path) -> Result<Self> {
        let mut steps = Vec::new();
        for entry in fs::read_dir(dir)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|extension| extension == "tf") {
                steps.push(name);
            }
        }
        steps.sort();
        let file = dir.join("expect.txt");
        let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
        let names: Vec<&str> = steps.iter().map(String::as_str).collect();
        let expected = Expected::parse(&text, &names)
            .with_context(|| format!("cannot use {}", file.display()))?;
        Ok(Self { dir: dir.to_owned(), steps, expected })
    }

    /// What a command line must have for any step of the case; none: it can run some.
    pub fn lacks(&self, release: Release) -> Option<String> {
        let runs = self.steps.iter().any(|step| self.expected.step(step, release).is_some());
        let names = || self.expected.needs().iter().map(|need| need.name).collect::<Vec<_>>();
        (!runs).then(|| names().join(" and "))
    }

    /// Runs the whole life of the case.
    pub fn run(&self, cli: &Cli) -> Result<()> {
        let world = World::new(cli)?;
        let mut applied = None;
        for name in &self.steps {
            if let Some(step) = self.expected.step(name, cli.release) {
                self.step(&world, (name, &step)).with_context(|| format!("in step {name}"))?;
                if step.fails.is_empty() {
                    applied = Some(name);
                }
            }
        }
        // What comes next needs a configuration that the command line can read.
        match applied {
            Some(name) => self.configure(&world, name)?,
            None => return Ok(()),
        }
        for Import { address, by } in self.expected.imports(cli.release) {
            match by {
                Key::Name(name) => {
                    world.reimport(address, name)?;
                    let id = world.attribute(address, "id")?;
                    world.reimport_by_block(&block(address, &format!("id = \"{id}\"")))?;
                }
                Key::Identity(pairs) => {
                    world.reimport_by_block(&block(address, &identity(pairs)))?;
                }
            }
        }
        world.destroy()
    }

    fn configure(&self, world: &World, name: &str) -> Result<()> {
        let mut files = vec![("main.tf", fs::read_to_string(self.dir.join(name))?)];
        let query = self.dir.join(name.replace(".tf", ".tfquery.hcl"));
        if query.is_file() {
            files.push(("main.tfquery.hcl", fs::read_to_string(query)?));
        }
        world.configure_files(&files)
    }

    fn step(&self, world: &World, (name, step): (&str, &Step)) -> Result<()> {
        self.configure(world, name)?;
        if !step.fails.is_empty() {
            let failed = world.terraform(&["plan", "-input=false"])?.exited_with(1)?;
            failed.says(&texts(&step.fails))?;
            return Ok(());
        }
        let planned = world.plan_step()?;
        expect_said(&planned.said, &texts(&step.says))?;
        if planned.actions != step.actions {
            let differences = world.kept_plan()?.differences();
            anyhow::bail!(
                "planned {:?}, expected {:?}\n{differences}",
                planned.actions,
                step.actions
            );
        }
        world.apply_plan()?;
        world.expect_empty_plan("after the apply")?;
        for (output, value) in &step.outputs {
            let shown = world.show()?["values"]["outputs"][output]["value"].clone();
            ensure!(shown == *value, "the output `{output}` is {shown}, expected {value}");
        }
        for (address, path, value) in &step.values {
            let shown = world.value(address, path)?;
            ensure!(shown == *value, "`{address}` has {path} {shown}, expected {value}");
        }
        step.runs.iter().try_for_each(|command| run(world, command))
    }
}

fn run(world: &World, command: &Run) -> Result<()> {
    let ran = world.terraform(&texts(&command.arguments))?;
    let ran = if command.fails.is_empty() { ran.succeeded()? } else { ran.exited_with(1)? };
    ran.says(&texts(&command.says))?.says(&texts(&command.fails))?;
    Ok(())
}

fn block(address: &str, argument: &str) -> String {
    format!("import {{\n  to = {address}\n  {argument}\n}}\n")
}

/// The argument of an import block.
fn identity(pairs: &[(String, String)]) -> String {
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("identity = {{\n    {}\n  }}", pairs.join("\n    "))
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
