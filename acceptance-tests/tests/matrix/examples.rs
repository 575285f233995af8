//! Every folder under `examples/` is a configuration that applies, stays clean and is destroyed.

use std::{fs, path::Path};

use acceptance_tests::{
    cli::Cli,
    examples,
    feature::{ACTIONS, EPHEMERAL, FUNCTIONS, Feature, IDENTITY, QUERY, Release, WRITE_ONLY},
    repository,
    world::World,
};
use anyhow::{Context, Result, ensure};

use crate::story::{Story, Told, lacks};

/// What the examples in a folder need.
const NEEDS: &[(&str, Feature)] = &[
    ("actions", ACTIONS),
    ("data-sources/runtimecloud_event_subscription", WRITE_ONLY),
    ("data-sources/runtimecloud_event_subscriptions", WRITE_ONLY),
    ("data-sources/runtimecloud_service_account_token", WRITE_ONLY),
    ("ephemeral-resources", EPHEMERAL),
    ("functions", FUNCTIONS),
    ("list-resources", QUERY),
    ("resources/runtimecloud_event_subscription", WRITE_ONLY),
    ("resources/runtimecloud_service_account_token", WRITE_ONLY),
];
/// Import blocks; each is tried after the rest.
const IMPORT_BLOCKS: &[&str] = &["import-by-identity.tf", "import-by-string-id.tf"];

pub(crate) fn stories(release: Option<Release>) -> Vec<Told> {
    let top = repository().join("examples");
    let told = |dir: std::path::PathBuf| {
        let path = dir.strip_prefix(&top).unwrap_or(&dir);
        let needs = NEEDS.iter().find(|(folder, _)| path.starts_with(folder));
        Told {
            name: format!("example::{}", path.display()),
            lacks: needs.and_then(|(_, feature)| lacks(release, *feature)),
            story: Box::new(move |cli: &Cli| run(&dir, cli)) as Story,
        }
    };
    examples().into_iter().map(told).collect()
}

fn run(dir: &Path, cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let files = configuration(dir)?;
    ensure!(!files.is_empty(), "no configuration in {}", dir.display());
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    world.configure_files(&files)?;
    world.apply()?;
    world.expect_empty_plan("after the apply")?;
    if files.iter().any(|(name, _)| name.ends_with(".tfquery.hcl")) {
        world.terraform(&["query"])?.succeeded()?;
    }
    if dir.join("import.sh").is_file() {
        import(&world, &dir.join("import.sh"))?;
    }
    for block in IMPORT_BLOCKS.iter().map(|name| dir.join(name)).filter(|file| file.is_file()) {
        let text = fs::read_to_string(&block)?;
        if cli.has(IDENTITY) || !text.contains("identity") {
            world.reimport_by_block(&text)?;
        }
    }
    world.destroy()
}

/// Runs the one command of an `import.sh` on a state that has lost what it imports.
fn import(world: &World, script: &Path) -> Result<()> {
    let text = fs::read_to_string(script)?;
    let command = text.lines().find_map(|line| line.strip_prefix("terraform import "));
    let words = command.context("no `terraform import` in the example")?.split_once(' ');
    let (address, key) = words.context("an import names an address and a key")?;
    world.reimport(address, key)
}

fn configuration(dir: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_configuration = name.ends_with(".tf") || name.ends_with(".tfquery.hcl");
        if is_configuration && !IMPORT_BLOCKS.contains(&name.as_str()) {
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    Ok(files)
}
