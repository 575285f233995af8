//! Folders of capacity targets that no record knows: the targets were deleted, or the database was lost.
//!
//! Workers there would run unseen for ever. Their supervisors end them once their folder is gone from its
//! place; what they kept is another matter, and stays for whoever misses it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
};

use crate::ids::{CapacityTargetId, WorkerId};

/// Sees off the folders in `targets` that belong to no target. Not for while drivers are opened.
pub fn sweep(targets: &Path, is_known: impl Fn(CapacityTargetId) -> bool) {
    for entry in fs::read_dir(targets).into_iter().flatten().flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let is_orphan = id.is_some_and(|id| !is_known(id));
        let path = entry.path();
        if !is_orphan {
            continue;
        }
        if let Err(error) = see_off(&path) {
            let path = path.display();
            tracing::error!(%path, %error, "this folder belongs to no capacity target; workers in it may run: remove it, and they end");
        }
    }
}

fn see_off(path: &Path) -> io::Result<()> {
    if !has_workers(path)? {
        let path = PathBuf::from(path);
        // What is left of it has its next turn when the host starts again.
        return thread::Builder::new().spawn(move || fs::remove_dir_all(path)).map(drop);
    }
    let kept = path.with_extension("orphaned");
    fs::rename(path, &kept)?;
    let kept = kept.display();
    tracing::warn!(%kept, "workers that belong to no capacity target are stopped; remove the folder if nobody misses it");
    Ok(())
}

fn has_workers(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path.join("workers")) {
        Ok(entries) => Ok(entries.flatten().any(|entry| {
            entry.file_name().to_str().is_some_and(|name| name.parse::<WorkerId>().is_ok())
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
