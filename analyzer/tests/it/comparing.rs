//! The programs `diff` and `state`: arguments, exit codes, and a real engine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn driftgate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_driftgate"));
    command.args(arguments).current_dir(folder).env_remove("COLUMNS");
    command.env_remove("TF_CLI_CONFIG_FILE").env("CHECKPOINT_DISABLE", "1");
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn state(serial: u32, lineage: &str, n: &str) -> String {
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"{lineage}","resources":[{{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"registry.terraform.io/x/a\"]","instances":[{{"attributes":{{"id":"1","n":{n}}}}}]}}]}}"#
    )
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plan = r#"{"format_version":"0.1","terraform_version":"0.14.0","resource_changes":[],"prior_state":{"format_version":"0.1","values":{"root_module":{"resources":[{"address":"a_b.c","mode":"managed","type":"a_b","name":"c","provider_name":"registry.terraform.io/x/a","values":{"id":"1","n":[2,1]}}]}}}}"#;
    let schemas = r#"{"format_version":"1.0","provider_schemas":{"registry.terraform.io/x/a":{"resource_schemas":{"a_b":{"block":{"attributes":{"n":{"type":["list","number"]}}}}}}}}"#;
    for (name, text) in [
        ("one", state(1, "l", "[1,2]")),
        ("two", state(2, "l", "[2,1]")),
        ("three", state(3, "l", "[3]")),
        ("other", state(3, "m", "[3]")),
        ("plan", plan.to_owned()),
        ("schemas", schemas.to_owned()),
        ("redacted", r#"{"plan_format_version":"1.1","resource_changes":[]}"#.to_owned()),
        ("cut", state(1, "l", "[1,2]")[..100].to_owned()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn exit_codes_of_comparing_are_those_of_a_check() {
    let folder = folder();
    for (arguments, code, expected) in [
        ("diff one one", 0, "the two do not differ"),
        ("diff one two", 0, "reordered"),
        ("diff one two --schemas schemas", 2, "a_b.c"),
        ("diff one three", 2, "differs between the two"),
        ("diff three one", 2, "the second state is the older one"),
        ("diff one other", 2, "different lineages"),
        ("diff one three --exit-zero", 0, "a_b.c"),
        ("diff plan plan", 4, "no-drift-section"),
        ("diff one plan", 1, "compare like with like"),
        ("diff plan one", 1, "compare like with like"),
        ("diff one cut", 1, "failed to read cut"),
        ("diff cut one", 1, "failed to read cut"),
        ("diff - -", 1, "only one of the two"),
        ("diff one missing", 1, "failed to read missing"),
        ("diff one two --schemas one", 1, "provider schemas"),
        ("state one --live two", 0, "clean"),
        ("state one --live three", 2, "a_b.c"),
        ("state one --live other", 1, "different workspaces"),
        ("state one", 1, "what is real is missing"),
        ("state --live two", 1, "a state is missing"),
        ("check plan", 4, "no-drift-section"),
        ("check plan --previous-state two", 0, "clean"),
        ("check plan --previous-state one", 0, "reordered"),
        ("check plan --previous-state one --schemas schemas", 2, "a_b.c"),
        ("check plan --previous-state three", 2, "a_b.c"),
        ("check plan --previous-state cut", 4, "failed to read cut"),
        ("check redacted --previous-state one", 1, "no prior_state"),
        ("state --config-dir . --terraform ./there-is-none", 1, "--terraform PATH"),
    ] {
        let split: Vec<&str> = arguments.split(' ').collect();
        let output = driftgate(folder.path(), &split);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn an_engine_that_hangs_is_stopped_and_one_that_fails_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    for (name, script, expected) in [
        ("hangs", "#!/bin/sh\nexec sleep 1000\n", "was stopped after 1 seconds"),
        ("fails", "#!/bin/sh\necho why >&2\nexit 3\n", "plan` in . failed"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let program = format!("./{name}");
        let output = driftgate(
            folder.path(),
            &["state", "--config-dir", ".", "--terraform", &program, "--timeout", "1"],
        );
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

fn terraform() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|it| it.join("terraform")).find(|it| it.is_file());
    if found.is_none() {
        println!("skipped: there is no terraform on PATH");
    }
    found
}

#[test]
fn a_real_engine_is_asked_and_nothing_is_written() {
    let Some(terraform) = terraform() else { return };
    let folder = tempfile::tempdir().unwrap();
    let configure = |input: &str| {
        let text = format!("resource \"terraform_data\" \"x\" {{\n  input = \"{input}\"\n}}\n");
        fs::write(folder.path().join("main.tf"), text).unwrap();
    };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&terraform);
        command.args(arguments).current_dir(folder.path()).env("CHECKPOINT_DISABLE", "1");
        let output = command.env_remove("TF_CLI_CONFIG_FILE").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    configure("first");
    run(&["init", "-input=false"]);
    run(&["apply", "-auto-approve", "-input=false"]);
    let state = folder.path().join("terraform.tfstate");
    fs::copy(&state, folder.path().join("before")).unwrap();
    configure("second");
    run(&["apply", "-auto-approve", "-input=false"]);
    let kept = fs::read(&state).unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let count = files();

    let program = terraform.to_str().unwrap();
    let ask = ["state", "--config-dir", ".", "--terraform", program];
    let live = driftgate(folder.path(), &ask);
    assert_eq!(live.status.code(), Some(0), "{}", said(&live));
    let old =
        driftgate(folder.path(), &["state", "before", "--config-dir", ".", "--terraform", program]);
    assert_eq!(old.status.code(), Some(2), "{}", said(&old));
    assert!(said(&old).contains("terraform_data.x"), "{}", said(&old));
    let diff = driftgate(folder.path(), &["diff", "before", "terraform.tfstate"]);
    assert_eq!(diff.status.code(), Some(2), "{}", said(&diff));
    assert!(said(&diff).contains("\"first\" -> \"second\""), "{}", said(&diff));
    assert_eq!((fs::read(&state).unwrap(), files()), (kept, count), "something was written");
}
