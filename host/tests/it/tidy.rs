//! The crate's own rules.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files of the heart, or folders of them: plain data and pure functions.
const HEART: &[&str] = &[
    "accounts/model.rs",
    "admission",
    "admission.rs",
    "capacity/amounts.rs",
    "capacity/correct.rs",
    "capacity/excess.rs",
    "capacity/ledger.rs",
    "capacity/placement.rs",
    "capacity/quota.rs",
    "capacity/recount.rs",
    "capacity/room.rs",
    "capacity/rules.rs",
    "capacity/target.rs",
    "capacity/tree.rs",
    "conditions.rs",
    "environments/model.rs",
    "events",
    "events.rs",
    "ids.rs",
    "leases.rs",
    "leases/admit.rs",
    "leases/conditions.rs",
    "leases/index.rs",
    "leases/line.rs",
    "leases/model.rs",
    "leases/reclaim.rs",
    "leases/rules.rs",
    "leases/settle.rs",
    "observed.rs",
    "operations/decide.rs",
    "operations/model.rs",
    "planner",
    "planner.rs",
    "pools/conditions.rs",
    "pools/model.rs",
    "pools/rules.rs",
    "pools/template.rs",
    "pools/worker.rs",
    "records.rs",
    "resource.rs",
    "subscriptions/delivery.rs",
    "subscriptions/model.rs",
    "tokens/decide.rs",
    "tokens/model.rs",
    "violations.rs",
];

/// What the heart does not name. Of the drivers it may name what they report.
const EDGE: &[&str] = &[
    "CapacityDriver",
    "Timestamp::now",
    "crate::api",
    "crate::board",
    "crate::causes",
    "crate::clock",
    "crate::config",
    "crate::executor",
    "crate::places",
    "crate::server",
    "crate::store",
    "crate::supervisor",
    "crate::tasks",
    "futures",
    "prost",
    "proto::runtimecloud",
    "rusqlite",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
    "tonic",
    "tracing",
];

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|it| it == "rs") {
        found.push(path.to_owned());
    }
}

fn all_in(root: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root), &mut found);
    found
}

#[test]
fn the_heart_names_no_edge() {
    let mut seen = 0;
    for part in HEART {
        for path in all_in(&format!("src/{part}")) {
            seen += 1;
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: String = code.collect::<Vec<_>>().join("\n");
            for name in EDGE {
                assert!(!code.contains(name), "{} names {name}", path.display());
            }
        }
    }
    assert!(seen >= HEART.len(), "a file of the heart has moved: {seen} found");
}

#[test]
fn tables_are_sorted() {
    assert!(HEART.is_sorted() && EDGE.is_sorted());
    let events = host::events::Event::NAMES;
    assert!(events.is_sorted(), "`events!` is to be sorted by name: {events:?}");
    let methods = host::api::gate::METHODS;
    assert!(methods.is_sorted_by_key(|(path, _)| path), "METHODS is to be sorted by path");
    let drivers = host::capacity::target::DriverKind::ALL;
    assert!(
        drivers.is_sorted_by_key(|kind| kind.name()),
        "DriverKind::ALL is to be sorted by name"
    );
}

#[test]
fn files_are_short_and_begin_with_their_purpose() {
    for path in all_in("src") {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} does not say what it is", path.display());
        let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
        let lines = text[..tests].lines().count();
        assert!(lines <= 600, "{} has {lines} lines: split it", path.display());
    }
}
