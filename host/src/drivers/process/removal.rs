//! Deletes what forgotten workers left, on a thread of its own: it may be much, and it may be in the way
//! of nothing else.
//!
//! What can not be deleted is told in the log and tried again when the driver is opened the next time.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::mpsc::{self, Sender},
    thread,
};

use jiff::Timestamp;

use crate::ids::WorkerId;

const EXTENSION: &str = "removed";

/// Where a worker's folder is moved to before it is deleted: always a new name.
pub(super) fn path(workers: &Path, id: WorkerId) -> PathBuf {
    workers.join(format!(".{id}.{}.{EXTENSION}", Timestamp::now().as_nanosecond()))
}

/// Starts the thread, which ends with the sender. It begins with what earlier ones did not finish.
pub(super) fn start(workers: &Path) -> io::Result<Sender<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(workers)? {
        let path = entry?.path();
        left.extend(path.extension().is_some_and(|it| it == EXTENSION).then_some(path));
    }
    let (sender, inbox) = mpsc::channel::<PathBuf>();
    let delete = move || {
        for path in left.into_iter().chain(inbox) {
            if let Err(error) = delete(&path) {
                let path = path.display();
                tracing::warn!(%path, %error, "a forgotten worker's folder can not be deleted");
            }
        }
    };
    thread::Builder::new().name("removal".to_owned()).spawn(delete)?;
    Ok(sender)
}

/// A worker may have taken from its folders the permissions that it takes to delete what is in them.
fn delete(path: &Path) -> io::Result<()> {
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    open_up(path);
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Whether it worked shows when the folder is deleted.
fn open_up(folder: &Path) {
    let _shows_later = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_permissions_are_deleted() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("worker");
        fs::create_dir_all(folder.join("work/closed/inner")).unwrap();
        for name in ["work/closed/inner", "work/closed", "work"] {
            fs::set_permissions(folder.join(name), Permissions::from_mode(0o000)).unwrap();
        }
        delete(&folder).unwrap();
        assert!(!folder.exists());
        delete(&folder).unwrap();
    }
}
