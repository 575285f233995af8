//! A configuration on disk.
//!
//! What lies outside the folder is never read: a patch could not change it either.

use super::configuration::{Configuration, Storage};
use std::{fs, io, path::Path};

impl Configuration {
    /// Reads the root module and all local modules below it.
    pub fn load(root: &Path) -> io::Result<Self> {
        Self::from_storage(&Disk { root })
    }
}

struct Disk<'a> {
    root: &'a Path,
}

impl Storage for Disk<'_> {
    type Error = io::Error;

    fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join(folder))? {
            let entry = entry?;
            // A name that is no text cannot stand in a patch.
            if let Some(name) = entry.file_name().to_str()
                && !entry.file_type()?.is_dir()
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.root.join(path).is_dir()
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let path = self.root.join(path);
        let unreadable = |error: io::Error| format!("it cannot be read: {error}");
        // A named pipe would keep us waiting.
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err("it is not a file".to_owned());
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())
    }
}
