//! Processes of this machine, as `/proc` shows them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::run::until;

/// The environment variable that the process driver gives to each worker.
pub const WORKER_MARK: &str = "RUNTIMECLOUD_WORKER_ID";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// Program and arguments; empty for a process that has ended and was not yet waited for.
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
}

/// Processes whose command, environment or working folder names something in this folder.
pub fn of_world(dir: &Path) -> Vec<Process> {
    let dir = dir.to_string_lossy();
    let names = |text: &str| text.contains(&*dir);
    all()
        .into_iter()
        .filter(|process| {
            process.command.iter().any(|word| names(word))
                || process.environment.values().any(|value| names(value))
                || fs::read_link(format!("/proc/{}/cwd", process.pid))
                    .is_ok_and(|cwd| names(&cwd.to_string_lossy()))
        })
        .collect()
}

/// Sends a signal; a process that has ended meanwhile is no error.
pub fn signal(pid: u32, signal: Signal) -> Result<()> {
    send(pid, |pid| kill_process(pid, signal))
}

/// Sends a signal to the process group that this process leads, as a terminal does.
pub fn signal_group(leader: u32, signal: Signal) -> Result<()> {
    send(leader, |leader| kill_process_group(leader, signal))
}

fn send(pid: u32, kill: impl FnOnce(Pid) -> rustix::io::Result<()>) -> Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("not a process id")?;
    match kill(pid) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot signal process {pid:?}")),
    }
}

/// Kills the processes of a world until there is none.
pub fn kill_world(dir: &Path) -> Result<()> {
    until("the processes of a world to end", || {
        let left = of_world(dir);
        for process in &left {
            signal(process.pid, Signal::KILL)?;
        }
        Ok(left.is_empty().then_some(()))
    })
}

/// Control groups that have one of these names.
pub fn control_groups(names: &[String]) -> Vec<PathBuf> {
    fn walk(dir: &Path, names: &[String], found: &mut Vec<PathBuf>) {
        for folder in crate::folders(dir) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if names.iter().any(|wanted| *wanted == name) {
                found.push(folder.clone());
            }
            walk(&folder, names, found);
        }
    }
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), names, &mut found);
    found
}

/// Removes control groups that have one of these names, when nothing runs in them any more.
pub fn remove_control_groups(names: &[String]) -> Result<()> {
    until("control groups to be removed", || {
        let groups = control_groups(names);
        // One that a process is still leaving is tried again.
        let gone = groups.iter().filter(|group| fs::remove_dir(group).is_ok()).count();
        Ok((gone == groups.len()).then_some(()))
    })
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// None when the process has ended meanwhile, is a zombie, or belongs to somebody else.
fn read(pid: u32) -> Option<Process> {
    let words = |file: &str| -> Option<Vec<String>> {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).ok()?;
        let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    };
    let command = words("cmdline")?;
    let environment = words("environ")?
        .iter()
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    (!command.is_empty()).then_some(Process { pid, command, environment })
}
