//! The program, run as a user does.

use std::{
    io::Write,
    path::PathBuf,
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
