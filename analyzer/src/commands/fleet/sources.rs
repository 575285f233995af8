//! Finds the files of a fleet.
//!
//! - Folders are walked to their end, hidden ones left out. Links to folders are not followed, so
//!   a walk always ends; links to files are.
//! - Pipes and devices are never opened because they lie in a folder, only when they are named.
//! - What cannot be looked into is an item of its own: it is to be reported, not passed over.

use crate::cli::Fleet;
use anyhow::{Context as _, ensure};
use driftgate::fleet::workspace_of;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One file to read.
pub(super) struct Item {
    /// What the workspace is called, unless the file says.
    pub(super) name: String,
    pub(super) place: Place,
}

/// Where it is.
pub(super) enum Place {
    Plan(PathBuf),
    /// What `driftgate check --format json` wrote.
    Result(PathBuf),
    /// It cannot be looked into, for this reason.
    Lost(String),
}

/// Everything that the arguments name.
pub(super) fn find(arguments: &Fleet) -> anyhow::Result<Vec<Item>> {
    let mut search = Search { items: Vec::new(), max: arguments.max_files };
    for source in &arguments.sources {
        search.source(Path::new(source), Place::Plan)?;
    }
    if let Some(list) = &arguments.list {
        for source in read_list(list)? {
            search.source(Path::new(&source), Place::Plan)?;
        }
    }
    for folder in &arguments.results {
        search.source(folder, Place::Result)?;
    }
    Ok(search.items)
}

/// One source on each line; empty lines and those that begin with `#` say nothing.
fn read_list(list: &Path) -> anyhow::Result<Vec<String>> {
    let text = if list == Path::new("-") {
        io::read_to_string(io::stdin().lock())
    } else {
        fs::read_to_string(list)
    };
    let text = text.with_context(|| format!("failed to read the list {}", list.display()))?;
    let lines = text.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(Into::into).collect())
}

struct Search {
    items: Vec<Item>,
    max: usize,
}

impl Search {
    fn source(&mut self, path: &Path, place: fn(PathBuf) -> Place) -> anyhow::Result<()> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.walk(path, place),
            // Whoever names a file means it, whatever it is called.
            Ok(_) => self.add(&path.to_string_lossy(), place(path.to_owned())),
            Err(error) => self.lose(&path.to_string_lossy(), &error),
        }
    }

    fn walk(&mut self, root: &Path, place: fn(PathBuf) -> Place) -> anyhow::Result<()> {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.lose(&folder.to_string_lossy(), &error)?;
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.lose(&folder.to_string_lossy(), &error)?;
                        break;
                    }
                };
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_hidden(&path) => folders.push(path),
                    Ok(kind) if kind.is_file() || kind.is_symlink() && path.is_file() => {
                        if is_wanted(&path) {
                            let inner = path.strip_prefix(root).unwrap_or(&path);
                            self.add(&inner.to_string_lossy(), place(path.clone()))?;
                        }
                    }
                    // A link to nowhere: what it stood for is not known.
                    Ok(kind) if kind.is_symlink() && is_wanted(&path) && !path.exists() => {
                        let error = io::Error::new(io::ErrorKind::NotFound, "a link to nowhere");
                        self.lose(&path.to_string_lossy(), &error)?;
                    }
                    Ok(_) => {}
                    Err(error) => self.lose(&path.to_string_lossy(), &error)?,
                }
            }
        }
        Ok(())
    }

    fn lose(&mut self, path: &str, error: &io::Error) -> anyhow::Result<()> {
        self.add(path, Place::Lost(error.to_string()))
    }

    fn add(&mut self, path: &str, place: Place) -> anyhow::Result<()> {
        let max = self.max;
        ensure!(self.items.len() < max, "there are more than {max} files; raise --max-files");
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        self.items.push(Item { name: workspace_of(&path), place });
        Ok(())
    }
}

fn is_wanted(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(".json") || name.ends_with(".json.gz")
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}
