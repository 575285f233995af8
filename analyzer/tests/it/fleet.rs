//! `driftgate fleet`: many plans, and the results of many jobs.

use crate::program::{case, driftgate};
use serde_json::Value;
use std::{fs, path::Path};

/// A folder with these cases' plans under these names.
fn folder(plans: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, name) in plans {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(case(name).join("plan.json"), path).unwrap();
    }
    folder
}

fn run(arguments: &[&str]) -> (i32, String) {
    let mut all = vec!["fleet", "--no-config"];
    all.extend(arguments);
    let output = driftgate(&all, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text + &String::from_utf8(output.stderr).unwrap())
}

fn json(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec![folder.to_str().unwrap(), "--format", "json"];
    all.extend(arguments);
    let (code, text) = run(&all);
    let report: Value = serde_json::from_str(&text).unwrap();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/fleet.v1.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    jsonschema::validate(&schema, &report).unwrap();
    assert_eq!(report["exit_code"], code);
    (code, report)
}

fn outcomes(report: &Value) -> Vec<(&str, &str)> {
    let workspaces = report["workspaces"].as_array().unwrap().iter();
    workspaces.map(|it| (it["name"].as_str().unwrap(), it["outcome"].as_str().unwrap())).collect()
}

#[test]
fn the_same_drift_in_many_workspaces_is_one_finding_with_a_list() {
    let folder = folder(&[
        ("prod/eu/plan.json", "reverted"),
        ("prod/us.json", "reverted"),
        ("test.json", "conflict"),
        ("clean.json", "noise"),
    ]);
    let (code, report) = json(folder.path(), &[]);
    assert_eq!(code, 2);
    assert_eq!(report["verdict"], "drifted");
    assert_eq!(
        outcomes(&report),
        [("clean", "clean"), ("prod/eu", "drifted"), ("prod/us", "drifted"), ("test", "drifted")]
    );
    let of = |rule: &str| -> Vec<&Value> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.filter(|finding| finding["rule"] == rule).map(|it| &it["workspaces"]).collect()
    };
    for workspaces in of("reverted") {
        assert_eq!(workspaces, &serde_json::json!(["prod/eu", "prod/us"]));
    }
    assert_eq!(of("conflict"), [&serde_json::json!(["test"])]);
    // The gravest first.
    assert_eq!(report["findings"][0]["rule"], "conflict");
}

#[test]
fn the_worst_workspace_decides_the_exit_code() {
    for (plans, arguments, code) in [
        (&[("a.json", "noise")][..], &[][..], 0),
        (&[("a.json", "noise"), ("b.json", "targeted")], &[], 4),
        (&[("a.json", "reverted"), ("b.json", "targeted")], &[], 2),
        (&[("a.json", "planned_details")], &["--fail-on", "pending"], 3),
        (&[("a.json", "planned_details"), ("b.json", "targeted")], &["--fail-on", "pending"], 4),
        (&[("a.json", "reverted")], &["--fail-on", "drift=high"], 0),
        (&[("a.json", "reverted")], &["--exit-zero"], 0),
    ] {
        let folder = folder(plans);
        assert_eq!(json(folder.path(), arguments).0, code, "{plans:?} {arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_is_listed_and_never_passes() {
    let folder = folder(&[("good.json", "noise")]);
    let plan = fs::read(case("reverted").join("plan.json")).unwrap();
    fs::write(folder.path().join("cut.json"), &plan[..plan.len() / 2]).unwrap();
    fs::write(folder.path().join("empty.json"), "").unwrap();
    fs::write(folder.path().join("package.json"), "{\"name\":\"x\"}").unwrap();
    fs::write(folder.path().join("state.json"), br#"{"format_version":"1.0","values":{}}"#)
        .unwrap();
    fs::write(folder.path().join("readme.md"), "not looked at").unwrap();
    for (arguments, code) in [(&[][..], 4), (&["--exit-zero"], 4), (&["--allow-inconclusive"], 4)] {
        let (found, report) = json(folder.path(), arguments);
        assert_eq!(found, code, "{arguments:?}");
        assert_eq!(report["verdict"], "inconclusive");
        assert_eq!(
            outcomes(&report),
            [
                ("cut", "unreadable"),
                ("empty", "unreadable"),
                ("good", "clean"),
                ("package", "foreign"),
                ("state", "foreign"),
            ]
        );
        assert!(report["workspaces"][0]["message"].as_str().unwrap().contains("cut off"));
    }
    fs::remove_file(folder.path().join("cut.json")).unwrap();
    fs::remove_file(folder.path().join("empty.json")).unwrap();
    assert_eq!(json(folder.path(), &[]).0, 0);
    // Unless every file was meant to be a plan.
    assert_eq!(json(folder.path(), &["--strict"]).0, 4);
}

#[test]
fn a_folder_without_plans_is_an_error_and_not_clean() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = run(&[folder.path().to_str().unwrap()]);
    assert_eq!((code, text.contains("there is no plan")), (1, true), "{text}");
    fs::write(folder.path().join("x.json"), "{\"name\":\"x\"}").unwrap();
    assert_eq!(json(folder.path(), &[]).0, 4);
    let (code, text) = run(&["/no/such/folder"]);
    assert_eq!((code, text.contains("unreadable")), (4, true), "{text}");
    let (code, text) = run(&[]);
    assert_eq!(code, 1, "{text}");
}

#[cfg(unix)]
#[test]
fn loops_of_links_and_hidden_folders_are_not_entered() {
    let folder = folder(&[("a/plan.json", "noise"), (".terraform/plan.json", "reverted")]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.json")).unwrap();
    std::os::unix::fs::symlink("a/plan.json", folder.path().join("link.json")).unwrap();
    let (code, report) = json(folder.path(), &[]);
    assert_eq!(code, 4);
    let found = outcomes(&report);
    assert!(found.contains(&("a", "clean")) && found.contains(&("link", "clean")), "{found:?}");
    assert!(
        found.iter().any(|(name, outcome)| name.ends_with("dangling") && *outcome == "unreadable")
    );
    assert_eq!(found.len(), 3);
}

#[test]
fn a_list_names_sources_and_files_have_a_limit() {
    let folder = folder(&[("a/plan.json", "noise"), ("b.json", "reverted")]);
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("list"), format!("# mine\n\n  {}  \n{}\n", at("a"), at("b.json"))).unwrap();
    let (code, text) = run(&["--list", &at("list")]);
    assert_eq!(code, 2, "{text}");
    assert!(text.starts_with("drifted: 2 workspaces: 1 drifted, 1 clean\n"), "{text}");
    let (code, text) = run(&[folder.path().to_str().unwrap(), "--max-files", "1"]);
    assert_eq!((code, text.contains("more than 1 files")), (1, true), "{text}");
}

#[test]
fn merged_results_say_what_the_plans_say() {
    let names =
        ["reverted", "conflict", "noise", "targeted", "planned_details", "one_way", "errored"];
    let plans: Vec<(String, &str)> =
        names.iter().map(|name| (format!("{name}.json"), *name)).collect();
    let plans: Vec<(&str, &str)> =
        plans.iter().map(|(path, name)| (path.as_str(), *name)).collect();
    let folder = folder(&plans);
    let results = tempfile::tempdir().unwrap();
    for (path, name) in &plans {
        let (plan, output) = (folder.path().join(path), results.path().join(path));
        let (plan, output) = (plan.to_str().unwrap(), output.to_str().unwrap());
        let arguments =
            ["check", plan, "--no-config", "--workspace", name, "--format", "json", "-o", output];
        driftgate(&arguments, b"");
    }
    for arguments in [&[][..], &["--fail-on", "actionable=critical"], &["--fail-on", "pending"]] {
        let (code, report) = json(folder.path(), arguments);
        let mut merging = vec!["--results", results.path().to_str().unwrap(), "--format", "json"];
        merging.extend(arguments);
        let (merged_code, merged) = run(&merging);
        assert_eq!(merged_code, code, "{arguments:?}");
        assert_eq!(serde_json::from_str::<Value>(&merged).unwrap(), report, "{arguments:?}");
    }
}

#[test]
fn results_that_are_not_understood_are_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let plan = case("reverted").join("plan.json");
    let result = driftgate(&["check", plan.to_str().unwrap(), "--format", "json"], b"").stdout;
    let good: Value = serde_json::from_slice(&result).unwrap();
    let mut damages =
        vec![("cut", result[..result.len() / 2].to_vec()), ("plan", fs::read(plan).unwrap())];
    for (name, pointer, value) in [
        ("version", "/schema_version", Value::from(2)),
        ("verdict", "/verdict", "fine".into()),
        ("rule", "/findings/0/rule", "of-the-future".into()),
        ("severity", "/findings/0/severity", "grave".into()),
        ("standing", "/findings/0/standing", Value::Null),
        ("findings", "/findings", Value::Null),
    ] {
        let mut damaged = good.clone();
        *damaged.pointer_mut(pointer).unwrap() = value;
        damages.push((name, damaged.to_string().into_bytes()));
    }
    for (name, text) in &damages {
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let (code, text) = run(&["--results", folder.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(code, 4, "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["counts"]["unreadable"], damages.len(), "{text}");
}

/// A span ends at as many backticks as it began with.
fn outside_of_spans(text: &str) -> String {
    let mut outside = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find('`') {
        outside.push_str(&rest[..begin]);
        let inner = rest[begin..].trim_start_matches('`');
        let ticks = &rest[begin..rest.len() - inner.len()];
        let mut end = inner.find(ticks).unwrap();
        while inner[end..].trim_start_matches('`').len() + ticks.len() != inner[end..].len() {
            let longer = inner[end..].len() - inner[end..].trim_start_matches('`').len();
            end += longer + inner[end + longer..].find(ticks).unwrap();
        }
        rest = &inner[end + ticks.len()..];
    }
    outside + rest
}

#[test]
fn no_format_prints_a_secret_or_markup_of_a_plan_or_a_file_name() {
    let folder = folder(&[("hostile.json", "hostile_text"), ("sensitive.json", "sensitive")]);
    let name = "@all <b>`x\u{202e}##vso[task].json";
    fs::copy(case("reverted").join("plan.json"), folder.path().join(name)).unwrap();
    fs::write(folder.path().join("@bad <i>\u{1b}[31m.json"), "{\"a\":").unwrap();
    for format in ["text", "markdown", "json", "prometheus"] {
        let (_, text) = run(&[folder.path().to_str().unwrap(), "--format", format]);
        let hidden = |it: char| it != '\n' && driftgate::formats::is_hidden(it);
        assert!(!text.contains(hidden), "{format}: {text:?}");
        assert!(!text.contains("##vso["), "{format}");
        assert!(text.contains("sensitive") && !text.contains("s3cret"), "{format}: {text}");
        if format == "markdown" {
            let outside = outside_of_spans(&text);
            assert!(!outside.contains("@all") && !outside.contains("<i>"), "{text}");
        }
    }
}

#[test]
fn long_pages_are_cut_and_say_so() {
    let plans: Vec<String> = (0..200).map(|at| format!("workspace-{at:03}.json")).collect();
    let plans: Vec<(&str, &str)> = plans.iter().map(|path| (path.as_str(), "targeted")).collect();
    let folder = folder(&plans);
    let arguments =
        [folder.path().to_str().unwrap(), "--format", "markdown", "--comment-max", "4000"];
    let (code, text) = run(&arguments);
    assert_eq!(code, 4);
    assert!(text.len() <= 4_000 && text.contains("more are left out"), "{}: {text}", text.len());
    assert!(text.contains("200 workspaces: 200 inconclusive"), "{text}");
}
