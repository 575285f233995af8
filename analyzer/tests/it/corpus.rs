//! Real plans of public projects, where their folder is present: no panic, the same output twice,
//! and the counts of their index.
//!
//! The folder is `../shared/corpus` beside the repository, or what `DRIFTGATE_CORPUS` names.

use driftgate::{
    Limits, ReadError, Report, check,
    formats::{FORMATS, Style},
    read_schemas, read_state,
    report::{Reason, Verdict},
    state::{Object, Receiver},
    value::Value,
};
use std::{fs, path::PathBuf};

fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("DRIFTGATE_CORPUS").map(PathBuf::from);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let beside = ["../../shared/corpus", "../../../shared/corpus"].map(|path| root.join(path));
    let found = named.into_iter().chain(beside).find(|path| path.join("index.tsv").is_file());
    if found.is_none() {
        println!("skipped: there is no corpus beside the repository");
    }
    found
}

fn render(report: &Report) -> Vec<String> {
    let style = Style::default();
    FORMATS.iter().map(|format| (format.render)(report, &style)).collect()
}

#[test]
fn real_plans_have_the_counts_of_their_index() {
    let Some(corpus) = corpus() else { return };
    let index = fs::read_to_string(corpus.join("index.tsv")).unwrap();
    let mut checked = 0;
    for line in index.lines().skip(1).filter(|line| line.starts_with("plan/")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (file, changes, drift) = (fields[0], fields[4], fields[5]);
        let plan = fs::read(corpus.join(file)).unwrap();
        let report = match check(plan.as_slice(), Limits::STANDARD) {
            Ok(report) => report,
            // What is no plan after all may be refused, but not misread.
            Err(error @ (ReadError::Kind(_) | ReadError::Version(_))) => {
                println!("{file}: {error}");
                continue;
            }
            Err(error) => panic!("{file}: {error}"),
        };
        checked += 1;
        if let Ok(changes) = changes.parse::<usize>() {
            assert_eq!(report.counts.resources, changes, "{file}");
        }
        let drift: usize = drift.parse().unwrap_or(0);
        assert!(report.counts.drifted <= drift, "{file}");
        if drift == 0 {
            assert_ne!(report.verdict, Verdict::Drifted, "{file}");
        }
        let again = check(plan.as_slice(), Limits::STANDARD).unwrap();
        assert_eq!(render(&report), render(&again), "{file}");
    }
    assert!(checked > 100, "only {checked} plans were read");
}

#[test]
fn real_drift_is_found() {
    let Some(corpus) = corpus() else { return };
    for (name, drifted, outcomes) in [
        (
            "opentofu+opentofu__testing__equivalence-tests__outputs__drift_simple__plan",
            1,
            "reverted",
        ),
        (
            "opentofu+opentofu__testing__equivalence-tests__outputs__drift_relevant_attributes__plan",
            1,
            "conflict",
        ),
        (
            "hashicorp+terraform__testing__equivalence-tests__outputs__drift_refresh_only__plan",
            1,
            "undecidable",
        ),
        (
            "opentofu+opentofu__testing__equivalence-tests__outputs__moved_with_drift__plan",
            1,
            "conflict",
        ),
        (
            "hashicorp+terraform__testing__equivalence-tests__outputs__moved_with_refresh_only__plan",
            0,
            "",
        ),
    ] {
        let plan = fs::read(corpus.join(format!("plan/{name}.json"))).unwrap();
        let report = check(plan.as_slice(), Limits::STANDARD).unwrap();
        assert_eq!(report.counts.drifted, drifted, "{name}");
        assert!(
            drifted == 0 || report.counts.fates.contains_key(outcomes),
            "{name}: {:?}",
            report.counts
        );
    }
}

/// Looks at no object.
struct Nobody;

impl Receiver for Nobody {
    fn object(&mut self, _: Object) {}

    fn output(&mut self, _: &str, _: Value, _: bool) {}
}

fn resources(module: &serde_json::Value) -> usize {
    let list = |key: &str| module[key].as_array().cloned().unwrap_or_default();
    list("resources").len() + list("child_modules").iter().map(resources).sum::<usize>()
}

#[test]
fn real_states_have_the_counts_of_their_index() {
    let Some(corpus) = corpus() else { return };
    let index = fs::read_to_string(corpus.join("index.tsv")).unwrap();
    let mut read = 0;
    for line in
        index.lines().filter(|it| it.starts_with("rawstate/") || it.starts_with("statejson/"))
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(state) = fs::read(corpus.join(fields[0])) else { continue };
        let info = read_state(state.as_slice(), Limits::STANDARD, &mut Nobody)
            .unwrap_or_else(|error| panic!("{}: {error}", fields[0]));
        read += 1;
        // What the index did not count is -1 in it.
        if let Ok(mut expected) = fields[4].parse::<usize>() {
            if line.starts_with("statejson/") {
                // There it counts everything that has an address: modules and checks too.
                let document: serde_json::Value = serde_json::from_slice(&state).unwrap();
                let objects = resources(&document["values"]["root_module"]);
                assert!(objects <= expected, "{}", fields[0]);
                expected = objects;
            }
            assert_eq!(info.entries, expected, "{}", fields[0]);
        }
    }
    assert!(read > 60, "only {read} states were read");
}

#[test]
fn real_provider_schemas_are_read() {
    let Some(corpus) = corpus() else { return };
    let mut types = 0;
    for entry in fs::read_dir(corpus.join("schemas")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        types += read_schemas(bytes.as_slice(), Limits::STANDARD)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            .len();
    }
    assert!(types >= 6, "only {types} resource types were found");
}

#[test]
fn real_redacted_plans_have_the_counts_of_their_index_and_prove_nothing() {
    let Some(corpus) = corpus() else { return };
    let index = fs::read_to_string(corpus.join("index.tsv")).unwrap();
    for line in index.lines().filter(|line| line.starts_with("redactedplan/")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let plan = fs::read(corpus.join(fields[0])).unwrap();
        let report = check(plan.as_slice(), Limits::STANDARD).unwrap();
        assert_eq!(report.counts.resources.to_string(), fields[4], "{line}");
        assert_eq!(report.counts.drifted.to_string(), fields[5], "{line}");
        assert_eq!(report.reasons, [Reason::Redacted], "{line}");
        assert_ne!(report.verdict, Verdict::Clean, "{line}");
    }
}

#[test]
fn real_event_streams_have_the_changes_that_their_lines_name() {
    let Some(corpus) = corpus() else { return };
    for entry in fs::read_dir(corpus.join("uilog")).unwrap() {
        let path = entry.unwrap().path();
        let stream = fs::read(&path).unwrap();
        let report = check(stream.as_slice(), Limits::STANDARD).unwrap();
        let text = String::from_utf8(stream).unwrap();
        let events = |kind: &str| text.matches(&format!(r#""type":"{kind}""#)).count();
        assert_eq!(report.counts.resources, events("planned_change"), "{}", path.display());
        assert_eq!(report.counts.drifted, events("resource_drift"), "{}", path.display());
        let errored = text.contains(r#""severity":"error""#);
        let reasons: &[Reason] = if errored { &[Reason::Errored] } else { &[] };
        assert_eq!(report.reasons, reasons, "{}", path.display());
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    let Some(corpus) = corpus() else { return };
    for folder in ["rawstate", "schemas", "statejson"] {
        for entry in fs::read_dir(corpus.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            match check(bytes.as_slice(), Limits::STANDARD) {
                Ok(report) => panic!("{} is {}", path.display(), report.verdict.name()),
                Err(error) => assert!(error.to_string().len() > 20),
            }
        }
    }
}
