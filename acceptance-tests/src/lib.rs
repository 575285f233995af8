//! The world that the acceptance tests run in: the three programs as processes, and a real
//! Terraform or OpenTofu.
//!
//! What is under test runs as a process. Linked are the messages (`proto`), and of the provider's
//! library its values, schemas and restated rules of Terraform, for the [`simulator`].
//! Each world has a folder, a host and a port of its own, so that tests run side by side; when it is
//! dropped, also by a panic, no process of it is left.

mod binaries;
pub mod case;
pub mod cli;
pub mod feature;
pub mod host;
mod imports;
pub mod plan;
pub mod processes;
pub mod run;
pub mod settings;
pub mod simulator;
pub mod world;

use std::path::{Path, PathBuf};

/// The repository's top folder.
pub fn repository() -> &'static Path {
    const CRATE: &str = env!("CARGO_MANIFEST_DIR");
    Path::new(CRATE).parent().unwrap_or(Path::new("/"))
}

/// The sub-folders of a folder, sorted; none when it does not exist.
pub fn folders(parent: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// Every folder under `examples/` that is a configuration: those that hold no other folder.
pub fn examples() -> Vec<PathBuf> {
    fn leaves(dir: PathBuf) -> Vec<PathBuf> {
        let inner = folders(&dir);
        if inner.is_empty() { vec![dir] } else { inner.into_iter().flat_map(leaves).collect() }
    }
    let is_configuration = |dir: &PathBuf| {
        let mut files = std::fs::read_dir(dir).into_iter().flatten().flatten();
        files.any(|file| file.path().extension().is_some_and(|ext| ext == "tf" || ext == "hcl"))
    };
    let all = folders(&repository().join("examples")).into_iter().flat_map(leaves);
    all.filter(is_configuration).collect()
}
