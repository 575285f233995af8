//! Free ports on 127.0.0.1 for a worker's names.
//!
//! A port is kept over restarts while it is free. Workers of one host never get the same port: a
//! lock on a file named after it is held as long as the supervisor lives.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
};

use rustix::fs::FlockOperation;

use crate::supervisor::folder::{create_dir, private_file};

/// The ports of one worker.
#[derive(Debug)]
pub struct Ports {
    /// Where all workers of a host keep their locks.
    folder: PathBuf,
    held: BTreeMap<String, (u16, File)>,
}

impl Ports {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, held: BTreeMap::new() }
    }

    /// Sees to it that each name has a port that is free now. `before` says what earlier supervisors
    /// gave.
    pub fn choose(&mut self, names: &[String], before: &BTreeMap<String, u16>) -> io::Result<()> {
        create_dir(&self.folder)?;
        for name in names {
            if self.held.get(name).is_some_and(|(port, _)| is_free(*port)) {
                continue;
            }
            let old = before.get(name).filter(|port| is_free(**port));
            let kept = match old {
                Some(port) => self.hold(*port)?.map(|lock| (*port, lock)),
                None => None,
            };
            let held = match kept {
                Some(held) => held,
                None => self.find()?,
            };
            self.held.insert(name.clone(), held);
        }
        Ok(())
    }

    pub fn by_name(&self) -> BTreeMap<String, u16> {
        self.held.iter().map(|(name, (port, _))| (name.clone(), *port)).collect()
    }

    fn find(&self) -> io::Result<(u16, File)> {
        for _ in 0..1_000 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            let ours = self.held.values().any(|(held, _)| *held == port);
            if !ours && let Some(lock) = self.hold(port)? {
                return Ok((port, lock));
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrNotAvailable, "no port on 127.0.0.1 is free"))
    }

    fn hold(&self, port: u16) -> io::Result<Option<File>> {
        let path = self.folder.join(port.to_string());
        let file = private_file().create(true).write(true).open(path)?;
        match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_kept_while_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["http".to_owned(), "admin".to_owned()];
        let mut ports = Ports::new(folder.path().join("ports"));
        ports.choose(&names, &BTreeMap::new()).unwrap();
        let first = ports.by_name();
        assert_ne!(first["http"], first["admin"]);
        ports.choose(&names, &BTreeMap::new()).unwrap();
        assert_eq!(ports.by_name(), first);

        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first["http"])).unwrap();
        ports.choose(&names, &BTreeMap::new()).unwrap();
        assert_ne!(ports.by_name()["http"], first["http"]);
        assert_eq!(ports.by_name()["admin"], first["admin"]);
        drop(taken);
    }
}
