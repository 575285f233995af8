//! The pages as files.

use super::{Examples, FOLDERS, pages};
use crate::framework::Provider;
use anyhow::{Context, Result};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Reads examples from `folder`.
pub fn examples_in(folder: &Path) -> impl Fn(&str) -> Option<String> {
    move |path| fs::read_to_string(folder.join(path)).ok()
}

/// Writes all pages below `folder`, and removes what no longer has a source.
pub fn write<P: Provider>(provider: &P, examples: Examples<'_>, folder: &Path) -> Result<()> {
    for (path, text) in pages(provider, examples) {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    for file in leftovers(provider, examples, folder) {
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(())
}

/// The files below `folder` that are not what [`write()`] would write, or too many.
pub fn differences<P: Provider>(
    provider: &P,
    examples: Examples<'_>,
    folder: &Path,
) -> BTreeSet<PathBuf> {
    let stale = pages(provider, examples).into_iter().filter_map(|(path, text)| {
        let file = folder.join(path);
        (fs::read_to_string(&file).ok().as_deref() != Some(&text)).then_some(file)
    });
    stale.chain(leftovers(provider, examples, folder)).collect()
}

fn leftovers<P: Provider>(
    provider: &P,
    examples: Examples<'_>,
    folder: &Path,
) -> BTreeSet<PathBuf> {
    let wanted: BTreeSet<PathBuf> =
        pages(provider, examples).into_keys().map(|path| folder.join(path)).collect();
    let files = FOLDERS.iter().filter_map(|name| fs::read_dir(folder.join(name)).ok()).flatten();
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|file| !wanted.contains(file)).collect()
}
