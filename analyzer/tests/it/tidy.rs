//! The crate's own rules of order.

use crate::case;
use driftgate::{
    exit_code::EXIT_CODES, explain, fate::Fate, formats::FORMATS, gate::Class, noise::Noise,
    proposal::ProposalKind, report::Reason, rule::RULES,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files that only compute: they name no stream, file, clock, environment or terminal.
const EDGE: &[&str] = &[
    "adopt/canonical/tests.rs",
    "adopt/folder.rs",
    "adopt/write.rs",
    "analysis/documents.rs",
    "cli",
    "cli.rs",
    "commands",
    "commands.rs",
    "compare.rs",
    "compare/plans.rs",
    "exit_code.rs",
    "lib.rs",
    "main.rs",
    "progress.rs",
    "read/envelope.rs",
    "read/error.rs",
    "read/events.rs",
    "read/plan.rs",
    "read/references.rs",
    "read/schemas.rs",
    "read/sections.rs",
    "read/source.rs",
    "read/state.rs",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

fn source_files() -> Vec<(String, String)> {
    let src = root().join("src");
    let mut found = Vec::new();
    sources(&src, &mut found);
    found.sort();
    found
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(root().join("tests/cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    cases
}

#[test]
fn the_heart_names_no_edge() {
    let words = [
        "std::fs",
        "fs::",
        "std::io",
        "io::",
        "std::env",
        "std::net",
        "std::process",
        "clap",
        "SystemTime",
    ];
    for (name, text) in source_files() {
        let folder = name.split_once('/').map_or("", |(folder, _)| folder);
        let is_test = name.ends_with("/tests.rs");
        if is_test || EDGE.contains(&name.as_str()) || EDGE.contains(&folder) {
            continue;
        }
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for word in words {
                assert!(!line.contains(word), "{name} names {word}: {line}");
            }
        }
    }
}

#[test]
fn the_list_of_the_edge_holds_no_more_than_it_must() {
    let names: Vec<String> = source_files().into_iter().map(|(name, _)| name).collect();
    for name in EDGE {
        let is_there = |known: &String| known == name || known.starts_with(&format!("{name}/"));
        assert!(names.iter().any(is_there), "{name} is not there any more");
    }
    assert!(EDGE.is_sorted());
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for (name, text) in source_files() {
        assert!(text.starts_with("//!"), "{name} does not begin with what it is");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
        assert!(code <= 400, "{name} has {code} lines");
    }
}

#[test]
fn tables_are_sorted() {
    let tables: [(&str, Vec<&str>); 7] = [
        ("Class::ALL", Class::ALL.iter().map(|it| it.name()).collect()),
        ("formats::FORMATS", FORMATS.iter().map(|format| format.name).collect()),
        ("Fate::ALL", Fate::ALL.iter().map(|it| it.name()).collect()),
        ("Noise::ALL", Noise::ALL.iter().map(|it| it.name()).collect()),
        ("ProposalKind::ALL", ProposalKind::ALL.iter().map(|it| it.name()).collect()),
        ("RULES", RULES.iter().map(|rule| rule.id).collect()),
        ("Reason::ALL", Reason::ALL.iter().map(|it| it.name()).collect()),
    ];
    for (table, names) in tables {
        assert!(names.is_sorted(), "{table} is to be sorted by name: {names:?}");
    }
}

#[test]
fn every_topic_has_a_name_of_its_own_in_its_group() {
    let topics = explain::topics();
    let mut names: Vec<_> = topics.iter().map(|topic| (topic.group, topic.name)).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn every_case_is_complete() {
    for case in cases() {
        assert!(case.join("plan.json").is_file(), "{} has no plan", case.display());
        assert!(
            case.join("about.md").is_file(),
            "{} does not say what it is about",
            case.display()
        );
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        for format in FORMATS {
            let wanted = match format.name {
                "json" | "text" => true,
                // Most of a page is the same in every case.
                "html" => name == "hostile_text",
                _ => IN_EVERY_FORMAT.contains(&name.as_str()),
            };
            let expected = case.join(format!("expected.{}", format.name));
            if wanted && case::is_update() && !expected.exists() {
                fs::write(&expected, case::render(&case, format.name).unwrap()).unwrap();
            }
            assert!(
                expected.is_file() || !wanted,
                "{} is missing: `UPDATE=1 cargo test -p analyzer` writes it",
                expected.display()
            );
        }
    }
}

/// The others show text and JSON only: what differs between formats is the same for all findings.
const IN_EVERY_FORMAT: &[&str] =
    &["hostile_text", "one_way", "planned_details", "sensitive", "targeted"];

#[test]
fn the_cases_in_every_format_are_there() {
    for name in IN_EVERY_FORMAT {
        assert!(root().join("tests/cases").join(name).is_dir(), "{name} is not there any more");
    }
}

#[test]
fn the_documentation_knows_every_class_format_code_and_topic() {
    let page = fs::read_to_string(root().join("../docs/driftgate.md")).unwrap();
    let mut words: Vec<String> =
        Class::ALL.iter().map(|class| format!("`{}`", class.name())).collect();
    words.extend(FORMATS.iter().map(|format| format!("`{}`", format.name)));
    words.extend(EXIT_CODES.iter().map(|(code, _)| format!("| {} |", *code as u8)));
    words.extend(explain::topics().iter().map(|topic| topic.name.to_owned()));
    for word in words {
        assert!(page.contains(&word), "docs/driftgate.md does not name {word}");
    }
}
