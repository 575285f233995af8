//! What differs between two specifications.

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value, json};

/// A field whose value differs. A missing value is null.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Such as `worker.shape.cpu`.
    pub field: String,
    pub before: Value,
    pub after: Value,
}

impl Change {
    pub fn json(&self) -> Value {
        json!({"field": self.field, "before": self.before, "after": self.after})
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Value| match value {
            Value::Null => "none".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        write!(f, "{} {} -> {}", self.field, shown(&self.before), shown(&self.after))
    }
}

/// All changes, by field.
pub fn between(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Change> {
    let mut changes = Vec::new();
    collect("", before, after, &mut changes);
    changes
}

fn collect(
    path: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    changes: &mut Vec<Change>,
) {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for name in names {
        let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let of = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or(Value::Null);
        match (of(before), of(after)) {
            (before, after) if before == after => {}
            (Value::Object(before), Value::Object(after)) => {
                collect(&field, &before, &after, changes);
            }
            (before, after) => changes.push(Change { field, before, after }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named_with_its_path() {
        let before = json!({"a": 1, "b": {"c": "x", "d": [1]}, "e": true});
        let after = json!({"a": 1, "b": {"c": "y", "d": [1, 2]}, "f": null, "g": {"h": 0}});
        let map = |value: &Value| value.as_object().unwrap().clone();
        let changes = between(&map(&before), &map(&after));
        let said: Vec<_> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["b.c x -> y", "b.d [1] -> [1,2]", "e true -> none", "g none -> {\"h\":0}"]
        );
        assert_eq!(between(&map(&before), &map(&before)), []);
    }
}
