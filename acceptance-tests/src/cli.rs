//! The command lines of the matrix: each version of Terraform that a run asks for, and OpenTofu.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use crate::{repository, run::run, settings};

/// A real command line, ready to run.
#[derive(Debug, Clone)]
pub struct Cli {
    /// For people, such as `terraform 1.15.5`.
    pub name: String,
    pub path: PathBuf,
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
    Terraform { version: String },
    Tofu(PathBuf),
    Missing { why: String },
}

/// All legs, in the order in which they were asked for. Fetches nothing.
pub fn matrix() -> Vec<Leg> {
    let terraform = settings::terraform_versions().into_iter().map(|version| Leg {
        name: format!("terraform-{version}"),
        source: Source::Terraform { version },
    });
    let tofu = match settings::tofu() {
        Some(path) => Source::Tofu(path),
        None => Source::Missing { why: "no `tofu` on PATH or in RUNTIMECLOUD_TOFU".to_owned() },
    };
    terraform.chain([Leg { name: "tofu".to_owned(), source: tofu }]).collect()
}

impl Leg {
    /// Why this leg can not run on this machine, if so.
    pub fn skipped(&self) -> Option<&str> {
        match &self.source {
            Source::Terraform { .. } | Source::Tofu(_) => None,
            Source::Missing { why } => Some(why),
        }
    }

    /// The command line; fetches it when it is not there yet.
    pub fn cli(&self) -> Result<Cli> {
        match &self.source {
            Source::Terraform { version } => terraform(version),
            Source::Tofu(path) => Ok(Cli { name: "tofu".to_owned(), path: path.clone() }),
            Source::Missing { why } => anyhow::bail!("{why}"),
        }
    }
}

/// Terraform of a version, from PATH or fetched.
pub fn terraform(version: &str) -> Result<Cli> {
    let script = repository().join("scripts/terraform.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(version);
    let ran = run(command)?.succeeded().context("cannot get Terraform")?;
    let path = PathBuf::from(ran.stdout.trim());
    ensure!(path.is_file(), "scripts/terraform.py named `{}`, which is no file", path.display());
    Ok(Cli { name: format!("terraform {version}"), path })
}
