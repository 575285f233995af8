//! Writing edited files back.
//!
//! Each file is written beside the old one and then takes its place, so that no reader and no
//! crash ever meets half a file. Permissions stay; a link stays a link.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The files that were written, relative to the configuration's root.
#[derive(Debug)]
pub struct Written(pub Vec<String>);

impl Written {
    /// Writes the new texts of files, by path relative to `root`.
    pub fn write(root: &Path, edited: &BTreeMap<String, String>) -> io::Result<Self> {
        let mut written = Vec::new();
        for (path, text) in edited {
            let target = root.join(path).canonicalize()?;
            if fs::read(&target)? == text.as_bytes() {
                continue;
            }
            replace(&target, text)?;
            written.push(path.clone());
        }
        Ok(Self(written))
    }
}

/// Writes a file as a whole, whether it is there already or not: no reader and no crash ever meets
/// half of it.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let target = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        other => other?,
    };
    replace(&target, text)
}

fn replace(target: &Path, text: &str) -> io::Result<()> {
    let beside = beside(target);
    let permissions = match fs::metadata(target) {
        Ok(metadata) => Some(metadata.permissions()),
        Err(_) => None,
    };
    let outcome = fs::write(&beside, text)
        .and_then(|()| permissions.map_or(Ok(()), |it| fs::set_permissions(&beside, it)))
        .and_then(|()| fs::File::open(&beside)?.sync_all())
        .and_then(|()| fs::rename(&beside, target));
    if outcome.is_err() {
        // Best effort: the error that matters is the first one.
        drop(fs::remove_file(&beside));
    }
    outcome
}

fn beside(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    target.with_file_name(name)
}
