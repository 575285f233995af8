//! The order of a plan's sections makes no difference.

use crate::case;
use driftgate::{Limits, ReadError, Report, check, check_file, formats};
use std::{fs::File, io::Cursor, path::PathBuf};

fn changes_first() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/changes_first")
}

fn json(report: &Report) -> String {
    let style = formats::Style::default();
    (formats::find("json").unwrap().render)(report, &style)
}

#[test]
fn a_pipe_and_a_file_give_the_same_report() {
    let plan = std::fs::read(changes_first().join("plan.json")).unwrap();
    let piped = check(plan.as_slice(), Limits::STANDARD).unwrap();
    let filed =
        check_file(File::open(changes_first().join("plan.json")).unwrap(), Limits::STANDARD);
    assert_eq!(json(&piped), json(&filed.unwrap().report));
    assert_eq!(piped.counts.drifted, 1);
    assert_eq!(piped.findings[0].fate, driftgate::fate::Fate::Reverted);
}

#[test]
fn what_a_pipe_cannot_hold_is_an_error_and_a_file_still_works() {
    let plan = std::fs::read(changes_first().join("plan.json")).unwrap();
    let limits = Limits { held_bytes_max: 10, ..Limits::STANDARD };
    assert!(matches!(check(plan.as_slice(), limits), Err(ReadError::OrderNeedsFile)));
    assert!(check_file(Cursor::new(plan), limits).is_ok());
}

#[test]
fn blocks_of_any_size_give_the_same_report() {
    /// Hands out a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);
    impl std::io::Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    for name in ["hostile_text", "noise", "sensitive"] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
        let plan = std::fs::read(folder.join("plan.json")).unwrap();
        let whole = json(&check(plan.as_slice(), Limits::STANDARD).unwrap());
        for size in [1, 2, 3, 7, 64] {
            let dropped = check(Drops(&plan, size), Limits::STANDARD).unwrap();
            assert_eq!(json(&dropped), whole, "{name} in drops of {size}");
        }
        drop(case::render(&folder, "text"));
    }
}

#[test]
fn events_of_several_runs_give_the_same_report_from_a_pipe_and_from_a_file() {
    let event = |kind: &str, name: &str| {
        format!(
            r#"{{"@level":"info","change":{{"resource":{{"addr":"a_b.{name}","resource":"a_b.{name}","resource_type":"a_b","resource_name":"{name}"}},"action":"update"}},"type":"{kind}"}}"#
        )
    };
    let planned = |name| event("planned_change", name);
    let drift = |name| event("resource_drift", name);
    let lines = [planned("a"), planned("b"), drift("a"), planned("c"), drift("c"), planned("d")];
    let stream = lines.join("\n");
    let piped = check(stream.as_bytes(), Limits::STANDARD).unwrap();
    let filed = check_file(Cursor::new(stream), Limits::STANDARD).unwrap();
    assert_eq!(json(&piped), json(&filed.report));
    assert_eq!((piped.counts.drifted, piped.counts.resources), (2, 4));
}
