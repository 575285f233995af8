//! The first steps of every process of a worker, in the new process itself: it joins the worker's groups
//! and becomes the program.
//!
//! Standard input is a pipe on which it tells why it could not: `WHAT ERRNO`, or nothing on success,
//! when the pipe closes by itself.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, PipeReader, Read, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::supervisor::life::Ending;

/// The argument that asks for this.
pub(super) const FLAG: &str = "--enter";

/// What a stop policy may send; nobody can ignore the signal to kill.
const STOP_SIGNALS: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// How much easier than others a worker is chosen when the machine's memory runs out.
const OOM_SCORE_ADJ: &str = "500";

/// The arguments are the supervisor's process id, files to write to to join groups, `--`, and the
/// command. Returns only if it failed.
pub(super) fn enter(args: impl Iterator<Item = OsString>) -> ExitCode {
    // The copy closes by itself when the program begins: that is the good news.
    let report = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let failure = become_program(args);
    // Nobody else wants to know if this fails.
    let _told = report.and_then(|mut report| report.write_all(failure.encode().as_bytes()));
    ExitCode::from(127)
}

fn become_program(mut args: impl Iterator<Item = OsString>) -> Failure {
    let supervisor = args.next().and_then(|pid| pid.to_str()?.parse().ok());
    for door in args.by_ref().take_while(|arg| arg != "--") {
        if let Err(error) = fs::write(&door, "0") {
            return Failure::new(Step::Join, &error);
        }
    }
    // Workers of a host go first when memory runs out; where that is not allowed, nothing is lost.
    let _best_effort = fs::write("/proc/self/oom_score_adj", OOM_SCORE_ADJ);
    if let Err(errno) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return Failure::new(Step::Join, &errno.into());
    }
    // From here on the supervisor's end is ours; it may have come before.
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get());
    if parent != supervisor {
        return Failure { step: Step::Orphaned, errno: 0 };
    }
    if let Err(error) = hear_signals() {
        return Failure::new(Step::Join, &error);
    }
    let Some(program) = args.next() else { return Failure { step: Step::Exec, errno: 0 } };
    Failure::new(Step::Exec, &Command::new(program).args(args).stdin(Stdio::null()).exec())
}

/// Sees to it that the program hears the signals of every stop policy, also when the host was started
/// by something that ignores them, as `nohup` does: who ignores a signal hands that down, and who
/// handles it does not, so what is ignored is handled until the program begins. One that comes in
/// between would have been ignored as well.
fn hear_signals() -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let ignored = ignored_in(&status);
    for signal in STOP_SIGNALS {
        if ignored >> (signal - 1) & 1 == 1 {
            signal_hook::flag::register(signal, Arc::default())?;
        }
    }
    Ok(())
}

/// The set of ignored signals that a process's status tells: the lowest bit is signal 1.
fn ignored_in(status: &str) -> u64 {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// What could not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Join,
    Orphaned,
    Exec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Failure {
    step: Step,
    errno: i32,
}

impl Failure {
    fn new(step: Step, error: &io::Error) -> Self {
        Self { step, errno: error.raw_os_error().unwrap_or(0) }
    }

    fn encode(self) -> String {
        let step = match self.step {
            Step::Join => "join",
            Step::Orphaned => "orphaned",
            Step::Exec => "exec",
        };
        format!("{step} {}", self.errno)
    }

    fn decode(text: &str) -> Option<Self> {
        let (step, errno) = text.split_once(' ')?;
        let step = match step {
            "join" => Step::Join,
            "orphaned" => Step::Orphaned,
            "exec" => Step::Exec,
            _ => return None,
        };
        Some(Self { step, errno: errno.parse().ok()? })
    }
}

/// Waits until the program has begun, or says why it did not.
pub(super) fn wait_for_program(mut report: PipeReader, program: &str) -> Result<(), Ending> {
    let mut text = String::new();
    let read = report.read_to_string(&mut text);
    match Failure::decode(&text) {
        Some(failure) => Err(explain(failure, program)),
        None if read.is_ok() && text.is_empty() => Ok(()),
        None => Err(cannot_start(program, "its first steps failed")),
    }
}

fn cannot_start(program: &str, why: impl std::fmt::Display) -> Ending {
    Ending { reason: "CannotStart".to_owned(), message: format!("cannot start `{program}`: {why}") }
}

fn explain(failure: Failure, program: &str) -> Ending {
    let error = io::Error::from_raw_os_error(failure.errno);
    let (reason, message) = match (failure.step, error.kind()) {
        (Step::Join, _) => {
            ("CannotLimit", format!("cannot put `{program}` under its limits: {error}"))
        }
        (Step::Exec, io::ErrorKind::NotFound) if program.contains('/') => (
            "CommandNotFound",
            format!("there is no `{program}`, or the interpreter that it names is missing"),
        ),
        (Step::Exec, io::ErrorKind::NotFound) => {
            ("CommandNotFound", format!("`{program}` is not in any folder of the worker's PATH"))
        }
        (Step::Exec, io::ErrorKind::PermissionDenied) => {
            ("NotExecutable", format!("`{program}` may not be executed: {error}"))
        }
        (Step::Orphaned | Step::Exec, _) => return cannot_start(program, error),
    };
    Ending { reason: reason.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_a_status() {
        assert_eq!(ignored_in("Name:\tx\nSigIgn:\t0000000180000005\nSigCgt:\t0\n"), 0x1_8000_0005);
        assert_eq!(ignored_in("Name:\tx\n"), 0);
    }

    #[test]
    fn a_failure_reads_back() {
        for step in [Step::Join, Step::Orphaned, Step::Exec] {
            let failure = Failure { step, errno: 13 };
            assert_eq!(Failure::decode(&failure.encode()), Some(failure));
        }
        assert_eq!(Failure::decode("exec"), None);
        assert_eq!(Failure::decode("fly 1"), None);
    }
}
