//! The formats of a report. Each is a pure function from the report to text.
//!
//! - A format sees the report only: it cannot print what the report does not hold.
//! - No control character and no direction mark of the input reaches the output as such, nor
//!   anything that a CI system takes for a command of its own.

mod azure;
mod cloudevents;
mod dotenv;
mod facts;
mod fleet;
mod github;
mod github_sarif;
mod gitlab_codequality;
mod gitlab_terraform;
mod html;
mod json;
mod junit;
mod markdown;
mod place;
mod problem;
mod prometheus;
mod sarif;
mod text;
mod words;

pub use fleet::{FLEET_FORMATS, FleetFormat};
pub use github::outputs as github_outputs;

use crate::report::{Report, Shown};
use std::fmt::Write;

/// How to fit the output to where it goes.
#[derive(Clone, Debug)]
pub struct Style {
    /// Columns, for `text`.
    pub width: usize,
    /// For `text`.
    pub color: Color,
    /// The longest comment, for `markdown`, in bytes; never below [`Style::COMMENT_BYTES_MIN`].
    pub comment_bytes_max: usize,
    /// The folder of the root module inside its repository, with `/`; empty when it is the
    /// repository's own. For formats whose readers open files of the repository.
    pub folder: String,
    /// The time, in seconds since 1970; only what is about this run is dated with it.
    pub now: Option<i64>,
}

impl Style {
    /// Below this a comment would not hold its own summary.
    pub const COMMENT_BYTES_MIN: usize = 4_000;
}

impl Default for Style {
    /// A hundred columns without colours, and comments as GitHub takes them: it refuses 65,536
    /// characters; the rest is for whoever adds a line.
    fn default() -> Self {
        Self {
            width: 100,
            color: Color::Off,
            comment_bytes_max: 64_000,
            folder: String::new(),
            now: None,
        }
    }
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
    pub render: fn(&Report, &Style) -> String,
}

/// All formats, sorted by name.
pub const FORMATS: &[Format] = &[
    azure::FORMAT,
    cloudevents::FORMAT,
    dotenv::FORMAT,
    github::FORMAT,
    github_sarif::FORMAT,
    gitlab_codequality::FORMAT,
    gitlab_terraform::FORMAT,
    html::FORMAT,
    json::FORMAT,
    junit::FORMAT,
    markdown::FORMAT,
    prometheus::FORMAT,
    sarif::FORMAT,
    text::FORMAT,
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The report in Markdown for the summary of a step, which keeps one document for each run; GitHub
/// takes up to 1 MiB for a step.
pub fn step_summary(report: &Report) -> String {
    const BYTES_MAX: usize = 900_000;
    markdown::summary(report, BYTES_MAX)
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

/// How Azure Pipelines' agent and, in an old form, GitHub's runner begin a command, anywhere in a
/// line; both without the bracket.
const COMMANDS: [&str; 2] = ["##", "##vso"];

/// The text with hidden characters spelled out, on one line; commands to a CI system lose their
/// bracket.
pub fn visible(text: &str) -> String {
    if !text.contains("##") && !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '[' if COMMANDS.iter().any(|command| ends_with(&out, command)) => {
                out.push_str("\\u{5b}");
            }
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

/// In any case of letters, as the agents read it.
fn ends_with(text: &str, end: &str) -> bool {
    let from = text.len().saturating_sub(end.len());
    text.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// A JSON document whose texts hold no hidden character and no command as such: both stand only
/// inside of texts, where an escape means the same.
fn json_text(document: &serde_json::Value, layout: Layout) -> String {
    let json = match layout {
        Layout::Lines => serde_json::to_string_pretty(document),
        Layout::Compact => serde_json::to_string(document),
    }
    .unwrap_or_default();
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        let is_command =
            character == '[' && COMMANDS.iter().any(|command| ends_with(&out, command));
        if character == '\n' || !(is_command || is_hidden(character)) {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Whether a JSON document is for people too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Compact,
    Lines,
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
pub(crate) fn inline(shown: &Shown) -> String {
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

    #[test]
    fn commands_to_a_ci_system_are_broken() {
        assert_eq!(visible("x ##VSO[task.x]y ##[e] #["), "x ##VSO\\u{5b}task.x]y ##\\u{5b}e] #[");
        let document = serde_json::json!(["##vso[a]", "\u{7f}"]);
        assert_eq!(json_text(&document, Layout::Compact), r###"["##vso\u005ba]","\u007f"]"###);
    }
}
