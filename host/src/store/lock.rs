//! One host per data folder: a lock that the system releases however its owner ends.
//!
//! A process that the owner was just starting may hold the lock a moment longer than a killed owner
//! did, so the next host is a little patient.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
    thread,
    time::Duration,
};

use super::StoreError;

/// Held as long as this value lives.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

impl DataLock {
    pub fn acquire(data_dir: &Path) -> Result<Self, StoreError> {
        let path = data_dir.join("lock");
        let io = |doing| {
            let path = path.clone();
            move |source| StoreError::Io { doing, path, source }
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io("open"))?;
        lock(&mut file, &path)?;
        file.set_len(0).map_err(io("write"))?;
        file.rewind().map_err(io("write"))?;
        write!(file, "{}", std::process::id()).map_err(io("write"))?;
        Ok(Self { _file: file })
    }
}

const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

fn lock(file: &mut File, path: &Path) -> Result<(), StoreError> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(source)) => {
                return Err(StoreError::Io { doing: "lock", path: path.to_owned(), source });
            }
        }
    }
    let mut pid = String::new();
    match file.read_to_string(&mut pid) {
        Ok(length) if length > 0 => Err(StoreError::InUse { pid }),
        Ok(_) | Err(_) => Err(StoreError::InUse { pid: "(unknown)".to_owned() }),
    }
}
