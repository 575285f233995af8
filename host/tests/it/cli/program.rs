//! The command line as a program that talks to the host of a [`World`].

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::world::World;

/// What a run of the program left.
pub(super) struct Run {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl World {
    /// A file in the folder in which the program runs.
    pub(super) fn file(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runtimecloud"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("RUNTIMECLOUD_DATA_DIR", self.dir.path())
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

    /// What is printed by a run that must succeed.
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
}
