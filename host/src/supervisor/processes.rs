//! Processes as the system shows them: who they are, and the end of what a worker left behind.
//!
//! A number alone never says which process is meant: an [`Identity`] has the boot and the start too.
//! Whatever a worker starts carries its id as an environment variable, wherever it moved since.

use std::{fs, io};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};

use crate::ids::WorkerId;

/// The environment variable that every process of a worker carries.
pub const MARKER: &str = "RUNTIMECLOUD_WORKER_ID";

/// One process, and no other that has or had its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// In the kernel's ticks since the boot.
    pub start: u64,
    pub boot_id: String,
}

impl Identity {
    /// The process that has the number now.
    pub fn of(pid: u32) -> Option<Self> {
        let entry = Entry::read(pid)?;
        Some(Self { pid, start: entry.start, boot_id: boot_id().ok()? })
    }

    fn is_present(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// What `/proc/PID/stat` says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    pid: u32,
    zombie: bool,
    parent: u32,
    start: u64,
}

impl Entry {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name in parentheses may itself hold parentheses and spaces.
    fn parse(pid: u32, stat: &str) -> Option<Self> {
        let fields: Vec<_> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
        Some(Self {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Kills every process that carries the worker's mark or has been handed over to us as an orphan, and
/// `old`, the main process of an earlier supervisor. Says how many there were.
pub fn kill_marked(id: WorkerId, old: Option<&Identity>) -> io::Result<usize> {
    let found = marked(id, old)?;
    for entry in &found {
        kill(entry)?;
    }
    Ok(found.len())
}

fn marked(id: WorkerId, old: Option<&Identity>) -> io::Result<Vec<Entry>> {
    let mark = format!("{MARKER}={id}");
    let us = u32::try_from(getpid().as_raw_nonzero().get()).unwrap_or(0);
    let mut found = Vec::new();
    for item in fs::read_dir("/proc")? {
        let pid = item.ok().and_then(|item| item.file_name().to_str()?.parse().ok());
        let Some(entry) = pid.filter(|pid| *pid != us).and_then(Entry::read) else { continue };
        let is_old = || old.is_some_and(|old| old.pid == entry.pid && old.is_present());
        if !entry.zombie && (entry.parent == us || carries(entry.pid, &mark) || is_old()) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn carries(pid: u32, mark: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()))
}

/// Kills the process that was seen, and none that has its number since.
fn kill(entry: &Entry) -> io::Result<()> {
    let Some(pid) = i32::try_from(entry.pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
    let result = pidfd_open(pid, PidfdFlags::empty()).and_then(|fd| {
        let same = Entry::read(entry.pid).is_some_and(|now| now.start == entry.start);
        if same { pidfd_send_signal(fd, Signal::KILL) } else { Ok(()) }
    });
    match result {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_hostile_name_is_read() {
        let stat = "7 (a) Z (b c) S 3 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 9 9";
        let entry = Entry::parse(7, stat).unwrap();
        assert_eq!(entry, Entry { pid: 7, zombie: false, parent: 3, start: 4242 });
        assert_eq!(Entry::parse(7, "7 (cut"), None);
        assert_eq!(Entry::parse(7, "7 (cut) S 3"), None);
    }

    #[test]
    fn another_process_with_the_same_number_is_not_the_one() {
        let us = Identity::of(std::process::id()).unwrap();
        assert!(us.is_present());
        assert!(!Identity { start: us.start + 1, ..us.clone() }.is_present());
        assert!(!Identity { boot_id: "another".to_owned(), ..us }.is_present());
    }
}
