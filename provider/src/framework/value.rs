//! Values as Terraform has them: null and unknown are different things, and numbers are exact.
//!
//! Accessors are total: reading an attribute of something that isn't an object gives null, and
//! `as_*` gives `None` for null, unknown and other kinds. So `config.get("worker").get("shape")`
//! needs no checks between.

use super::{Number, Type};
use std::collections::BTreeMap;

/// What is known of an unknown value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refinement {
    /// It will not be null.
    pub not_null: bool,
    /// The string will begin with this.
    pub prefix: Option<String>,
    /// The number will not be below this.
    pub lower: Option<Bound>,
    /// The number will not be above this.
    pub upper: Option<Bound>,
    /// The collection will have at least so many elements.
    pub length_min: Option<u64>,
    /// The collection will have at most so many elements.
    pub length_max: Option<u64>,
}

/// An end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    /// The end.
    pub number: Number,
    /// Whether the end itself belongs to the range.
    pub inclusive: bool,
}

/// A value.
///
/// Sets are sorted and hold no value twice (made with [`Value::set`]), so equality is structural.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Not known yet.
    Unknown(Option<Box<Refinement>>),
    /// Absent.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An exact number.
    Number(Number),
    /// A string.
    String(String),
    /// A list, or a tuple under a dynamic type.
    List(Vec<Self>),
    /// A set; see [`Value::set`].
    Set(Vec<Self>),
    /// A map: any keys, values of one type.
    Map(BTreeMap<String, Self>),
    /// An object: the schema's attributes.
    Object(BTreeMap<String, Self>),
    /// A value of an attribute of [`Type::Dynamic`], with its type.
    Dynamic(Type, Box<Self>),
}

static NULL: Value = Value::Null;

impl Value {
    /// A value that nothing is known of.
    pub const UNKNOWN: Self = Self::Unknown(None);

    /// A value that will not be null.
    pub fn unknown_not_null() -> Self {
        Self::Unknown(Some(Box::new(Refinement { not_null: true, ..Refinement::default() })))
    }

    /// An object of the attributes given.
    pub fn object<K: Into<String>>(attributes: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(attributes.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// A map.
    pub fn map<K: Into<String>, V: Into<Self>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Map(entries.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// A list.
    pub fn list<V: Into<Self>>(elements: impl IntoIterator<Item = V>) -> Self {
        Self::List(elements.into_iter().map(Into::into).collect())
    }

    /// A set: sorted; known elements are kept once.
    pub fn set<V: Into<Self>>(elements: impl IntoIterator<Item = V>) -> Self {
        let mut elements: Vec<Self> = elements.into_iter().map(Into::into).collect();
        elements.sort();
        elements.dedup_by(|a, b| a == b && a.is_wholly_known());
        Self::Set(elements)
    }

    /// An attribute of an object or entry of a map; null where there is none.
    pub fn get(&self, name: &str) -> &Self {
        match self {
            Self::Object(entries) | Self::Map(entries) => entries.get(name).unwrap_or(&NULL),
            Self::Dynamic(_, value) => value.get(name),
            _ => &NULL,
        }
    }

    /// Sets an attribute of an object; nothing else has attributes to set.
    pub fn set_attribute(&mut self, name: &str, value: impl Into<Self>) {
        if let Self::Object(entries) = self {
            entries.insert(name.to_owned(), value.into());
        }
    }

    /// Whether it is null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is unknown as a whole.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Whether nothing in it is unknown.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
            Self::List(elements) | Self::Set(elements) => {
                elements.iter().all(Self::is_wholly_known)
            }
            Self::Map(entries) | Self::Object(entries) => {
                entries.values().all(Self::is_wholly_known)
            }
            Self::Dynamic(_, value) => value.is_wholly_known(),
        }
    }

    /// Whether there is a value: neither null nor unknown.
    pub const fn is_set(&self) -> bool {
        !self.is_null() && !self.is_unknown()
    }

    /// What kind of value it is, in words; never its content.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "an unknown value",
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Set(_) => "a set",
            Self::Map(_) => "a map",
            Self::Object(_) => "an object",
            Self::Dynamic(..) => "a value of a dynamic type",
        }
    }

    /// The string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Dynamic(_, value) => value.as_str(),
            _ => None,
        }
    }

    /// The boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number.
    pub const fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number, if it is an integer of this range.
    pub fn as_u32(&self) -> Option<u32> {
        self.as_number().and_then(Number::as_u32)
    }

    /// The number, if it is an integer of this range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// The number, if it is an integer of this range.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The elements of a list or set; none of anything else.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) | Self::Set(elements) => elements,
            Self::Dynamic(_, value) => value.elements(),
            _ => &[],
        }
    }

    /// The entries of a map or attributes of an object, by name; none of anything else.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        let entries = match self {
            Self::Map(entries) | Self::Object(entries) => Some(entries),
            _ => None,
        };
        entries.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// The string attribute `name`; empty when null, unknown or absent.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    /// The strings of a list or set.
    pub fn strings(&self) -> Vec<String> {
        self.elements().iter().filter_map(Self::as_str).map(str::to_owned).collect()
    }

    /// The string entries of a map.
    pub fn string_map(&self) -> BTreeMap<String, String> {
        self.entries()
            .filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())))
            .collect()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::String(text.clone())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    /// `None` is null.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    /// A list.
    fn from(elements: Vec<T>) -> Self {
        Self::list(elements)
    }
}

impl<T: Into<Self>> From<BTreeMap<String, T>> for Value {
    /// A map.
    fn from(entries: BTreeMap<String, T>) -> Self {
        Self::map(entries)
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => {$(
        impl From<$int> for Value {
            fn from(value: $int) -> Self {
                Self::Number(value.into())
            }
        }
    )*};
}
from_integer!(u8, u16, u32, u64, usize, i8, i16, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_past_the_end_gives_null() {
        let value = Value::object([("a", Value::object([("b", 1_u32.into())]))]);
        assert_eq!(value.get("a").get("b").as_u32(), Some(1));
        assert!(value.get("x").get("y").get("z").is_null());
        assert!(Value::UNKNOWN.get("a").is_null());
    }

    #[test]
    fn sets_are_equal_whatever_the_order() {
        assert_eq!(Value::set(["b", "a", "b"]), Value::set(["a", "b"]));
    }

    #[test]
    fn unknown_elements_of_a_set_are_all_kept() {
        assert_eq!(Value::set([Value::UNKNOWN, Value::UNKNOWN]).elements().len(), 2);
    }
}
