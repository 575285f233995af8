//! Comparing: an input does not differ from itself, and any two give a report or an error.

use driftgate::{
    Options, compare,
    formats::{FORMATS, Style},
};
use std::io::Cursor;

/// Stands between the two inputs.
const BORDER: &[u8] = b"\n|\n";

/// Compares what stands before and behind the border.
pub fn check(data: &[u8]) {
    let at = data.windows(BORDER.len()).position(|window| window == BORDER);
    let (first, second) = match at {
        Some(at) => (&data[..at], &data[at + BORDER.len()..]),
        None => (data, data),
    };
    let options = Options::default();
    if let Ok(checked) = compare(Cursor::new(first), Cursor::new(first), &options) {
        assert_eq!(checked.report.counts.drifted, 0, "it differs from itself");
    }
    if let Ok(checked) = compare(Cursor::new(first), Cursor::new(second), &options) {
        for format in FORMATS {
            drop((format.render)(&checked.report, &Style::default()));
        }
    }
}
