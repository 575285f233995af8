//! Every event that was ever written can still be read, field by field, and people can read of each.

use std::{collections::BTreeSet, fs, path::Path};

use host::events::Event;
use serde_json::Value;

#[test]
fn every_event_has_a_fixture_that_reads_back_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let mut with_fixture = BTreeSet::new();
    for file in fs::read_dir(&folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let (event, _version) = name.strip_suffix(".json").unwrap().split_once('.').unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let read = Event::read(event, &text).unwrap().unwrap_or_else(|| {
            panic!("{} is of no event: promised once, an event stays", file.path().display())
        });
        let again: Value = serde_json::from_str(&read.data().unwrap()).unwrap();
        let before: Value = serde_json::from_str(&text).unwrap();
        // Later versions have more fields.
        for (field, value) in before.as_object().unwrap() {
            assert_eq!(&again[field], value, "`{field}` of {name} does not read back the same");
        }
        with_fixture.insert(event.to_owned());
    }
    for event in Event::NAMES {
        let path = folder.join(format!("{event}.v1.json"));
        assert!(
            with_fixture.contains(*event),
            "write {}: the event's own fields, as one JSON object",
            path.display()
        );
    }
}

#[test]
fn the_documentation_lists_every_event() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/host.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, listed) = page.split_once("| event | |\n").expect("docs/host.md lists the events");
    let listed: Vec<&str> =
        listed.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(listed, Event::NAMES, "docs/host.md lists the events in the order of their names");
}
