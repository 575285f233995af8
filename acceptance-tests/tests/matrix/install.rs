//! The provider as a release delivers it: installed from a mirror, locked, and used.

use std::{fs, path::Path, process::Command};

use acceptance_tests::{cli::Cli, repository, run::run, world::World};
use anyhow::{Context, Result, ensure};

use crate::{
    life::sleepers,
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[story(
    "install::a_packed_provider_is_installed_from_a_mirror_locked_and_used",
    a_packed_provider_is_installed_locked_and_used,
)];

fn a_packed_provider_is_installed_locked_and_used(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let package = world.path().join("package");
    pack(&world, &package)?;
    world.install_from(&package.join("mirror"))?;
    world.configure(&sleepers(1))?;
    world.terraform(&["init", "-input=false"])?.succeeded()?;
    let lock = fs::read_to_string(world.config().join(".terraform.lock.hcl"))?;
    let hash = mirrored_hash(&package)?;
    ensure!(lock.contains(&hash), "the mirror's {hash} is not locked:\n{lock}");
    world.apply()?;
    world.expect_empty_plan("after an apply by the installed provider")?;
    world.terraform(&["init", "-input=false", "-lockfile=readonly"])?.succeeded()?;
    world.destroy()?;

    // Another archive of the same version is not what was locked.
    tamper(&package)?;
    fs::remove_dir_all(world.config().join(".terraform"))?;
    world.terraform(&["init", "-input=false"])?.exited_with(1)?.says(&["checksums"])?;
    Ok(())
}

/// Packs the provider under test.
fn pack(world: &World, package: &Path) -> Result<()> {
    let mut command = Command::new("python3");
    command.arg(repository().join("scripts/package.py"));
    let binary =
        format!("{}-unknown-linux-gnu={}", std::env::consts::ARCH, world.provider()?.display());
    command.args(["--binary", &binary, "--output"]).arg(package);
    run(command)?.succeeded().context("the provider can not be packed")?;
    Ok(())
}

/// The hash of the packed content, as the mirror's index tells it.
fn mirrored_hash(package: &Path) -> Result<String> {
    let index = find(&package.join("mirror"), "0.1.0.json")?;
    let index: serde_json::Value = serde_json::from_str(&fs::read_to_string(index)?)?;
    let archives = index["archives"].as_object().context("an index without archives")?;
    let hash = archives.values().next().and_then(|archive| archive["hashes"][0].as_str());
    Ok(hash.context("an archive without a hash")?.to_owned())
}

fn tamper(package: &Path) -> Result<()> {
    let script = "import sys, zipfile\n\
                  with zipfile.ZipFile(sys.argv[1], 'a') as z: z.writestr('extra', 'x')";
    let mirror = package.join("mirror");
    for registry in fs::read_dir(&mirror)? {
        let archive = find(&registry?.path(), ".zip")?;
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(archive);
        run(command)?.succeeded()?;
    }
    Ok(())
}

/// The first file below a folder whose name ends so.
fn find(folder: &Path, end: &str) -> Result<std::path::PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                return Ok(path);
            }
        }
    }
    anyhow::bail!("no file {end} below {}", folder.display())
}
