//! Reports are what their formats say: each is validated against the schema of its format.

use crate::judged::{judged, report};
use driftgate::{
    Report,
    formats::{self, Style},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn schema(file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join(file)).unwrap()).unwrap()
}

/// Every case, and one that has what no case has; each with a name.
fn reports() -> Vec<(String, Report)> {
    let cases = fs::read_dir(root().join("tests/cases")).unwrap().map(|entry| entry.unwrap());
    let mut reports: Vec<(String, Report)> = cases
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (name.clone(), report(&name)))
        .collect();
    reports.push(("judged".to_owned(), judged()));
    reports
}

fn render(report: &Report, format: &str) -> String {
    (formats::find(format).unwrap().render)(report, &Style::default())
}

fn faults(validator: &jsonschema::Validator, text: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(text).unwrap();
    validator.iter_errors(&document).map(|it| format!("{}: {it}", it.instance_path())).collect()
}

#[test]
fn json_reports_follow_the_published_schema() {
    let schema = schema("schema/report.v1.json");
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, report) in reports() {
        let printed = render(&report, "json");
        assert_eq!(faults(&validator, &printed), [""; 0], "{name}");
        // The schema is strict: a report with a field more or less does not pass.
        let mut document: Value = serde_json::from_str(&printed).unwrap();
        document["extra"] = json!(1);
        assert!(!validator.is_valid(&document));
        document.as_object_mut().unwrap().retain(|key, _| key != "extra" && key != "findings");
        assert!(!validator.is_valid(&document));
    }
}

#[test]
fn events_follow_the_published_schema() {
    let registry = jsonschema::Registry::new()
        .add("urn:driftgate:report:v1", schema("schema/report.v1.json"))
        .unwrap()
        .prepare()
        .unwrap();
    let schema = schema("schema/cloudevents.v1.json");
    let validator = jsonschema::options().with_registry(&registry).build(&schema).unwrap();
    for (name, report) in reports() {
        let printed = render(&report, "cloudevents");
        let mut ids = Vec::new();
        for line in printed.lines() {
            assert_eq!(faults(&validator, line), [""; 0], "{name}");
            let event: Value = serde_json::from_str(line).unwrap();
            ids.push(event["id"].to_string());
        }
        let events = 1 + report.findings.len() + report.violations.len();
        assert_eq!(ids.len(), events + report.checks.len() + report.resolved.len(), "{name}");
        ids.sort();
        ids.dedup_by(|left, right| left == right);
        assert_eq!(ids.len(), printed.lines().count(), "{name}: ids are single");
    }
    assert!(!validator.is_valid(&json!({ "specversion": "1.0" })));
}

#[test]
fn sarif_follows_the_standard() {
    let mut schema = schema("tests/schemas/sarif-2.1.0.json");
    // The standard's pattern for languages is no regular expression; our logs name no language.
    for name in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][name]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, report) in reports() {
        for format in ["sarif", "github-sarif"] {
            let printed = render(&report, format);
            assert_eq!(faults(&validator, &printed), [""; 0], "{name} {format}");
            let log: Value = serde_json::from_str(&printed).unwrap();
            let run = &log["runs"][0];
            let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
            for result in run["results"].as_array().unwrap() {
                let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
                assert_eq!(rule["id"], result["ruleId"]);
            }
        }
    }
    assert!(!validator.is_valid(&json!({ "version": "2.1.0" })));
}

#[test]
fn sarif_tells_what_is_new_known_ignored_and_gone() {
    let results = |format: &str| -> Vec<(String, String, bool)> {
        let log: Value = serde_json::from_str(&render(&judged(), format)).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let fields = results.iter().map(|it| {
            let text = |field: &str| it[field].as_str().unwrap_or_default().to_owned();
            (text("ruleId"), text("baselineState"), it.get("suppressions").is_some())
        });
        fields.collect()
    };
    let row = |rule: &str, state: &str, suppressed| (rule.to_owned(), state.to_owned(), suppressed);
    let policy = "policy/no-public-buckets";
    assert_eq!(
        results("sarif"),
        [
            row("one-way-door", "new", false),
            row("conflict", "unchanged", true),
            row("reverted", "new", true),
            row("reverted", "new", true),
            row(policy, "new", false),
            row(policy, "unchanged", true),
            row("check-failed", "new", false),
            row("reverted", "absent", false),
        ]
    );
    assert_eq!(
        results("github-sarif"),
        [
            row("one-way-door", "new", false),
            row(policy, "new", false),
            row("check-failed", "new", false),
        ]
    );
}

#[test]
fn code_scanning_gets_the_gravest_results_and_a_note() {
    let mut report = report("one_way");
    let mut mild = report.findings[0].clone();
    mild.severity = driftgate::rule::Severity::Info;
    report.findings.splice(0..0, std::iter::repeat_n(mild, 5_000));
    let log: Value = serde_json::from_str(&render(&report, "github-sarif")).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 5_000);
    assert_eq!(run["results"][0]["level"], "error");
    let note = run["invocations"][0]["toolExecutionNotifications"][0].to_string();
    assert!(note.contains("1 result left out"), "{note}");
}

#[test]
fn junit_follows_its_schema_and_counts_right() {
    let printed = render(&judged(), "junit");
    assert!(printed.contains("tests=\"8\" failures=\"3\" errors=\"0\" skipped=\"4\""), "{printed}");
    let found = Command::new("xmllint").arg("--version").stderr(Stdio::null()).status();
    if found.is_err() {
        println!("skipped: there is no xmllint");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let schema = root().join("tests/schemas/junit.xsd");
    let valid = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let run =
            Command::new("xmllint").args(["--noout", "--schema"]).arg(&schema).arg(&file).output();
        let run = run.unwrap();
        (run.status.success(), String::from_utf8(run.stderr).unwrap())
    };
    for (name, report) in reports() {
        let (is_valid, told) = valid(&name, &render(&report, "junit"));
        assert!(is_valid, "{name}: {told}");
    }
    assert!(!valid("broken", &printed.replace("classname", "class")).0);
}

#[test]
fn azure_github_and_gitlab_are_told_of_what_is_new_only() {
    let report = judged();
    for (format, told) in [("azure", 3), ("github", 3), ("gitlab-codequality", 3)] {
        let printed = render(&report, format);
        let marks = ["task.logissue", "::error ", "::warning ", "\"fingerprint\""];
        let count: usize = marks.iter().map(|mark| printed.matches(mark).count()).sum();
        assert_eq!(count, told, "{format}:\n{printed}");
    }
}

#[test]
fn annotations_keep_within_what_github_shows() {
    let mut report = report("one_way");
    let finding = report.findings[0].clone();
    report.findings = std::iter::repeat_n(finding, 25).collect();
    let printed = render(&report, "github");
    assert_eq!(printed.lines().count(), 10);
    assert!(printed.lines().last().unwrap().contains("16 more findings of this level"));
}

#[test]
fn the_number_of_series_does_not_grow_with_the_plan() {
    let mut report = report("one_way");
    let series = |report: &Report| {
        let printed = render(report, "prometheus");
        let lines: Vec<String> =
            printed.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        assert!(
            printed.lines().all(|line| line.starts_with("# ") || line.starts_with("driftgate_"))
        );
        lines
    };
    let few = series(&report);
    let finding = report.findings[0].clone();
    for number in 0..1_000 {
        let mut finding = finding.clone();
        finding.address = format!("aws_thing.a[{number}]");
        report.findings.push(finding);
    }
    let many = series(&report);
    assert_eq!(few.len(), many.len());
    assert!(many.iter().any(|line| line.contains("one-way-door") && line.ends_with(" 1001")));
}
