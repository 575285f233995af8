//! Attributes as they were stored before Terraform 0.12: a flat map from dotted keys to texts.
//!
//! - `list.#` and `map.%` hold counts; elements of sets stand under hashes in place of positions.
//! - Keys of a map may hold dots themselves, so below `map.%` they are taken whole.
//! - What is not consistent becomes an object with the keys as they are: nothing is dropped.

use crate::{
    number::Number,
    read::text::{fields, value},
    value::Value,
};
use std::collections::BTreeMap;

/// Deeper nesting than any provider had; below it, keys are taken whole.
const DEPTH_MAX: usize = 64;

/// The tree that a flat map stands for; every leaf is a text.
pub(crate) fn expand(raw: &[u8]) -> Value {
    let entries: BTreeMap<String, Value> =
        fields(raw).map(|(key, field)| (key.into_owned(), value(field))).collect();
    let entries: Vec<(&str, &Value)> =
        entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    object(&entries, 0)
}

type Entries<'a> = [(&'a str, &'a Value)];

/// Entries by the first step of their keys.
#[derive(Default)]
struct Group<'a> {
    here: Option<&'a Value>,
    below: Vec<(&'a str, &'a Value)>,
}

fn groups<'a>(entries: &Entries<'a>) -> BTreeMap<&'a str, Group<'a>> {
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for &(key, value) in entries {
        match key.split_once('.') {
            Some((first, rest)) => groups.entry(first).or_default().below.push((rest, value)),
            None => groups.entry(key).or_default().here = Some(value),
        }
    }
    groups
}

fn object(entries: &Entries<'_>, depth: usize) -> Value {
    if depth == DEPTH_MAX {
        return whole(entries);
    }
    let groups = groups(entries);
    Value::Object(
        groups.into_iter().map(|(key, group)| (key.to_owned(), tree(&group, depth + 1))).collect(),
    )
}

fn tree(group: &Group<'_>, depth: usize) -> Value {
    let is_marked = |mark: &str| group.below.iter().any(|(key, _)| *key == mark);
    let inner = |mark: &str| -> Vec<(&str, &Value)> {
        group.below.iter().filter(|(key, _)| *key != mark).copied().collect()
    };
    if group.below.is_empty() {
        return group.here.cloned().unwrap_or(Value::Null);
    }
    if is_marked("%") {
        let inner = inner("%");
        let nests = |(key, _): &(&str, &Value)| key.ends_with(".#") || key.ends_with(".%");
        return if inner.iter().any(nests) { object(&inner, depth) } else { whole(&inner) };
    }
    if is_marked("#") {
        return list(&inner("#"), depth);
    }
    object(&group.below, depth)
}

/// Elements by position or by hash. Version 2 marked maps like lists: what is no number is a key.
fn list(entries: &Entries<'_>, depth: usize) -> Value {
    if depth == DEPTH_MAX {
        return whole(entries);
    }
    let groups = groups(entries);
    let number = |key: &str| key.trim_start_matches('~').parse::<u64>().ok();
    if groups.keys().any(|key| number(key).is_none()) {
        return whole(entries);
    }
    let mut elements: Vec<(Option<u64>, Value)> =
        groups.iter().map(|(key, group)| (number(key), tree(group, depth + 1))).collect();
    elements.sort_by_key(|(position, _)| *position);
    Value::List(elements.into_iter().map(|(_, element)| element).collect())
}

fn whole(entries: &Entries<'_>) -> Value {
    let entries = entries.iter();
    Value::Object(entries.map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect())
}

/// Texts as the types that another state of the same object has in their place: a flat map does
/// not know numbers and flags.
pub(crate) fn typed(flat: &Value, like: &Value) -> Value {
    match (flat, like) {
        (Value::String(text), Value::Bool(_)) => match text.as_str() {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            _ => flat.clone(),
        },
        (Value::String(text), Value::Number(_)) if is_number(text) => {
            Value::Number(Number::new(text))
        }
        (Value::Object(fields), Value::Object(likes)) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| {
                    let field = likes.get(key).map_or(field.clone(), |like| typed(field, like));
                    (key.clone(), field)
                })
                .collect(),
        ),
        (Value::List(items), Value::List(likes)) => Value::List(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| match likes.get(index).or(likes.first()) {
                    Some(like) => typed(item, like),
                    None => item.clone(),
                })
                .collect(),
        ),
        _ => flat.clone(),
    }
}

/// True when a text is a number of JSON.
fn is_number(text: &str) -> bool {
    crate::read::grammar::is_json(text.as_bytes())
        && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_maps_become_trees() {
        for (flat, tree) in [
            (r#"{"id":"1"}"#, r#"{"id":"1"}"#),
            (r#"{"t.%":"2","t.a.b":"x","t.c":"y"}"#, r#"{"t":{"a.b":"x","c":"y"}}"#),
            (r#"{"l.#":"3","l.10":"c","l.0":"a","l.2":"b"}"#, r#"{"l":["a","b","c"]}"#),
            (
                r#"{"s.#":"1","s.345861710.port":"80","s.345861710.tags.%":"1","s.345861710.tags.k":"v"}"#,
                r#"{"s":[{"port":"80","tags":{"k":"v"}}]}"#,
            ),
            (r#"{"l.#":"0","m.%":"0"}"#, r#"{"l":[],"m":{}}"#),
            (r#"{"old.#":"1","old.key":"v"}"#, r#"{"old":{"key":"v"}}"#),
            (r#"{"a":"x","a.b":"y","":"e",".":"d"}"#, r#"{"a":{"b":"y"},"":{"":"d"}}"#),
            (r#"{"l.#":"1","l.0.#":"1","l.0.0":"x"}"#, r#"{"l":[["x"]]}"#),
        ] {
            assert_eq!(expand(flat.as_bytes()), value(tree.as_bytes()), "{flat}");
        }
    }

    #[test]
    fn a_key_of_a_million_dots_does_no_harm() {
        let flat = format!(r#"{{"{}":"x"}}"#, "a.".repeat(1_000_000));
        assert!(matches!(expand(flat.as_bytes()), Value::Object(_)));
    }

    #[test]
    fn texts_take_the_types_of_the_other_side() {
        let like = value(br#"{"n":5,"f":false,"l":[1],"t":"x","s":[{"p":1}]}"#);
        let flat = value(
            br#"{"n":"80","f":"true","l":["1","2"],"t":"7","s":[{"p":"8"}],"u":"9","x":"-"}"#,
        );
        let typed = typed(&flat, &like);
        let expected =
            value(br#"{"n":80,"f":true,"l":[1,2],"t":"7","s":[{"p":8}],"u":"9","x":"-"}"#);
        assert_eq!(typed, expected);
    }
}
