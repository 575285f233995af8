//! Writing edited files back.
//!
//! - Each file is written beside the old one and then takes its place, so that no reader and no
//!   crash ever meets half a file. Permissions stay; a link stays a link.
//! - All files or none: nothing takes its place before all are written, and what did is put back
//!   when a later one cannot.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The files that were written, relative to the configuration's root.
#[derive(Debug)]
pub struct Written(pub Vec<String>);

/// A new text that waits beside its file.
struct Staged {
    target: PathBuf,
    beside: PathBuf,
    old: Vec<u8>,
}

impl Written {
    /// Writes the new texts of files, by path relative to `root`.
    pub fn write(root: &Path, edited: &BTreeMap<String, String>) -> io::Result<Self> {
        let mut written = Vec::new();
        let mut staged = Vec::new();
        for (path, text) in edited {
            match stage(&root.join(path), text) {
                Ok(Some(file)) => {
                    staged.push(file);
                    written.push(path.clone());
                }
                Ok(None) => {}
                Err(error) => {
                    discard(&staged);
                    return Err(error);
                }
            }
        }
        for (at, file) in staged.iter().enumerate() {
            if let Err(error) = fs::rename(&file.beside, &file.target) {
                discard(&staged[at..]);
                for done in &staged[..at] {
                    // Best effort: the error that matters is the first one.
                    let text = String::from_utf8_lossy(&done.old);
                    if let Ok(Some(back)) = stage(&done.target, &text) {
                        drop(fs::rename(&back.beside, &back.target));
                    }
                }
                return Err(error);
            }
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
    let beside = beside(&target);
    let permissions = fs::metadata(&target).ok().map(|it| it.permissions());
    let outcome =
        write_beside(&beside, text, permissions).and_then(|()| fs::rename(&beside, &target));
    if outcome.is_err() {
        // Best effort: the error that matters is the first one.
        drop(fs::remove_file(&beside));
    }
    outcome
}

fn write_beside(beside: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    fs::write(beside, text)?;
    permissions.map_or(Ok(()), |it| fs::set_permissions(beside, it))?;
    fs::File::open(beside)?.sync_all()
}

/// Writes a text beside its file; `None` when the file says that already.
fn stage(path: &Path, text: &str) -> io::Result<Option<Staged>> {
    let target = path.canonicalize()?;
    let old = fs::read(&target)?;
    if old == text.as_bytes() {
        return Ok(None);
    }
    let staged = Staged { beside: beside(&target), target, old };
    let permissions = Some(fs::metadata(&staged.target)?.permissions());
    let outcome = write_beside(&staged.beside, text, permissions);
    match outcome {
        Ok(()) => Ok(Some(staged)),
        Err(error) => {
            discard(&[staged]);
            Err(error)
        }
    }
}

fn discard(staged: &[Staged]) {
    for file in staged {
        // Best effort: what remains is a file nobody reads.
        drop(fs::remove_file(&file.beside));
    }
}

fn beside(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    target.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_files_all_are_written_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::write(root.join("a.tf"), "a").expect("a file");
        fs::create_dir(root.join("b.tf")).expect("a folder");
        let edited = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), "new".to_owned())).collect()
        };
        Written::write(root, &edited(&["a.tf", "b.tf"])).expect_err("a folder is no file");
        assert_eq!(fs::read_to_string(root.join("a.tf")).expect("a file"), "a");
        let names: Vec<_> = fs::read_dir(root).expect("a folder").collect();
        assert_eq!(names.len(), 2, "{names:?}");
        let Written(files) = Written::write(root, &edited(&["a.tf"])).expect("a file");
        assert_eq!(files, ["a.tf"]);
    }
}
