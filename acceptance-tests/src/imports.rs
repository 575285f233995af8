//! Each way to import, tried on a resource that Terraform has just forgotten.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::world::World;

/// The file of an import block; the configuration stands beside it.
const BLOCK: &str = "import.tf";

impl World {
    /// Forgets a resource and imports it by the command; then nothing is left to do.
    pub fn reimport(&self, address: &str, key: &str) -> Result<()> {
        let again = || -> Result<()> {
            self.terraform(&["state", "rm", address])?.succeeded()?;
            self.terraform(&["import", "-input=false", address, key])?.succeeded()?;
            self.expect_empty_plan("after the import")
        };
        again().with_context(|| format!("when `{address}` is imported as `{key}`"))
    }

    /// Forgets the resource that an import block names and imports it by the block; the plan changes
    /// nothing.
    pub fn reimport_by_block(&self, block: &str) -> Result<()> {
        let again = || -> Result<()> {
            self.terraform(&["state", "rm", imported(block)?])?.succeeded()?;
            fs::write(self.config().join(BLOCK), block)?;
            let planned = self.plan_step()?;
            if !planned.actions.is_empty() || !planned.drifted.is_empty() {
                let differences = self.kept_plan()?.differences();
                anyhow::bail!("the import changes something: {planned:?}\n{differences}");
            }
            self.apply_plan()?;
            fs::remove_file(self.config().join(BLOCK))?;
            self.expect_empty_plan("after the import")
        };
        again().with_context(|| format!("with\n{block}"))
    }
}

/// The address that an import block is for.
fn imported(block: &str) -> Result<&str> {
    let address = block.lines().find_map(|line| {
        let (argument, address) = line.split_once('=')?;
        (argument.trim() == "to").then(|| address.trim())
    });
    let address = address.context("the block has no `to`")?;
    ensure!(!address.contains(' '), "`{address}` is no address");
    Ok(address)
}
