//! Bytes of a text and what takes their place.

use std::ops::Range;

/// A replacement; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The text with all splices carried out; they do not overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut out = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for splice in splices {
        out.push_str(&text[copied..splice.range.start]);
        out.push_str(&splice.text);
        copied = splice.range.end;
    }
    out + &text[copied..]
}
