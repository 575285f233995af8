//! The socket and its file.

use crate::handshake::SocketPlace;
use anyhow::Context as _;
use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};
use tokio::net::UnixListener;

/// A socket's path is no longer than this, on any system.
const PATH_BYTES_MAX: usize = 100;

/// A listening socket.
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    pub(super) file: SocketFile,
}

/// A socket's file: removed when this is dropped.
pub(super) struct SocketFile(PathBuf);

impl Socket {
    /// Listens on a new socket in the place asked for, or in `/tmp` when its path is too long.
    pub(super) fn bind(place: &SocketPlace) -> anyhow::Result<Self> {
        let name = format!("plugin-{:08x}", getrandom::u32().context("failed to choose a name")?);
        let mut path = place.folder.join(&name);
        if path.as_os_str().len() > PATH_BYTES_MAX {
            path = Path::new("/tmp").join(&name);
        }
        let listener = UnixListener::bind(&path)
            .with_context(|| format!("failed to make the socket {}", path.display()))?;
        let file = SocketFile(path);
        if let Some(group) = &place.group {
            file.share_with(group)
                .with_context(|| format!("failed to give the socket to the group `{group}`"))?;
        }
        Ok(Self { listener, file })
    }
}

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn share_with(&self, group: &str) -> io::Result<()> {
        chown(&self.0, None, Some(group_id(group)?))?;
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o660))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have tidied up already.
        let _gone = fs::remove_file(&self.0);
    }
}

/// A group's number, from the number itself or its name.
fn group_id(group: &str) -> io::Result<u32> {
    if let Ok(id) = group.parse() {
        return Ok(id);
    }
    let groups = fs::read_to_string("/etc/group")?;
    groups
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&group))
        .and_then(|fields| fields.get(2)?.parse().ok())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such group"))
}
