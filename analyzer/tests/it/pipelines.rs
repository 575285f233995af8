//! The examples for pipelines: parsed, held against themselves, and their scripts run.

use crate::program::case;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn example(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/ci");
    fs::read_to_string(root.join(path)).unwrap()
}

/// The documents of a file, as JSON.
fn yaml(path: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&example(path)).unwrap()
}

/// Runs a script of a pipeline in a folder, with the program on the path.
fn bash(script: &str, folder: &Path, variables: &BTreeMap<String, String>) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_driftgate")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var_os("PATH").unwrap().display());
    Command::new("bash")
        .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .envs(variables)
        .output()
        .unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What stands between these marks, each one.
fn between<'a>(whole: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    whole.split(begin).skip(1).map(|rest| rest.split(end).next().unwrap().trim()).collect()
}

struct Run {
    code: i32,
    folder: tempfile::TempDir,
    log: String,
}

impl Run {
    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

/// Runs the action's step as the runner does: inputs through the variables that it names.
fn action(plan: &str, given: &[(&str, &str)]) -> Run {
    let action = &yaml("github/action.yml")[0];
    let folder = tempfile::tempdir().unwrap();
    fs::copy(case(plan).join("plan.json"), folder.path().join("plan.json")).unwrap();
    let given: BTreeMap<&str, &str> =
        [("plan", "plan.json")].into_iter().chain(given.iter().copied()).collect();
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert_eq!((steps.len(), steps[0]["shell"].as_str()), (1, Some("bash")));
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in steps[0]["env"].as_object().unwrap() {
        let input = between(value.as_str().unwrap(), "${{ inputs.", "}}")[0];
        let declared = &action["inputs"][input];
        let value =
            given.get(input).map_or_else(|| text(&declared["default"]), |it| (*it).to_owned());
        variables.insert(name.clone(), value);
    }
    for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        let file = folder.path().join(name);
        fs::write(&file, "").unwrap();
        variables.insert(name.to_owned(), file.display().to_string());
    }
    let output = bash(&text(&steps[0]["run"]), folder.path(), &variables);
    let log =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    Run { code: output.status.code().unwrap(), folder, log }
}

#[test]
fn the_action_names_only_what_it_declares() {
    let text = example("github/action.yml");
    let action = &yaml("github/action.yml")[0];
    for input in between(&text, "${{ inputs.", "}}") {
        assert!(action["inputs"].get(input).is_some(), "{input}");
    }
    // An input within a script would be a part of it.
    let script = action["runs"]["steps"][0]["run"].as_str().unwrap();
    assert!(!script.contains("${{"), "{script}");
    let workflow = example("github/workflow.yml");
    for output in between(&workflow, "steps.gate.outputs.", " ") {
        let output = output.trim_end_matches("}}");
        assert!(action["outputs"].get(output).is_some(), "{output}");
    }
    let workflow = &yaml("github/workflow.yml")[0];
    let steps = workflow["jobs"]["check"]["steps"].as_array().unwrap();
    let gate = steps.iter().find(|step| step["uses"] == "./examples/ci/github").unwrap();
    for input in gate["with"].as_object().unwrap().keys() {
        assert!(action["inputs"].get(input).is_some(), "{input}");
    }
}

#[test]
fn the_action_gates_reports_and_sets_outputs() {
    let run = action("reverted", &[("workspace", "prod/eu $(id) `id`")]);
    assert_eq!(run.code, 2, "{}", run.log);
    let outputs = run.file("GITHUB_OUTPUT");
    assert!(outputs.contains("exit-code=2\n") && outputs.contains("\ndrifted\n"), "{outputs}");
    let sarif = between(&outputs, "sarif=", "\n")[0];
    let sarif: Value = serde_json::from_str(&run.file(sarif)).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let comment = between(&outputs, "comment=", "\n")[0];
    assert!(run.file(comment).starts_with("<!-- driftgate:prod/eu"));
    assert!(!run.file("GITHUB_STEP_SUMMARY").is_empty());
    assert!(run.log.contains("::"), "{}", run.log);
    // What a matrix leaves behind is merged.
    let results = run.folder.path().join("driftgate-results");
    let merged = bash(
        &format!("driftgate fleet --results '{}'", results.display()),
        run.folder.path(),
        &BTreeMap::new(),
    );
    let merged_text = String::from_utf8(merged.stdout).unwrap();
    assert!(merged_text.starts_with("drifted: 1 workspace: 1 drifted"), "{merged_text}");
    assert_eq!(action("noise", &[]).code, 0);
    assert_eq!(action("targeted", &[]).code, 4);
    assert_eq!(action("reverted", &[("fail-on", "drift=high")]).code, 0);
    assert_eq!(action("reverted", &[("plan", "missing.json")]).code, 1);
}

#[test]
fn the_component_of_gitlab_writes_every_report_that_it_promises() {
    let documents = yaml("gitlab/templates/driftgate.yml");
    let (spec, jobs) = (&documents[0]["spec"]["inputs"], documents[1].as_object().unwrap());
    for input in between(&example("gitlab/templates/driftgate.yml"), "$[[ inputs.", "]]") {
        assert!(spec.get(input).is_some(), "{input}");
    }
    let job = jobs.values().next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::copy(case("reverted").join("plan.json"), folder.path().join("plan.json")).unwrap();
    let mut variables = BTreeMap::new();
    for (name, value) in job["variables"].as_object().unwrap() {
        let input = between(value.as_str().unwrap(), "$[[ inputs.", "]]")[0];
        variables.insert(name.clone(), text(&spec[input]["default"]));
    }
    let script: Vec<String> = job["script"].as_array().unwrap().iter().map(text).collect();
    let output = bash(&script.join("\n"), folder.path(), &variables);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    for report in job["artifacts"]["reports"].as_object().unwrap().values() {
        let report = folder.path().join(report.as_str().unwrap());
        assert!(fs::metadata(&report).unwrap().len() > 0, "{}", report.display());
    }
    assert_eq!(job["allow_failure"]["exit_codes"], 4);
}

#[test]
fn the_hook_for_commits_looks_at_the_plans_it_is_given() {
    let hook = &yaml("pre-commit/.pre-commit-hooks.yaml")[0][0];
    for field in ["id", "name", "entry", "language", "files"] {
        assert!(hook[field].is_string(), "{field}");
    }
    let entry = hook["entry"].as_str().unwrap();
    for (name, code) in [("noise", 0), ("reverted", 2)] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(case(name).join("plan.json"), folder.path().join("plan.json")).unwrap();
        let output = bash(&format!("{entry} plan.json"), folder.path(), &BTreeMap::new());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

/// Whether an image can be built needs a daemon; that it names what is there does not.
#[test]
fn the_image_is_made_of_what_the_repository_has() {
    let text = example("docker/Dockerfile");
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    for line in &lines {
        let word = line.split(' ').next().unwrap();
        let known = ["FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"];
        assert!(known.contains(&word), "{line}");
    }
    let manifest =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")).unwrap();
    let version = between(&manifest, "rust-version = \"", "\"")[0];
    assert!(text.contains(&format!("FROM rust:{version}")), "the image builds with Rust {version}");
    assert!(text.contains(concat!("--package ", env!("CARGO_PKG_NAME"), " --bin driftgate")));
    let last = lines.iter().rposition(|line| line.starts_with("FROM")).unwrap();
    assert!(lines[last..].iter().any(|line| line.starts_with("USER 65532")));
    assert!(lines[last..].contains(&r#"ENTRYPOINT ["driftgate"]"#));
}
