//! What differs between two values, attribute by attribute.
//!
//! - The difference of equals is empty; swapping the sides swaps each `before` and `after`.
//! - Each difference that means nothing carries its [`Noise`].
//! - Time is `n log n` in the size of the values, for reordered lists too.

mod list;

use crate::{
    noise::Noise,
    path::{Path, Step},
    read::text::embedded,
    schemas::Schema,
    value::Value,
};
use std::collections::BTreeSet;

/// One place where two values differ. `None` is a value that is not there at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: Path,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub noise: Option<Noise>,
}

impl Change {
    /// An object that went, of which nothing else is known.
    pub(crate) fn of_whole() -> Self {
        let path = Path::default();
        Self { path, before: None, after: Some(Value::Null), noise: None }
    }
}

/// All differences, in path order.
pub fn diff(before: &Value, after: &Value) -> Vec<Change> {
    diff_by(before, after, None)
}

/// As [`diff`], with what the provider says of the values: in a list the order counts.
pub fn diff_by(before: &Value, after: &Value, schema: Option<Schema<'_>>) -> Vec<Change> {
    let path = Path::default();
    if before != after && (*before == Value::Null || *after == Value::Null) {
        // A whole object that comes or goes, be it empty or not.
        let (before, after) = (Some(before.clone()), Some(after.clone()));
        return vec![Change { path, before, after, noise: None }];
    }
    let mut changes = Vec::new();
    at(&Place { path, schema }, Some(before), Some(after), &mut changes);
    changes
}

/// True when the two differ by nothing or by noise only.
pub fn alike(left: Option<&Value>, right: Option<&Value>) -> bool {
    if left == right {
        return true;
    }
    let mut changes = Vec::new();
    at(&Place { path: Path::default(), schema: None }, left, right, &mut changes);
    changes.iter().all(|change| change.noise.is_some())
}

/// Where the two sides are looked at.
struct Place<'s> {
    path: Path,
    schema: Option<Schema<'s>>,
}

impl Place<'_> {
    fn join(&self, step: Step) -> Self {
        let schema = self.schema.and_then(|schema| schema.child(&step));
        Self { path: self.path.join(step), schema }
    }
}

fn at(place: &Place<'_>, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    match (before, after) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                at(&place.join(Step::Key(key.clone())), left.get(key), right.get(key), changes);
            }
        }
        (Some(Value::List(left)), Some(Value::List(right))) => {
            list::diff(place, left, right, changes);
        }
        (None, None) => {}
        _ => changes.extend(leaf(&place.path, before, after)),
    }
}

/// Two values that are not walked further.
fn leaf(path: &Path, before: Option<&Value>, after: Option<&Value>) -> Option<Change> {
    let noise = match (before, after) {
        (Some(Value::Number(left)), Some(Value::Number(right))) if left == right => {
            if left.same_spelling(right) {
                return None;
            }
            Some(Noise::NumberSpelling)
        }
        (left, right) if left == right => return None,
        (None, Some(value)) | (Some(value), None) => value.is_empty().then_some(Noise::NullEmpty),
        (Some(left), Some(right)) if left.is_empty() && right.is_empty() => Some(Noise::NullEmpty),
        (Some(Value::String(left)), Some(Value::String(right))) => {
            same_document(left, right).then_some(Noise::JsonForm)
        }
        _ => None,
    };
    Some(Change { path: path.clone(), before: before.cloned(), after: after.cloned(), noise })
}

fn same_document(left: &str, right: &str) -> bool {
    match embedded(left) {
        Some(document) => embedded(right) == Some(document),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::text::value;

    fn summary(before: &str, after: &str) -> Vec<String> {
        diff(&value(before.as_bytes()), &value(after.as_bytes()))
            .iter()
            .map(|change| {
                let noise = change.noise.map_or("drift", Noise::name);
                format!("{} {noise}", change.path)
            })
            .collect()
    }

    #[test]
    fn each_kind_of_noise_is_named() {
        for (before, after, expected) in [
            (r#"{"a":1}"#, r#"{"a":1.0}"#, "a number-spelling"),
            (r#"{"a":null}"#, r#"{"a":[]}"#, "a null-empty"),
            (r#"{"a":""}"#, r#"{}"#, "a null-empty"),
            (r#"{"a":[1,2,3]}"#, r#"{"a":[3,1,2]}"#, "a reordered"),
            (
                r#"{"a":"{\"x\":1,\"y\":[2]}"}"#,
                r#"{"a":"{ \"y\":[2.0], \"x\":1 }"}"#,
                "a json-form",
            ),
        ] {
            assert_eq!(summary(before, after), [expected], "{before} {after}");
        }
    }

    #[test]
    fn real_changes_are_found_where_they_are() {
        for (before, after, expected) in [
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":2}}"#, "a.b drift"),
            (r#"{"a":false}"#, r#"{"a":null}"#, "a drift"),
            (r#"{"a":0}"#, r#"{"a":null}"#, "a drift"),
            (r#"{"a":"1"}"#, r#"{"a":1}"#, "a drift"),
            (r#"{"a":"{\"x\":[1,2]}"}"#, r#"{"a":"{\"x\":[2,1]}"}"#, "a drift"),
            (r#"{"a":[1,2]}"#, r#"{"a":[1,2,3]}"#, "a drift"),
            (r#"{"a":[1,1,2]}"#, r#"{"a":[1,3,2]}"#, "a[1] drift"),
            (r#"{"a":[{"b":1},{"b":2}]}"#, r#"{"a":[{"b":1},{"b":3}]}"#, "a[1].b drift"),
            (r#"{"a":[{"b":1},{"b":2}]}"#, r#"{"a":[{"b":2},{"b":3}]}"#, "a drift"),
            (r#"{"a":1}"#, "null", " drift"),
        ] {
            assert_eq!(summary(before, after), [expected], "{before} {after}");
        }
    }
}
