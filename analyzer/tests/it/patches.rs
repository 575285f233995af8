//! Patches are accepted by the tools that apply them, and do what they say.

use crate::case;
use driftgate::{Configuration, Limits, Written, check_stream, propose};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn cases_with_configuration() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("config").is_dir())
        .collect();
    cases.sort();
    cases
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.file_name().unwrap().into(), text));
        }
    }
    found.sort();
    found
}

/// Runs a tool of the machine; `None` when it is not there.
fn feed(program: &str, arguments: &[&str], folder: &Path, input: &str) -> Option<()> {
    let spawned = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else {
        println!("skipped: {program} is not on this machine");
        return None;
    };
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{program} refuses\n{input}");
    Some(())
}

#[test]
fn git_and_patch_make_the_same_files_as_we_write() {
    let mut patched = 0;
    for case in cases_with_configuration() {
        let checked = case::check(&case).unwrap();
        let patch = checked.report.patch.clone().unwrap_or_default();
        if patch.is_empty() {
            continue;
        }
        patched += 1;
        let [ours, git, gnu] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        for folder in [&ours, &git, &gnu] {
            copy(&case.join("config"), folder.path());
        }
        let configuration = Configuration::load(ours.path()).unwrap();
        let mut report = checked.report;
        let edited = propose(&mut report, &configuration, &checked.secrets);
        Written::write(ours.path(), &edited).unwrap();
        // git takes the folder for a repository of its own only when it is one.
        if feed("git", &["init", "-q", "."], git.path(), "").is_some() {
            feed("git", &["apply", "--whitespace=nowarn"], git.path(), &patch);
            fs::remove_dir_all(git.path().join(".git")).unwrap();
            assert_eq!(files(git.path()), files(ours.path()), "{}", case.display());
        }
        if feed("patch", &["-p1", "--binary", "-s"], gnu.path(), &patch).is_some() {
            assert_eq!(files(gnu.path()), files(ours.path()), "{}", case.display());
        }
    }
    assert!(patched >= 6, "only {patched} cases have a patch");
}

#[test]
fn only_the_lines_that_are_meant_change() {
    for case in cases_with_configuration() {
        let checked = case::check(&case).unwrap();
        let patch = checked.report.patch.unwrap_or_default();
        let changed = patch.lines().filter(|line| {
            line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
        });
        // A handful of attributes, and the lines that are aligned with them.
        assert!(changed.count() <= 16, "{patch}");
    }
}

/// One change of `main.tf`: the attribute's value before and after, and the file.
fn adopt(before: &str, after: &str, config: &str) -> String {
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{before},"after":{after},"before_sensitive":{{}},"after_sensitive":{{}}}}}}],"resource_changes":[{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{after},"after":{before},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}]}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.tf"), config).unwrap();
    let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
    let configuration = Configuration::load(folder.path()).unwrap();
    let edited = propose(&mut checked.report, &configuration, &checked.secrets);
    Written::write(folder.path(), &edited).unwrap();
    fs::read_to_string(folder.path().join("main.tf")).unwrap()
}

/// An attribute's values before and after, and the body of its block before and after.
type Shape = (&'static str, &'static str, &'static str, &'static str);

const SHAPES: &[Shape] = &[
    // A value, with what stands around it.
    (r#"{"a":1}"#, r#"{"a":-2.50}"#, "  a /* x */ =1 # y\n", "  a /* x */ =-2.50 # y\n"),
    (r#"{"a":"x"}"#, r#"{"a":"${y} \"z\""}"#, "  a = \"x\"\n", "  a = \"$${y} \\\"z\\\"\"\n"),
    (r#"{"a":true}"#, r#"{"a":false}"#, "  a = true\n  b = 1\n", "  a = false\n  b = 1\n"),
    // Lists keep being on one line, or on several.
    (r#"{"a":["x"]}"#, r#"{"a":["x","y"]}"#, "  a = [\"x\"]\n", "  a = [\"x\", \"y\"]\n"),
    (
        r#"{"a":["x"]}"#,
        r#"{"a":["x","y"]}"#,
        "  a = [\n    \"x\",\n  ]\n",
        "  a = [\n    \"x\",\n    \"y\",\n  ]\n",
    ),
    // Keys of maps come, change and go.
    (
        r#"{"m":{"a":1}}"#,
        r#"{"m":{"a":1,"b c":2}}"#,
        "  m = { a = 1 }\n",
        "  m = { a = 1, \"b c\" = 2 }\n",
    ),
    (
        r#"{"m":{"a":1}}"#,
        r#"{"m":{"a":1,"long":2}}"#,
        "  m = {\n    a = 1 # one\n  }\n",
        "  m = {\n    a    = 1 # one\n    long = 2\n  }\n",
    ),
    (
        r#"{"m":{"a":1}}"#,
        r#"{"m":{"a":1,"b":2}}"#,
        "  m = {\n    a = 1,\n  }\n",
        "  m = {\n    a = 1,\n    b = 2,\n  }\n",
    ),
    (r#"{"m":{"a":1,"b":2}}"#, r#"{"m":{"b":2}}"#, "  m = { a = 1, b = 2 }\n", "  m = { b = 2 }\n"),
    (r#"{"m":{"a":1,"b":2}}"#, r#"{"m":{"a":1}}"#, "  m = { a = 1, b = 2 }\n", "  m = { a = 1 }\n"),
    (r#"{"m":{"a":1}}"#, r#"{"m":{}}"#, "  m = { a = 1 }\n", "  m = {}\n"),
    (r#"{"m":{}}"#, r#"{"m":{"a":1}}"#, "  m = {}\n", "  m = { a = 1 }\n"),
    // Attributes come and go, and the run around them stays aligned.
    (
        r#"{"a":1,"bcd":null}"#,
        r#"{"a":1,"bcd":2}"#,
        "  a = 1\n\n  x {\n  }\n",
        "  a   = 1\n  bcd = 2\n\n  x {\n  }\n",
    ),
    (r#"{"a":1,"bcd":2}"#, r#"{"a":1,"bcd":null}"#, "  a   = 1\n  bcd = 2 # gone\n", "  a = 1\n"),
    (r#"{"a":null}"#, r#"{"a":2}"#, "", "  a = 2\n"),
    // Blocks are told by where they stand, or by what they hold.
    (
        r#"{"r":[{"p":1},{"p":2}]}"#,
        r#"{"r":[{"p":1},{"p":3}]}"#,
        "  r {\n    p = 1\n  }\n  r {\n    p = 2\n  }\n",
        "  r {\n    p = 1\n  }\n  r {\n    p = 3\n  }\n",
    ),
    (
        r#"{"r":[{"p":1}]}"#,
        r#"{"r":[{"p":3}]}"#,
        "  r {\n    p = 1\n  }\n",
        "  r {\n    p = 3\n  }\n",
    ),
    // An order that is not the plan's: the value tells, if it is one block's alone.
    (
        r#"{"r":[{"p":1},{"p":2}]}"#,
        r#"{"r":[{"p":1},{"p":3}]}"#,
        "  r {\n    p = 2\n  }\n  r {\n    p = 1\n  }\n",
        "  r {\n    p = 3\n  }\n  r {\n    p = 1\n  }\n",
    ),
    (
        r#"{"r":[{"p":1,"q":7},{"p":1,"q":8}]}"#,
        r#"{"r":[{"p":1,"q":7},{"p":3,"q":8}]}"#,
        "  r {\n    p = 1\n    q = 8\n  }\n  r {\n    p = 1\n    q = 7\n  }\n",
        "  r {\n    p = 1\n    q = 8\n  }\n  r {\n    p = 1\n    q = 7\n  }\n",
    ),
];

#[test]
fn each_shape_of_configuration_is_edited_in_its_own_style() {
    let block = |body: &str| format!("resource \"t_x\" \"n\" {{\n{body}}}\n");
    for (before, after, old, new) in SHAPES {
        assert_eq!(adopt(before, after, &block(old)), block(new), "{before} -> {after}");
    }
}
