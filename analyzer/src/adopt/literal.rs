//! Values as they are written in the native syntax.
//!
//! - What is written says the same whatever surrounds it: templates are escaped.
//! - Numbers keep the digits they have in the plan.

use super::canonical::columns;
use crate::{number::Number, path::is_identifier, report::Shown, value::Value};
use std::{collections::BTreeMap, fmt::Write};

/// The value of a report as one to write; `None` when a part of it is hidden or not known.
pub(super) fn writable(shown: &Shown) -> Option<Value> {
    Some(match shown {
        Shown::Absent | Shown::Null => Value::Null,
        Shown::Bool(flag) => Value::Bool(*flag),
        Shown::Number(text) => Value::Number(Number::new(text)),
        Shown::String(text) => Value::String(text.clone()),
        Shown::List(items) => Value::List(items.iter().map(writable).collect::<Option<_>>()?),
        Shown::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| Some((key.clone(), writable(field)?)))
                .collect::<Option<BTreeMap<_, _>>>()?,
        ),
        Shown::Concealed(_) | Shown::Sensitive | Shown::Unknown => return None,
    })
}

/// How a collection is laid out.
#[derive(Clone, Copy)]
pub(super) enum Layout<'a> {
    OneLine,
    /// One element a line; the indentation of the line that holds the opening bracket, and the
    /// file's line ending.
    Lines {
        indent: &'a str,
        newline: &'a str,
    },
}

/// The value as configuration.
pub(super) fn write(value: &Value, layout: Layout<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.as_str().to_owned(),
        Value::String(text) => quote(text),
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::List(items) => match layout {
            Layout::OneLine => {
                let items: Vec<String> = items.iter().map(|item| write(item, layout)).collect();
                format!("[{}]", items.join(", "))
            }
            Layout::Lines { indent, newline } => {
                let deeper = format!("{indent}  ");
                let mut out = format!("[{newline}");
                for item in items {
                    let item = write(item, Layout::Lines { indent: &deeper, newline });
                    let _ = write!(out, "{deeper}{item},{newline}");
                }
                out + indent + "]"
            }
        },
        Value::Object(fields) => match layout {
            Layout::OneLine => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, field)| format!("{} = {}", write_key(key), write(field, layout)))
                    .collect();
                format!("{{ {} }}", fields.join(", "))
            }
            Layout::Lines { indent, newline } => {
                let deeper = format!("{indent}  ");
                let width = fields.keys().map(|key| columns(&write_key(key))).max().unwrap_or(0);
                let mut out = format!("{{{newline}");
                for (key, field) in fields {
                    let key = write_key(key);
                    let pad = " ".repeat(width - columns(&key));
                    let field = write(field, Layout::OneLine);
                    let _ = write!(out, "{deeper}{key}{pad} = {field}{newline}");
                }
                out + indent + "}"
            }
        },
    }
}

/// A key of an object: bare when it may be.
pub(super) fn write_key(key: &str) -> String {
    let plain = is_identifier(key) && key.is_ascii();
    if plain && !matches!(key, "null" | "true" | "false" | "for") {
        key.to_owned()
    } else {
        quote(key)
    }
}

pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if chars.peek() == Some(&'{') => {
                out.push(character);
                out.push(character);
            }
            hidden if crate::formats::is_hidden(hidden) => {
                let code = u32::from(hidden);
                let _ = match code {
                    0..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::text;

    #[test]
    fn what_is_written_reads_back_the_same() {
        for json in [
            r#""plain""#,
            r#""q\" b\\ n\n t\t ${x} %{y} $${z} $ 100% é\u0007\u202e""#,
            "12345678901234567890.123456789",
            "-1.5e-7",
            "null",
            "[true,false,null,\"a\"]",
            r#"{"a":1,"b c":[{}],"null":2,"ü":[]}"#,
        ] {
            let value = text::value(json.as_bytes());
            for layout in [Layout::OneLine, Layout::Lines { indent: "  ", newline: "\n" }] {
                let written = format!("x = {}\n", write(&value, layout));
                let body = super::super::hcl::parse(&written).expect(&written);
                let entry = body.entry("x").expect("x");
                assert_eq!(entry.value.literal(), Some(value.clone()), "{written}");
            }
        }
    }
}
