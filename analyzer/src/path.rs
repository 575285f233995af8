//! Where inside a resource a value stands: `tags["team"]`, `ingress[0].cidr_blocks`.

use crate::value::Value;
use std::fmt;

/// One step down from a resource's attributes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// An attribute of an object or a key of a map: the plan does not tell them apart.
    Key(String),
    /// A position in a list, from 0.
    Index(usize),
}

/// A path of steps from the root of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// This path and one step more.
    pub fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// True when one of the two holds the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left == right)
    }

    /// The part of this path that may be shown: it ends where `mask` marks everything below, for
    /// keys there are as sensitive as values. The name of an attribute is not.
    pub fn cut(mut self, mask: &Value) -> Self {
        let mut here = mask;
        for at in 0..self.0.len() {
            if *here == Value::Bool(true) {
                self.0.truncate(at.max(1));
                break;
            }
            match child(here, &self.0[at]) {
                Some(next) => here = next,
                None => break,
            }
        }
        self
    }

    /// The value that stands here, if there is one.
    pub fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |value, step| child(value, step))
    }

    /// True when a mask (a tree whose leaves are `true` where something holds) covers this path:
    /// here, at a parent, or anywhere below.
    pub fn is_masked(&self, mask: &Value) -> bool {
        let mut here = mask;
        for step in &self.0 {
            if matches!(here, Value::Bool(true)) {
                return true;
            }
            match child(here, step) {
                Some(next) => here = next,
                None => return false,
            }
        }
        any_true(here)
    }
}

fn child<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match (value, step) {
        (Value::Object(fields), Step::Key(key)) => fields.get(key),
        (Value::List(items), Step::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// True when a mask marks anything at all.
pub fn any_true(mask: &Value) -> bool {
    match mask {
        Value::Bool(marked) => *marked,
        Value::List(items) => items.iter().any(any_true),
        Value::Object(fields) => fields.values().any(any_true),
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

/// True for names that may follow a dot without quotes.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_identifier(key) => {
                    write!(f, "{}{key}", if position == 0 { "" } else { "." })?;
                }
                Step::Key(key) => {
                    let key = key.replace('\\', "\\\\").replace('"', "\\\"");
                    write!(f, "[\"{key}\"]")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_where_everything_below_is_marked() {
        let key = |name: &str| Step::Key(name.into());
        let path = Path(vec![key("a"), Step::Index(0), key("k"), key("x")]);
        for (mask, length) in [
            ("{}", 4),
            (r#"{"a":[{"k":{"x":true}}]}"#, 4),
            (r#"{"a":[{"k":true}]}"#, 3),
            (r#"{"a":[true]}"#, 2),
            (r#"{"a":true}"#, 1),
            ("true", 1),
        ] {
            let mask = crate::read::text::value(mask.as_bytes());
            assert_eq!(path.clone().cut(&mask).0, path.0[..length], "{mask:?}");
        }
    }

    #[test]
    fn a_path_reads_as_in_configuration() {
        let path = Path(vec![
            Step::Key("ingress".into()),
            Step::Index(0),
            Step::Key("tags".into()),
            Step::Key("app.example/\"x\"".into()),
        ]);
        assert_eq!(path.to_string(), r#"ingress[0].tags["app.example/\"x\""]"#);
    }
}
