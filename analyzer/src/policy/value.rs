//! Our values as those of expressions.
//!
//! What is sensitive becomes [`PLACEHOLDER`] before an expression sees it. Integers of 64 bits are
//! exact; larger numbers and fractions become floating-point numbers.

use crate::{redact::PLACEHOLDER, report::Shown, value::Value};
use cel::{Value as Cel, objects::Map};
use std::sync::Arc;

pub(crate) fn text(text: impl Into<String>) -> Cel {
    Cel::String(Arc::new(text.into()))
}

pub(crate) fn list(items: impl IntoIterator<Item = Cel>) -> Cel {
    Cel::List(Arc::new(items.into_iter().collect()))
}

pub(crate) fn map<K: Into<String>>(fields: impl IntoIterator<Item = (K, Cel)>) -> Cel {
    let fields = fields.into_iter().map(|(key, value)| (key.into().into(), value));
    Cel::Map(Map { map: Arc::new(fields.collect()) })
}

fn number(digits: &str) -> Cel {
    if let Ok(number) = digits.parse() {
        return Cel::Int(number);
    }
    if let Ok(number) = digits.parse() {
        return Cel::UInt(number);
    }
    digits.parse().map_or_else(|_| text(digits), Cel::Float)
}

/// A value of a plan, without what `mask` marks.
pub(crate) fn from_value(value: &Value, mask: &Value) -> Cel {
    match (value, mask) {
        (Value::Null, _) => Cel::Null,
        (_, Value::Bool(true)) => text(PLACEHOLDER),
        (Value::Bool(flag), _) => Cel::Bool(*flag),
        (Value::Number(digits), _) => number(digits.as_str()),
        (Value::String(it), _) => text(it),
        (Value::List(items), _) => {
            let none = Vec::new();
            let masks = if let Value::List(masks) = mask { masks } else { &none };
            let masks = masks.iter().chain(std::iter::repeat(&Value::Null));
            list(items.iter().zip(masks).map(|(item, mask)| from_value(item, mask)))
        }
        (Value::Object(fields), _) => map(fields.iter().map(|(key, field)| {
            (key.clone(), from_value(field, mask.get(key).unwrap_or(&Value::Null)))
        })),
    }
}

/// A value of a report; one that is not there is null.
pub(crate) fn from_shown(shown: &Shown) -> Cel {
    match shown {
        Shown::Absent | Shown::Null | Shown::Unknown => Cel::Null,
        Shown::Bool(flag) => Cel::Bool(*flag),
        Shown::Number(digits) => number(digits),
        Shown::String(it) | Shown::Concealed(it) => text(it),
        Shown::Sensitive => text(PLACEHOLDER),
        Shown::List(items) => list(items.iter().map(from_shown)),
        Shown::Object(fields) => {
            map(fields.iter().map(|(key, field)| (key.clone(), from_shown(field))))
        }
    }
}

/// A parameter from the configuration file.
pub(super) fn from_json(value: &serde_json::Value) -> Cel {
    match value {
        serde_json::Value::Null => Cel::Null,
        serde_json::Value::Bool(flag) => Cel::Bool(*flag),
        serde_json::Value::Number(it) => number(&it.to_string()),
        serde_json::Value::String(it) => text(it),
        serde_json::Value::Array(items) => list(items.iter().map(from_json)),
        serde_json::Value::Object(fields) => {
            map(fields.iter().map(|(key, field)| (key.clone(), from_json(field))))
        }
    }
}
