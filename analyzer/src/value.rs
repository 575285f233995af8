//! What a plan says about one value: plain JSON with exact numbers.
//!
//! - Two values are equal when they mean the same: numbers by amount, objects by key.
//! - Values live only between reading and the report. The report holds [`Shown`] values, in which
//!   whatever is sensitive has been replaced; nothing else can be printed.
//!
//! [`Shown`]: crate::report::Shown

use crate::number::Number;
use std::{cmp::Ordering, collections::BTreeMap};

/// One JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl Value {
    /// Null, an empty string, an empty list or an empty object: what older providers take for
    /// each other.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Object(fields) => fields.is_empty(),
            Self::Bool(_) | Self::Number(_) => false,
        }
    }

    /// The field of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.get(key),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// A total order that agrees with equality, so that lists can be compared as multisets in
    /// `n log n`.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => order_numbers(left, right),
            (Self::String(left), Self::String(right)) => left.cmp(right),
            (Self::List(left), Self::List(right)) => order_all(left.iter(), right.iter()),
            (Self::Object(left), Self::Object(right)) => {
                left.keys().cmp(right.keys()).then_with(|| order_all(left.values(), right.values()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::String(_) => 3,
            Self::List(_) => 4,
            Self::Object(_) => 5,
        }
    }
}

fn order_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.canonical(), right.canonical()) {
        (Some(left), Some(right)) => left.cmp(&right),
        (None, None) => left.as_str().cmp(right.as_str()),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

fn order_all<'a>(
    left: impl Iterator<Item = &'a Value>,
    mut right: impl Iterator<Item = &'a Value>,
) -> Ordering {
    for item in left {
        let Some(other) = right.next() else { return Ordering::Greater };
        let order = item.order(other);
        if order != Ordering::Equal {
            return order;
        }
    }
    if right.next().is_some() { Ordering::Less } else { Ordering::Equal }
}
