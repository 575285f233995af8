//! One host per data folder: a lock that the system releases however its owner ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid).map_err(io("read"))?;
                let pid = if pid.is_empty() { "(unknown)".to_owned() } else { pid };
                return Err(StoreError::InUse { pid });
            }
            Err(TryLockError::Error(source)) => return Err(io("lock")(source)),
        }
        file.set_len(0).map_err(io("write"))?;
        file.rewind().map_err(io("write"))?;
        write!(file, "{}", std::process::id()).map_err(io("write"))?;
        Ok(Self { _file: file })
    }
}
