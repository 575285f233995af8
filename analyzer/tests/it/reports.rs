//! Where the program puts reports: several formats in one run, a step's summary and its outputs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn case(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

fn check(name: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_driftgate"));
    command.arg("check").arg(case(name).join("plan.json")).args(arguments);
    command.env_remove("GITHUB_STEP_SUMMARY").env_remove("GITHUB_OUTPUT").env_remove("COLUMNS");
    command.envs(variables.iter().copied());
    command.output().unwrap()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn one_run_writes_as_many_reports_as_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let reports: Vec<String> = ["json", "sarif", "junit"]
        .iter()
        .map(|name| format!("--report={name}={}", at(name).display()))
        .collect();
    let mut arguments: Vec<&str> = reports.iter().map(String::as_str).collect();
    arguments.push("--report=github=-");
    let output = check("one_way", &arguments, &[]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("drifted: 1 resource"), "{printed}");
    assert!(printed.contains("\n::error title="), "{printed}");
    assert!(text(&at("json")).contains("\"schema_version\": 1"));
    assert!(text(&at("sarif")).contains("\"version\": \"2.1.0\""));
    assert!(text(&at("junit")).contains("<testsuites"));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_that_names_it() {
    for (arguments, told) in [
        (&["--report=json"][..], "FORMAT=FILE"),
        (&["--report=sonnet=x"], "there is no format `sonnet`; there are azure, "),
        (&["--report=json="], "the file is missing"),
        (&["--report=json=/nowhere/at/all"], "failed to write the report to /nowhere/at/all"),
        (&["--summary"], "GITHUB_STEP_SUMMARY is not set"),
        (&["--outputs"], "GITHUB_OUTPUT is not set"),
    ] {
        let output = check("one_way", arguments, &[]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn summary_and_outputs_of_a_step_are_appended() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, outputs) = (folder.path().join("summary"), folder.path().join("outputs"));
    fs::write(&summary, "before\n").unwrap();
    fs::write(&outputs, "before=1\n").unwrap();
    let variables =
        [("GITHUB_STEP_SUMMARY", summary.as_path()), ("GITHUB_OUTPUT", outputs.as_path())];
    check("one_way", &["--summary", "--outputs"], &variables);
    let written = text(&summary);
    assert!(written.starts_with("before\n### driftgate: drifted"), "{written}");
    let written = text(&outputs);
    let delimiter = written.split("verdict<<").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(delimiter.len(), 32);
    assert!(written.starts_with("before=1\nverdict<<"));
    assert!(written.contains(&format!("verdict<<{delimiter}\ndrifted\n{delimiter}\n")));
    assert!(written.contains("\n[\"aws_db_instance.main\"]\n"));
    let other = folder.path().join("other");
    check("one_way", &[&format!("--outputs={}", other.display())], &variables);
    assert!(!text(&other).contains(delimiter), "a delimiter is not used twice");
}

#[test]
fn files_are_named_from_the_root_of_the_repository() {
    let repository = tempfile::tempdir().unwrap();
    let module = repository.path().join("infra/prod");
    fs::create_dir_all(&module).unwrap();
    fs::create_dir(repository.path().join(".git")).unwrap();
    fs::copy(case("one_way").join("config/main.tf"), module.join("main.tf")).unwrap();
    let config = format!("--config-dir={}", module.display());
    for (format, wanted) in [
        ("github", "::error file=infra/prod/main.tf,line="),
        ("azure", "sourcepath=infra/prod/main.tf;linenumber="),
        ("github-sarif", "\"uri\": \"infra/prod/main.tf\""),
        ("gitlab-codequality", "\"path\": \"infra/prod/main.tf\""),
        ("junit", "file=\"infra/prod/main.tf\" line="),
    ] {
        let output = check("one_way", &[&config, "--format", format], &[]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(wanted), "{format}:\n{printed}");
    }
}

#[test]
fn the_length_of_a_comment_is_a_setting() {
    let output = check("one_way", &["--format=markdown", "--comment-max=0"], &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.len() <= 4_000 && printed.contains("#### critical"), "{printed}");
}
