//! The program, run as a user does.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The folder of a case.
pub(crate) fn case(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

/// Runs the program to its end.
pub(crate) fn driftgate(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_driftgate"))
        .args(arguments)
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses early closes its input: that is no failure of ours.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

/// A folder with a plan and a configuration, in which the program runs.
pub(crate) struct Workspace(tempfile::TempDir);

impl Workspace {
    pub(crate) fn new(config: &str, plan: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("driftgate.toml"), config).unwrap();
        fs::write(folder.path().join("plan.json"), plan).unwrap();
        Self(folder)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Exit code, standard output and standard error.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_driftgate"));
        let output = command.current_dir(self.0.path()).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Exit code and report of a check.
    pub(crate) fn check(&self, more: &[&str]) -> (i32, serde_json::Value) {
        let mut arguments = vec!["check", "plan.json", "--format", "json"];
        arguments.extend(more);
        let (code, out, message) = self.run(&arguments);
        (code, serde_json::from_str(&out).map_err(|_| message).unwrap())
    }
}
