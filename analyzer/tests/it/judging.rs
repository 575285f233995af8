//! What the configuration makes of a plan, through the program.

use crate::program::{case, driftgate};
use std::fs;

/// Runs `driftgate` with a configuration file of its own.
fn run(config: &str, arguments: &[&str]) -> (i32, serde_json::Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("driftgate.toml");
    fs::write(&file, config).unwrap();
    let mut all = arguments.to_vec();
    all.extend(["--format", "json", "--config", file.to_str().unwrap()]);
    let output = driftgate(&all, b"");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), report, String::from_utf8(output.stderr).unwrap())
}

fn plan(name: &str) -> String {
    case(name).join("plan.json").to_str().unwrap().to_owned()
}

#[test]
fn the_configuration_decides_and_options_win() {
    let reverted = plan("reverted");
    for (config, arguments, code) in [
        ("[gate]\nfail-on = [\"pending\"]\n", &[][..], 0),
        ("[gate]\nfail-on = [\"pending\"]\n", &["--fail-on", "drift"], 2),
        ("[gate]\nexit-zero = true\n", &[], 0),
        ("[severity]\nreverted = \"low\"\n[gate]\nfail-on = [\"drift=medium\"]\n", &[], 0),
        ("[severity]\nreverted = \"high\"\n[gate]\nfail-on = [\"drift=high\"]\n", &[], 2),
        (
            "[[override]]\nprovider = \"*\"\nseverity = \"info\"\n[gate]\nfail-on = [\"drift=low\"]\n",
            &[],
            0,
        ),
        ("[gate]\nfail-on = [\"sometimes\"]\n", &[], 1),
    ] {
        let mut all = vec!["check", reverted.as_str()];
        all.extend(arguments);
        let (found, _, message) = run(config, &all);
        assert_eq!(found, code, "{config} {arguments:?} {message}");
    }
}

#[test]
fn the_file_of_the_working_directory_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("driftgate.toml"), "[gate]\nexit-zero = true\n").unwrap();
    let reverted = plan("reverted");
    let code = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_driftgate"));
        command.current_dir(folder.path()).args(["check", &reverted]).args(arguments);
        command.output().unwrap().status.code()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--no-config"]), Some(2));
}

#[test]
fn a_fault_of_the_configuration_has_its_file_and_line() {
    let (code, _, message) = run("\n[gate]\nfail_on = []\u{1b}\n", &["check", &plan("noise")]);
    assert_eq!(code, 1);
    assert!(message.contains("driftgate.toml:3:"), "{message}");
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[test]
fn an_old_plan_proves_nothing() {
    let age =
        |timestamp: &str| format!(r#"{{"format_version":"1.2","resource_changes":[]{timestamp}}}"#);
    let old = age(r#","timestamp":"2020-01-01T00:00:00Z""#);
    let check = |plan: &str, max: &str| {
        let output = driftgate(&["check", "-", "--no-config", "--max-age", max], plan.as_bytes());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = check(&old, "24h");
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("older than --max-age"), "{text}");
    assert_eq!(check(&old, "36500d").0, Some(0));
    // A pipe has no age, and the plan does not tell its own.
    assert_eq!(check(&age(""), "36500d").0, Some(4));
    // A file has one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    fs::write(&file, age("")).unwrap();
    let output = driftgate(&["check", file.to_str().unwrap(), "--max-age", "1h"], b"");
    assert_eq!(output.status.code(), Some(0));
}
