//! The command lines of the matrix: each version of Terraform that a run asks for, and OpenTofu.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    feature::{Family, Feature, Release},
    host, repository,
    run::run,
    settings,
};

/// A real command line, ready to run.
#[derive(Debug, Clone)]
pub struct Cli {
    /// For people, such as `terraform 1.15.5`.
    pub name: String,
    pub path: PathBuf,
    pub release: Release,
}

impl Cli {
    pub fn has(&self, feature: Feature) -> bool {
        self.release.has(feature)
    }
}

/// One column of the matrix.
#[derive(Debug, Clone)]
pub struct Leg {
    /// Fit for a test's name, such as `terraform-1.15.5`.
    pub name: String,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Terraform { version: String, release: Release },
    Tofu { path: PathBuf, release: Release },
    Missing { why: String },
}

/// All legs, in the order in which they were asked for. Fetches nothing.
pub fn matrix() -> Result<Vec<Leg>> {
    let mut legs = Vec::new();
    for version in settings::terraform_versions() {
        let release = Release::parse(Family::Terraform, &version)?;
        let name = format!("terraform-{version}");
        legs.push(Leg { name, source: Source::Terraform { version, release } });
    }
    let source = match settings::tofu() {
        Some(path) => Source::Tofu { release: release_of_tofu(&path)?, path },
        None => Source::Missing { why: "no `tofu` on PATH or in RUNTIMECLOUD_TOFU".to_owned() },
    };
    legs.push(Leg { name: "tofu".to_owned(), source });
    Ok(legs)
}

fn release_of_tofu(path: &Path) -> Result<Release> {
    let mut command = host::command(path);
    command.args(["version", "-json"]);
    let said: Value = serde_json::from_str(&run(command)?.succeeded()?.stdout)?;
    Release::parse(Family::Tofu, said["terraform_version"].as_str().unwrap_or_default())
}

impl Leg {
    /// Why this leg can not run on this machine, if so.
    pub fn skipped(&self) -> Option<&str> {
        match &self.source {
            Source::Terraform { .. } | Source::Tofu { .. } => None,
            Source::Missing { why } => Some(why),
        }
    }

    /// None: it is not on this machine.
    pub fn release(&self) -> Option<Release> {
        match &self.source {
            Source::Terraform { release, .. } | Source::Tofu { release, .. } => Some(*release),
            Source::Missing { .. } => None,
        }
    }

    /// The command line; fetches it when it is not there yet.
    pub fn cli(&self) -> Result<Cli> {
        match &self.source {
            Source::Terraform { version, .. } => terraform(version),
            Source::Tofu { path, release } => {
                Ok(Cli { name: "tofu".to_owned(), path: path.clone(), release: *release })
            }
            Source::Missing { why } => anyhow::bail!("{why}"),
        }
    }
}

/// Terraform of a version, from PATH or fetched; looked for once in a run.
pub fn terraform(version: &str) -> Result<Cli> {
    static FOUND: Mutex<BTreeMap<String, Cli>> = Mutex::new(BTreeMap::new());
    let known = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(version).cloned();
    // Side by side, so that one version does not wait for another one to be fetched.
    let cli = found.map_or_else(|| find_terraform(version), Ok)?;
    known().insert(version.to_owned(), cli.clone());
    Ok(cli)
}

fn find_terraform(version: &str) -> Result<Cli> {
    let script = repository().join("scripts/terraform.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(version);
    let ran = run(command)?.succeeded().context("cannot get Terraform")?;
    let path = PathBuf::from(ran.stdout.trim());
    ensure!(path.is_file(), "scripts/terraform.py named `{}`, which is no file", path.display());
    let release = Release::parse(Family::Terraform, version)?;
    Ok(Cli { name: format!("terraform {version}"), path, release })
}
