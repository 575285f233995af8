//! Finds the programs under test, and builds those that are missing or older than their sources.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use anyhow::{Context, Result, ensure};

use crate::{repository, settings};

/// A program of the workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binary {
    name: &'static str,
    /// Its crate's folder and package.
    package: &'static str,
    /// Folders whose change makes it stale.
    sources: &'static [&'static str],
}

pub(crate) const DRIFTGATE: Binary =
    Binary { name: "driftgate", package: "analyzer", sources: &["analyzer"] };
pub(crate) const HOST: Binary =
    Binary { name: "runtimecloud", package: "host", sources: &["host", "proto"] };
pub(crate) const PROVIDER: Binary = Binary {
    name: "terraform-provider-runtimecloud",
    package: "provider",
    sources: &["provider", "proto"],
};

impl Binary {
    /// The program's path; looked for, and built where need be, once in a run.
    pub(crate) fn path(self) -> Result<PathBuf> {
        static FOUND: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = found.get(self.name) {
            return Ok(path.clone());
        }
        let path = self.find()?;
        found.insert(self.name, path.clone());
        Ok(path)
    }

    fn find(self) -> Result<PathBuf> {
        if let Some(dir) = settings::binaries() {
            let path = dir.join(self.name);
            ensure!(path.is_file(), "RUNTIMECLOUD_BIN_DIR holds no `{}`", self.name);
            return Ok(path);
        }
        let path = target()?.join(self.name);
        if self.is_stale(&path) {
            self.build()?;
        }
        Ok(path)
    }

    fn is_stale(self, path: &Path) -> bool {
        let Ok(built) = fs::metadata(path).and_then(|about| about.modified()) else { return true };
        let root = repository();
        self.sources.iter().any(|source| {
            newest(&root.join(source).join("src")).is_some_and(|changed| changed > built)
        })
    }

    fn build(self) -> Result<()> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--package", self.package, "--bin", self.name]);
        if target()?.ends_with("release") {
            cargo.arg("--release");
        }
        let status = cargo.current_dir(repository()).status().context("cannot run cargo")?;
        ensure!(status.success(), "`{}` does not build: run `cargo build`", self.name);
        Ok(())
    }
}

/// The folder of this build's binaries: a test runs as `target/PROFILE/deps/TEST`.
fn target() -> Result<PathBuf> {
    let test = env::current_exe().context("this test's own path is not known")?;
    let profile = test.parent().and_then(Path::parent);
    Ok(profile.context("this test does not run from a build folder")?.to_owned())
}

fn newest(dir: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    entries
        .filter_map(|entry| {
            let path = entry.path();
            if path.is_dir() { newest(&path) } else { entry.metadata().ok()?.modified().ok() }
        })
        .max()
}
