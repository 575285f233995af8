//! Helpers that the rules share: what an attribute's value looks like in full, and what means the
//! same.

use super::{Attribute, Equal, Kind, Nesting, Path, Step, Type, Value};
use std::collections::BTreeMap;

/// Whether two values of an attribute mean the same: equal, or every leaf equal by its rule.
pub(crate) fn same_meaning(attribute: &Attribute, a: &Value, b: &Value) -> bool {
    Sameness::Exact.attribute(attribute, a, b)
}

/// Whether two objects mean the same in each attribute.
pub(crate) fn same_object(attributes: &[Attribute], a: &Value, b: &Value) -> bool {
    Sameness::Exact.object(attributes, a, b)
}

/// Whether an object is what another one, with unknowns, may become.
pub(crate) fn may_become(attributes: &[Attribute], unknown: &Value, known: &Value) -> bool {
    Sameness::Open.object(attributes, unknown, known)
}

/// Whether an unknown value on the left is the same as anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sameness {
    Exact,
    Open,
}

impl Sameness {
    fn plain(self, a: &Value, b: &Value) -> bool {
        a == b || (self == Self::Open && a.is_unknown())
    }

    fn attribute(self, attribute: &Attribute, a: &Value, b: &Value) -> bool {
        if self.plain(a, b) {
            return true;
        }
        match &attribute.kind {
            Kind::Value(_) => self.leaves(attribute.equal, a, b),
            Kind::Nested(_, children) | Kind::Block(_, children) => {
                self.elements(a, b, &|a, b| self.object(children, a, b))
            }
        }
    }

    fn object(self, attributes: &[Attribute], a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Object(_), Value::Object(_)) => {
                attributes.iter().all(|at| self.attribute(at, a.get(at.name), b.get(at.name)))
            }
            _ => self.plain(a, b),
        }
    }

    fn leaves(self, equal: Option<Equal>, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::List(_), Value::List(_))
            | (Value::Set(_), Value::Set(_))
            | (Value::Map(_), Value::Map(_)) => {
                self.elements(a, b, &|a, b| self.leaves(equal, a, b))
            }
            _ => {
                let by_rule = |equal: Equal| a.is_set() && b.is_set() && equal(a, b);
                self.plain(a, b) || equal.is_some_and(by_rule)
            }
        }
    }

    /// Lists by position, maps by key, sets one to one; else as one object.
    fn elements(self, a: &Value, b: &Value, same: &dyn Fn(&Value, &Value) -> bool) -> bool {
        match (a, b) {
            (Value::List(x), Value::List(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
            }
            (Value::Map(x), Value::Map(y)) => {
                x.len() == y.len() && x.iter().all(|(k, x)| y.get(k).is_some_and(|y| same(x, y)))
            }
            (Value::Set(x), Value::Set(y)) => {
                let mut free: Vec<&Value> = y.iter().collect();
                let mut take = |x: &Value| {
                    let at = free.iter().position(|y| same(x, y))?;
                    Some(free.swap_remove(at))
                };
                x.len() == y.len() && x.iter().all(|x| take(x).is_some())
            }
            (Value::Object(_), Value::Object(_)) => same(a, b),
            _ => self.plain(a, b),
        }
    }
}

/// The same elements with `change` applied; it is given each element's step.
pub(crate) fn map_elements(value: &Value, mut change: impl FnMut(&Step, &Value) -> Value) -> Value {
    match value {
        Value::List(elements) => Value::List(
            elements.iter().enumerate().map(|(at, e)| change(&Step::Index(at), e)).collect(),
        ),
        Value::Set(elements) => {
            Value::set(elements.iter().map(|e| change(&Step::SetElement, e)).collect::<Vec<_>>())
        }
        Value::Map(entries) => Value::Map(
            entries.iter().map(|(k, e)| (k.clone(), change(&Step::Key(k.clone()), e))).collect(),
        ),
        other => other.clone(),
    }
}

/// Each element with its step.
pub(crate) fn elements(value: &Value) -> Vec<(Step, &Value)> {
    match value {
        Value::List(elements) => {
            elements.iter().enumerate().map(|(at, e)| (Step::Index(at), e)).collect()
        }
        Value::Set(elements) => elements.iter().map(|e| (Step::SetElement, e)).collect(),
        Value::Map(entries) => entries.iter().map(|(k, e)| (Step::Key(k.clone()), e)).collect(),
        _ => Vec::new(),
    }
}

/// The element at a list index or map key; null where there is none, and for sets.
pub(crate) fn element<'a>(value: &'a Value, step: &Step) -> &'a Value {
    static NULL: Value = Value::Null;
    match (value, step) {
        (Value::List(elements), Step::Index(at)) => elements.get(*at).unwrap_or(&NULL),
        (Value::Map(entries), Step::Key(key)) => entries.get(key).unwrap_or(&NULL),
        _ => &NULL,
    }
}

/// The paths of all unknown values in `value`.
pub(crate) fn unknown_paths(path: &Path, value: &Value, found: &mut Vec<Path>) {
    match value {
        Value::Unknown(_) => found.push(path.clone()),
        Value::Object(attributes) => {
            for (name, value) in attributes {
                unknown_paths(&path.child(name), value, found);
            }
        }
        Value::Dynamic(_, value) => unknown_paths(path, value, found),
        _ => {
            for (step, value) in elements(value) {
                unknown_paths(&path.join(step), value, found);
            }
        }
    }
}

/// The value in full: every attribute of every object there (null where absent), lists made sets
/// and objects made maps where the type says so.
///
/// The error names the place where the value doesn't fit its type.
pub(crate) fn conform(ty: &Type, value: &Value, path: &Path) -> Result<Value, (Path, String)> {
    let wrong = || Err((path.clone(), format!("{} where {} belongs", value.kind(), type_name(ty))));
    match (ty, value) {
        (_, Value::Null | Value::Unknown(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Number, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Dynamic, Value::Dynamic(..)) => Ok(value.clone()),
        (Type::List(element), Value::List(values)) => Ok(Value::List(each(element, values, path)?)),
        (Type::Set(element), Value::List(values) | Value::Set(values)) => {
            Ok(Value::set(each(element, values, path)?))
        }
        (Type::Map(element), Value::Map(entries) | Value::Object(entries)) => entries
            .iter()
            .map(|(key, value)| Ok((key.clone(), conform(element, value, &path.key(key))?)))
            .collect::<Result<_, _>>()
            .map(Value::Map),
        (Type::Object(types), Value::Object(entries) | Value::Map(entries)) => {
            if let Some(name) = entries.keys().find(|name| !types.contains_key(*name)) {
                return Err((path.child(name), "an attribute that the schema doesn't have".into()));
            }
            let attribute = |(name, ty): (&String, &Type)| {
                let value = entries.get(name).unwrap_or(&Value::Null);
                Ok((name.clone(), conform(ty, value, &path.child(name))?))
            };
            types.iter().map(attribute).collect::<Result<_, _>>().map(Value::Object)
        }
        (Type::Tuple(types), Value::List(values)) if types.len() == values.len() => types
            .iter()
            .zip(values)
            .enumerate()
            .map(|(at, (ty, value))| conform(ty, value, &path.index(at)))
            .collect::<Result<_, _>>()
            .map(Value::List),
        _ => wrong(),
    }
}

fn each(ty: &Type, values: &[Value], path: &Path) -> Result<Vec<Value>, (Path, String)> {
    values.iter().enumerate().map(|(at, value)| conform(ty, value, &path.index(at))).collect()
}

/// What the value of a nested attribute or block is when there is none of it: null, but an empty
/// collection for list, set and map blocks, and for a group an object of what is absent.
pub fn absent(attribute: &Attribute) -> Value {
    match &attribute.kind {
        Kind::Block(Nesting::Group, children) => {
            Value::object(children.iter().map(|child| (child.name, absent(child))))
        }
        Kind::Block(Nesting::List, _) => Value::List(Vec::new()),
        Kind::Block(Nesting::Set, _) => Value::Set(Vec::new()),
        Kind::Block(Nesting::Map, _) => Value::Map(BTreeMap::new()),
        _ => Value::Null,
    }
}

fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "a boolean",
        Type::Number => "a number",
        Type::String => "a string",
        Type::Dynamic => "a value of a dynamic type",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Map(_) => "a map",
        Type::Object(_) => "an object",
        Type::Tuple(_) => "a tuple",
    }
}
