//! What must hold of the analyzer for any bytes whatsoever: one function for each fuzz target. The
//! analyzer's tests run the same functions over the corpora in `corpus/`.

mod address;
mod compare;
mod configuration;
mod schemas;
mod state;

pub use self::{
    address::check as address, compare::check as compare, configuration::configuration,
    schemas::check as schemas, state::check as state,
};

use driftgate::{
    Limits, Report, check, check_file,
    formats::{FORMATS, Style, is_hidden},
    report::Verdict,
};
use flate2::{Compression, write::GzEncoder};
use std::io::{Cursor, Write as _};

/// Small, so that the bounds are reached.
const LIMITS: Limits = Limits { entry_bytes_max: 1 << 20, held_bytes_max: 1 << 12 };

/// A plan, or anything else: from a file and from a pipe the same is read, and what is reported can
/// be printed.
pub fn plan(data: &[u8]) {
    if let Some(report) = read(data) {
        let filed = check_file(Cursor::new(data), LIMITS).expect("a file is read like a pipe");
        assert_eq!(json(&report), json(&filed.report));
    }
}

/// The fields of a redacted plan: it never proves anything.
pub fn redacted(data: &[u8]) {
    let input = [&b"{\"plan_format_version\":\"1.1\","[..], data].concat();
    if let Some(report) = read(&input) {
        assert_ne!(report.verdict, Verdict::Clean);
    }
}

/// Events, each on a line of its own: without a summary nothing is proven.
pub fn events(data: &[u8]) {
    let version = &b"{\"@level\":\"info\",\"terraform\":\"1.14.9\",\"type\":\"version\"}\n"[..];
    let input = [version, data].concat();
    if let Some(report) = read(&input) {
        let is_told = data.windows(7).any(|it| it == b"summary" || it.contains(&b'\\'));
        assert!(report.verdict != Verdict::Clean || is_told);
    }
}

/// An input in other clothes: packed, wide, marked; and packed bytes that are none.
pub fn envelope(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let packed = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let wide = |unit: fn(u16) -> [u8; 2]| -> Option<Vec<u8>> {
        Some(std::str::from_utf8(text).ok()?.encode_utf16().flat_map(unit).collect())
    };
    // The first bytes tell what an input is: only plain text may be dressed up.
    let is_plain = text.starts_with(b"{\"");
    let other = match choice % 6 {
        0 => Some(packed(text)),
        1 => wide(u16::to_le_bytes),
        2 => wide(u16::to_be_bytes),
        3 => wide(u16::to_le_bytes).map(|it| packed(&it)),
        4 => Some([b"\xef\xbb\xbf", text].concat()),
        _ => {
            read(&[b"\x1f\x8b\x08\0\0\0\0\0\0\xff", text].concat());
            read(&[b"\xff\xfe", text].concat());
            None
        }
    };
    if let Some(other) = other.filter(|_| is_plain) {
        let (plain, other) = (read(text), read(&other));
        assert_eq!(plain.as_ref().map(json), other.as_ref().map(json));
    }
}

/// The report, when there is one; either way whatever may be printed is fit to be.
fn read(input: &[u8]) -> Option<Report> {
    match check(input, LIMITS) {
        Ok(report) => {
            let proven = report.findings.is_empty() && report.reasons.is_empty();
            assert_eq!(report.verdict == Verdict::Clean, proven);
            for format in FORMATS {
                let text = (format.render)(&report, &Style::default());
                let hidden = |c: char| c != '\n' && is_hidden(c);
                assert!(!text.contains(hidden), "{}: {text:?}", format.name);
            }
            Some(report)
        }
        Err(error) => {
            assert!(!error.to_string().contains(is_hidden), "{error}");
            None
        }
    }
}

fn json(report: &Report) -> String {
    let format = FORMATS.iter().find(|format| format.name == "json").expect("there is one");
    (format.render)(report, &Style::default())
}
