//! A host of its own for a test, and the command line to talk to it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_runtimecloud");

pub(super) struct Host {
    root: tempfile::TempDir,
    process: Child,
}

/// What a run of the command line left.
pub(super) struct Run {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Host {
    pub(super) fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let process = serve(&root);
        Self { root, process }
    }

    /// As a crash would.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(super) fn start_again(&mut self) {
        self.process = serve(&self.root);
    }

    /// A file in the folder in which commands run.
    pub(super) fn file(&self, name: &str, text: &str) {
        fs::write(self.root.path().join(name), text).unwrap();
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(args)
            .current_dir(self.root.path())
            .env("RUNTIMECLOUD_DATA_DIR", self.root.path().join("data"))
            .env_remove("RUNTIMECLOUD_ENDPOINT")
            .env_remove("RUNTIMECLOUD_TOKEN");
        command
    }

    pub(super) fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, "")
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(super) fn ok(&self, args: &[&str]) -> String {
        self.ok_with_input(args, "")
    }

    pub(super) fn ok_with_input(&self, args: &[&str], input: &str) -> String {
        let run = self.run_with_input(args, input);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run.stdout
    }

    pub(super) fn json(&self, args: &[&str]) -> Value {
        let args = [args, &["--output", "json"]].concat();
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    pub(super) fn until<T>(&self, mut holds: impl FnMut() -> Option<T>) -> T {
        for _ in 0..600 {
            if let Some(value) = holds() {
                return value;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("it never came")
    }
}

fn serve(root: &tempfile::TempDir) -> Child {
    let log =
        fs::File::options().create(true).append(true).open(root.path().join("host.log")).unwrap();
    let mut process = Command::new(PROGRAM)
        .args(["serve", "--listen", "127.0.0.1:0", "--stop-workers", "--data-dir"])
        .arg(root.path().join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    for expected in ["listening on http://127.0.0.1:", "administrator token in "] {
        let line = lines.next().unwrap_or_else(|| {
            panic!("the host says `{expected}`: {}", log_of(root));
        });
        assert!(line.unwrap().starts_with(expected));
    }
    process
}

fn log_of(root: &tempfile::TempDir) -> String {
    fs::read_to_string(root.path().join("host.log")).unwrap_or_default()
}

/// The host stops its workers on its way out.
impl Drop for Host {
    fn drop(&mut self) {
        let _has_ended = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _reaped_before = self.process.wait();
        if std::thread::panicking() {
            eprintln!("the host's log:\n{}", log_of(&self.root));
        }
    }
}
