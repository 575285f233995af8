//! Rules for values, as data: each can check, and say in words what it asks for.
//!
//! Rules see only what is known: null and unknown values pass, and a rule between attributes waits
//! until it knows enough to be sure.

use super::{Number, Value};
use std::ops::RangeInclusive;

/// A rule.
#[derive(Clone, Debug)]
pub enum Validator {
    /// Characters of a string, or elements of a collection.
    Length(RangeInclusive<usize>),
    /// A number, ends included.
    Range(RangeInclusive<Number>),
    /// A number without fraction.
    Integer,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A string of a form. `form` continues "must be ...": "lower-case letters and digits".
    Pattern {
        /// The form in words.
        form: &'static str,
        /// Whether a string has it.
        matches: fn(&str) -> bool,
    },
    /// Each element of a list, set or map.
    Each(Box<Self>),
    /// Each key of a map.
    Keys(Box<Self>),
    /// Of these attributes of an object, exactly one is set.
    ExactlyOneOf(&'static [&'static str]),
    /// Of these attributes of an object, at least one is set.
    AtLeastOneOf(&'static [&'static str]),
    /// Of these attributes of an object, at most one is set.
    Conflicts(&'static [&'static str]),
    /// These attributes of an object are set together or not at all.
    Together(&'static [&'static str]),
    /// Where the first of these attributes of an object is set, all the others are too.
    Requires(&'static [&'static str]),
    /// Any rule. The text continues the sentence "The value ...": "must be ...".
    Custom(fn(&Value) -> Result<(), String>),
}

impl Validator {
    /// A length within `range`.
    pub const fn length(range: RangeInclusive<usize>) -> Self {
        Self::Length(range)
    }

    /// A number within `range`.
    pub fn range<N: Into<Number> + Clone>(range: RangeInclusive<N>) -> Self {
        Self::Range(range.start().clone().into()..=range.end().clone().into())
    }

    /// One of these strings.
    pub const fn one_of(choices: &'static [&'static str]) -> Self {
        Self::OneOf(choices)
    }

    /// A string of a form; `form` continues "must be ...".
    pub const fn pattern(form: &'static str, matches: fn(&str) -> bool) -> Self {
        Self::Pattern { form, matches }
    }

    /// Each element obeys `rule`.
    pub fn each(rule: Self) -> Self {
        Self::Each(Box::new(rule))
    }

    /// Each key obeys `rule`.
    pub fn keys(rule: Self) -> Self {
        Self::Keys(Box::new(rule))
    }

    /// Checks `value`; the error continues the sentence "The value ...". Null and unknown pass.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if !value.is_set() {
            return Ok(());
        }
        match self {
            Self::Length(range) => check_length(range, value),
            Self::Range(range) => match value.as_number() {
                Some(number) if !range.contains(number) => {
                    Err(format!("{}, not {number}", self.demand()))
                }
                _ => Ok(()),
            },
            Self::Integer => match value.as_number() {
                Some(number) if !number.is_integer() => {
                    Err(format!("{}, not {number}", self.demand()))
                }
                _ => Ok(()),
            },
            Self::OneOf(choices) => match value.as_str() {
                Some(text) if !choices.contains(&text) => {
                    Err(format!("{}, not {text:?}", self.demand()))
                }
                _ => Ok(()),
            },
            Self::Pattern { matches, .. } => match value.as_str() {
                Some(text) if !matches(text) => Err(format!("{}, not {text:?}", self.demand())),
                _ => Ok(()),
            },
            Self::Each(rule) => value
                .elements()
                .iter()
                .chain(value.entries().map(|(_, v)| v))
                .try_for_each(|v| rule.check(v)),
            Self::Keys(rule) => value.entries().try_for_each(|(key, _)| {
                rule.check(&key.into()).map_err(|e| format!("has a key that {e}"))
            }),
            Self::ExactlyOneOf(names)
            | Self::AtLeastOneOf(names)
            | Self::Conflicts(names)
            | Self::Together(names)
            | Self::Requires(names) => self.check_names(names, value),
            Self::Custom(check) => {
                if value.is_wholly_known() {
                    check(value)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// What the rule asks for, as the rest of "The value ..."; empty for [`Validator::Custom`].
    pub fn demand(&self) -> String {
        match self {
            Self::Length(range) => {
                format!("must have a length {}", between(range.start(), range.end(), usize::MAX))
            }
            Self::Range(range) => format!("must be from {} to {}", range.start(), range.end()),
            Self::Integer => "must be a whole number".to_owned(),
            Self::OneOf(choices) => format!("must be one of {}", quoted(choices)),
            Self::Pattern { form, .. } => format!("must be {form}"),
            Self::Each(rule) => rule.demand(),
            Self::Keys(rule) => match rule.demand() {
                demand if demand.is_empty() => demand,
                demand => format!("has keys; each {demand}"),
            },
            Self::ExactlyOneOf(names) => format!("must set exactly one of {}", quoted(names)),
            Self::AtLeastOneOf(names) => format!("must set at least one of {}", quoted(names)),
            Self::Conflicts(names) => format!("must set at most one of {}", quoted(names)),
            Self::Together(names) => format!("must set {} together", quoted(names)),
            Self::Requires(names) => match names.split_first() {
                Some((first, others)) => {
                    format!("must set {} where it sets `{first}`", quoted(others))
                }
                None => String::new(),
            },
            Self::Custom(_) => String::new(),
        }
    }

    /// The attributes that a rule between attributes is about.
    pub(super) const fn names(&self) -> &'static [&'static str] {
        match self {
            Self::ExactlyOneOf(names)
            | Self::AtLeastOneOf(names)
            | Self::Conflicts(names)
            | Self::Together(names)
            | Self::Requires(names) => names,
            Self::Length(_)
            | Self::Range(_)
            | Self::Integer
            | Self::OneOf(_)
            | Self::Pattern { .. }
            | Self::Each(_)
            | Self::Keys(_)
            | Self::Custom(_) => &[],
        }
    }

    fn check_names(&self, names: &[&str], value: &Value) -> Result<(), String> {
        let set: Vec<&str> = names.iter().copied().filter(|n| value.get(n).is_set()).collect();
        let unknown = names.iter().any(|n| value.get(n).is_unknown());
        let wrong = match self {
            Self::ExactlyOneOf(_) => set.len() > 1 || (set.is_empty() && !unknown),
            Self::AtLeastOneOf(_) => set.is_empty() && !unknown,
            Self::Conflicts(_) => set.len() > 1,
            Self::Requires(_) => {
                let null = names.iter().any(|n| value.get(n).is_null());
                names.first().is_some_and(|first| value.get(first).is_set()) && null
            }
            _ => !set.is_empty() && set.len() < names.len() && !unknown,
        };
        match (wrong, set.is_empty()) {
            (false, _) => Ok(()),
            (true, true) => Err(format!("{}; none is set", self.demand())),
            (true, false) => Err(format!("{}; set are {}", self.demand(), quoted(&set))),
        }
    }
}

fn check_length(range: &RangeInclusive<usize>, value: &Value) -> Result<(), String> {
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::List(elements) | Value::Set(elements) => elements.len(),
        Value::Map(entries) => entries.len(),
        _ => return Ok(()),
    };
    if range.contains(&length) {
        return Ok(());
    }
    let wanted = between(range.start(), range.end(), usize::MAX);
    Err(format!("must have a length {wanted}, not {length}"))
}

fn between(start: &usize, end: &usize, open: usize) -> String {
    if *end == open { format!("of at least {start}") } else { format!("from {start} to {end}") }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_say_what_they_want_and_what_they_got() {
        let cases = [
            (Validator::length(1..=3), "abcd".into(), "must have a length from 1 to 3, not 4"),
            (Validator::range(1_u32..=5), 9_u32.into(), "must be from 1 to 5, not 9"),
            (Validator::one_of(&["a", "b"]), "c".into(), "must be one of `a`, `b`, not \"c\""),
            (
                Validator::each(Validator::length(0..=1)),
                Value::list(["a", "bc"]),
                "must have a length from 0 to 1, not 2",
            ),
            (
                Validator::ExactlyOneOf(&["a", "b"]),
                Value::object([("a", 1_u32.into()), ("b", 2_u32.into())]),
                "must set exactly one of `a`, `b`; set are `a`, `b`",
            ),
        ];
        for (rule, value, expected) in cases {
            assert_eq!(rule.check(&value), Err(expected.to_owned()));
            assert_eq!(rule.check(&Value::Null), Ok(()));
            assert_eq!(rule.check(&Value::UNKNOWN), Ok(()));
        }
    }

    #[test]
    fn a_rule_between_attributes_waits_for_unknowns() {
        let value = Value::object([("a", Value::Null), ("b", Value::UNKNOWN)]);
        for rule in [Validator::ExactlyOneOf(&["a", "b"]), Validator::AtLeastOneOf(&["a", "b"])] {
            assert_eq!(rule.check(&value), Ok(()));
        }
    }
}
