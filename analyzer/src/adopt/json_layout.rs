//! Where bytes go in the JSON syntax.
//!
//! - Indentation and the space behind a colon are those of the neighbours.

use super::{
    json::Texts,
    layout::{Spliced, indentation, newline},
    node::{Entry, Found},
    splice::Splice,
};
use crate::value::Value;
use std::fmt::Write as _;

/// How a value is written.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) texts: Texts,
    /// The indentation of the line the value begins on; `None` for all in one line.
    pub(super) lines: Option<&'a str>,
    pub(super) newline: &'a str,
}

/// The value as JSON.
pub(super) fn write(value: &Value, style: Style<'_>) -> String {
    let deeper = style.lines.map(|indent| format!("{indent}  "));
    let below = Style { lines: deeper.as_deref(), ..style };
    let items: Vec<String> = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(flag) => return flag.to_string(),
        Value::Number(number) => return number.as_str().to_owned(),
        Value::String(text) => return quote(text, style.texts),
        Value::List(items) => items.iter().map(|item| write(item, below)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| format!("{}: {}", quote(key, style.texts), write(field, below)))
            .collect(),
    };
    let (open, close) = if matches!(value, Value::List(_)) { ("[", "]") } else { ("{", "}") };
    match (&deeper, style.lines) {
        (Some(deeper), Some(indent)) if !items.is_empty() => {
            let newline = style.newline;
            let items = items.join(&format!(",{newline}{deeper}"));
            format!("{open}{newline}{deeper}{items}{newline}{indent}{close}")
        }
        _ => format!("{open}{}{close}", items.join(", ")),
    }
}

/// A text between quotes.
pub(super) fn quote(text: &str, texts: Texts) -> String {
    let text = match texts {
        Texts::Templates => text.replace("${", "$${").replace("%{", "%%{"),
        Texts::Verbatim => text.to_owned(),
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if crate::formats::is_hidden(hidden) => {
                let mut units = [0; 2];
                for unit in hidden.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

/// Sets a name that is not there yet; `value` is written already.
pub(super) fn insert(text: &str, holder: Found<'_>, key: &str, value: &str) -> Spliced {
    let entries = holder.entries().ok_or("elements of lists have no name")?;
    let range = match holder {
        Found::Body(body) => body.range.clone(),
        Found::Node(node) => node.range.start + 1..node.range.end - 1,
    };
    let Some(last) = entries.last() else {
        if !text[range.clone()].trim().is_empty() {
            return Err("the object holds only comments".to_owned());
        }
        let (indent, newline) = (indentation(text, range.start), newline(text));
        let inside = if text.contains('\n') {
            format!("{newline}{indent}  {key}: {value}{newline}{indent}")
        } else {
            format!("{key}: {value}")
        };
        return Ok(vec![Splice { range, text: inside }]);
    };
    let end = last.value.range.end;
    let colon = &text[last.key.end..last.value.range.start];
    let between = match entries {
        [.., before, last] => &text[before.value.range.end..last.key.start],
        _ if text[range.start..last.key.start].contains('\n') => {
            &format!(",{}", &text[range.start..last.key.start])
        }
        _ => ", ",
    };
    Ok(vec![Splice { range: end..end, text: format!("{between}{key}{colon}{value}") }])
}

/// Takes a named value out.
pub(super) fn remove(holder: Found<'_>, name: &str) -> Spliced {
    let entries = holder.entries().ok_or("elements of lists have no name")?;
    let at = entries.iter().position(|entry| entry.name.as_deref() == Some(name));
    let at = at.ok_or("it has no place")?;
    let range = match (at.checked_sub(1).map(|before| &entries[before]), entries.get(at + 1)) {
        (_, Some(next)) => entries[at].key.start..next.key.start,
        (Some(before), None) => before.value.range.end..entries[at].value.range.end,
        (None, None) => inside(holder, &entries[at]),
    };
    Ok(vec![Splice { range, text: String::new() }])
}

/// All there is between the brackets.
fn inside(holder: Found<'_>, only: &Entry) -> std::ops::Range<usize> {
    match holder {
        Found::Body(body) => body.range.clone(),
        Found::Node(node) if node.range.len() >= 2 => node.range.start + 1..node.range.end - 1,
        Found::Node(_) => only.key.start..only.value.range.end,
    }
}
