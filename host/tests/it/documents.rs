//! Every event that was ever written can still be read, field by field.

use std::path::Path;

use host::events::Event;

#[test]
fn every_event_has_a_fixture_that_reads_back_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let mut with_fixture = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let (event, _version) = name.strip_suffix(".json").unwrap().split_once('.').unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let read = Event::read(event, &text).unwrap().unwrap_or_else(|| panic!("{name}"));
        let again: serde_json::Value = serde_json::from_str(&read.data().unwrap()).unwrap();
        let before: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(again, before, "{name}");
        with_fixture.insert(event.to_owned());
    }
    let all: std::collections::BTreeSet<_> = Event::NAMES.iter().map(|&it| it.to_owned()).collect();
    assert_eq!(with_fixture, all);
}
