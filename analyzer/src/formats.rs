//! The formats of a report. Each is a pure function from the report to text.
//!
//! - A format sees the report only: it cannot print what the report does not hold.
//! - No control character and no direction mark of the input reaches the output as such.

mod json;
mod markdown;
mod text;
mod words;

use crate::report::{Report, Shown};
use std::fmt::Write;

/// How to fit the output to where it goes. Only `text` looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Columns.
    pub width: usize,
    pub color: Color,
}

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Off,
    On,
}

/// One way to print a report.
pub struct Format {
    pub name: &'static str,
    pub summary: &'static str,
    pub render: fn(&Report, Style) -> String,
}

/// All formats, sorted by name.
pub const FORMATS: &[Format] = &[json::FORMAT, markdown::FORMAT, text::FORMAT];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// True for characters that act on a terminal or a page in place of being seen.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text with hidden characters spelled out, on one line.
pub fn visible(text: &str) -> String {
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    out
}

/// A patch with hidden characters spelled out, lines and tabs kept.
fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.split('\t').map(visible).collect::<Vec<_>>().join("\t")
        })
        .collect();
    lines.join("\n")
}

/// A value on one line.
fn inline(shown: &Shown) -> String {
    match shown {
        Shown::Absent => "(not set)".to_owned(),
        Shown::Null => "null".to_owned(),
        Shown::Bool(flag) => flag.to_string(),
        Shown::Number(text) => text.clone(),
        Shown::String(text) | Shown::Concealed(text) => {
            format!("\"{}\"", visible(&text.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        Shown::Sensitive => crate::redact::PLACEHOLDER.to_owned(),
        Shown::Unknown => "(known after apply)".to_owned(),
        Shown::List(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Shown::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, field)| format!("{}: {}", visible(key), inline(field)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Two values beside each other, each within `columns`: of long ones the part around the first
/// difference is shown, with the length of the whole.
fn side_by_side(before: &Shown, after: &Shown, columns: usize) -> (String, String) {
    let (left, right) = (inline(before), inline(after));
    let same = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    (shorten(&left, same, columns), shorten(&right, same, columns))
}

/// At most `columns` characters of a text, around the position `focus`.
fn shorten(text: &str, focus: usize, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return text.to_owned();
    }
    let note = format!(" ({length} characters)");
    let room = columns.saturating_sub(note.len() + 2).max(8);
    let begin = if focus < room { 0 } else { focus - room / 4 };
    let begin = begin.min(length - room);
    let mut out = String::new();
    if begin > 0 {
        out.push('…');
    }
    out.extend(text.chars().skip(begin).take(room));
    if begin + room < length {
        out.push('…');
    }
    out + &note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shown_where_they_differ() {
        let text = |tail: &str| Shown::String(format!("{}{tail}", "a".repeat(500)));
        let (left, right) = side_by_side(&text("left"), &text("right"), 60);
        assert!(left.contains("left") && left.contains("506 characters"), "{left}");
        assert!(right.contains("right"), "{right}");
        assert!(left.chars().count() <= 60, "{left}");
    }

    #[test]
    fn hidden_characters_are_spelled_out() {
        assert_eq!(visible("a\u{1b}[31m\u{202e}\n\u{9b}"), "a\\u{1b}[31m\\u{202e}\\n\\u{9b}");
    }
}
