//! From what an operation returns to the state that is stored.
//!
//! Operations return what the remote end said. Against the *reference* (the plan after create and
//! update, the prior state after read) that is completed and kept in the user's spelling; what still
//! isn't known is an error.

use super::{
    Attribute, Diagnostics, Kind, Mode, Nesting, Path, Reported, Schema, Value, timeouts, walk,
};
use std::collections::BTreeMap;

/// What becomes of values that are unknown in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// An error: the operation said that it was done.
    Report,
    /// Null: the operation failed and this is what holds so far.
    Null,
}

/// The state to store, from the state returned and the reference.
pub fn settle(
    schema: &Schema,
    (reference, returned): (&Value, &Value),
    leftover: Leftover,
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    // Values may be large: no copy lives longer than it is needed.
    let completed = complete_object(&schema.attributes, reference, returned);
    let conformed = conform(schema, &completed, diagnostics)?;
    drop(completed);
    let kept = keep_object(&schema.attributes, reference, &conformed);
    drop(conformed);
    let mut unknown = Vec::new();
    walk::unknown_paths(&Path::root(), &kept, &mut unknown);
    if unknown.is_empty() {
        return Ok(kept);
    }
    if leftover == Leftover::Null {
        return Ok(nullify(&kept));
    }
    for path in &unknown {
        diagnostics.error(
            path.clone(),
            "Value left unknown",
            format!(
                "The provider finished the operation but never gave a value for {path}. This is a \
                 bug in the provider; please report it."
            ),
        );
    }
    diagnostics.stop_if_failed().map(|()| kept)
}

/// The state of an import: what is left out is its default, else null.
pub fn imported(
    schema: &Schema,
    returned: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    let defaults = Value::object(schema.attributes.iter().map(|attribute| {
        let value = attribute.default.clone().unwrap_or_else(|| walk::absent(attribute));
        (attribute.name, value)
    }));
    let state = settle(schema, (&defaults, returned), Leftover::Null, diagnostics)?;
    Ok(if timeouts::are_in(schema) { timeouts::with_imported(state) } else { state })
}

/// The state of an upgrade or a move: what is left out is null.
pub fn upgraded(
    schema: &Schema,
    returned: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    let nulls = Value::object(schema.attributes.iter().map(|a| (a.name, walk::absent(a))));
    let completed = complete_object(&schema.attributes, &nulls, returned);
    let state = conform(schema, &completed, diagnostics)?;
    // The stored form is the user's own: an empty collection must stay one.
    settle(schema, (&state, &state), Leftover::Null, diagnostics)
}

fn conform(
    schema: &Schema,
    value: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    walk::conform(&schema.value_type(), value, &Path::root()).map_err(|(path, what)| {
        diagnostics.error(
            path.clone(),
            "Value of the wrong type",
            format!(
                "The provider produced {what}, at `{path}`. This is a bug in the provider; please \
                 report it."
            ),
        )
    })
}

/// Takes what `returned` leaves out from the reference.
fn complete_object(attributes: &[Attribute], reference: &Value, returned: &Value) -> Value {
    let Value::Object(entries) = returned else { return returned.clone() };
    let mut completed = entries.clone();
    for attribute in attributes {
        let reference = reference.get(attribute.name);
        let value = match completed.get(attribute.name) {
            None => reference.clone(),
            Some(value) => complete(attribute, reference, value),
        };
        completed.insert(attribute.name.to_owned(), value);
    }
    Value::Object(completed)
}

fn complete(attribute: &Attribute, reference: &Value, value: &Value) -> Value {
    match &attribute.kind {
        Kind::Value(_) => value.clone(),
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => {
            complete_object(children, reference, value)
        }
        Kind::Nested(_, children) | Kind::Block(_, children) => {
            // A map of objects may be given as an object of objects.
            let value = match value {
                Value::Object(entries) => &Value::Map(entries.clone()),
                other => other,
            };
            walk::map_elements(value, |step, element| {
                complete_object(children, walk::element(reference, step), element)
            })
        }
    }
}

fn keep_object(attributes: &[Attribute], reference: &Value, value: &Value) -> Value {
    if !matches!(value, Value::Object(_)) {
        return value.clone();
    }
    Value::object(attributes.iter().map(|attribute| {
        let reference = within(reference, reference.get(attribute.name));
        (attribute.name, keep(attribute, reference, value.get(attribute.name)))
    }))
}

/// A part of a reference: all parts of an unknown one are unknown.
const fn within<'a>(whole: &'a Value, part: &'a Value) -> &'a Value {
    if whole.is_unknown() { whole } else { part }
}

/// The reference's form where it means the same; null and empty (a string or a collection) count as
/// the same where the user may have written the one or the other.
fn keep(attribute: &Attribute, reference: &Value, value: &Value) -> Value {
    if attribute.write_only {
        return Value::Null;
    }
    if value.is_null() && attribute.is_block() {
        return walk::absent(attribute);
    }
    let both_empty = is_empty(reference) && is_empty(value);
    // Nobody writes null where something is required: then it only stands for not read yet.
    let is_written = attribute.mode != Mode::Required || !reference.is_null();
    let has_form = attribute.mode.is_configurable() && !attribute.is_block() && is_written;
    if (both_empty && has_form) || walk::same_meaning(attribute, reference, value) {
        return reference.clone();
    }
    match &attribute.kind {
        Kind::Value(_) => attribute
            .equal
            .map_or_else(|| value.clone(), |equal| keep_leaves(equal, reference, value)),
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => {
            keep_object(children, reference, value)
        }
        Kind::Nested(_, children) | Kind::Block(_, children) => {
            let mut free: Vec<&Value> = match reference {
                Value::Set(elements) => elements.iter().collect(),
                _ => Vec::new(),
            };
            walk::map_elements(value, |step, element| {
                let origin = free.iter().position(|r| walk::may_become(children, r, element));
                let reference = match origin {
                    Some(at) => free.swap_remove(at),
                    None => within(reference, walk::element(reference, step)),
                };
                keep_object(children, reference, element)
            })
        }
    }
}

fn keep_leaves(equal: fn(&Value, &Value) -> bool, reference: &Value, value: &Value) -> Value {
    if let Value::Set(elements) = reference {
        return walk::map_elements(value, |_, element| {
            elements.iter().find(|r| equal(r, element)).unwrap_or(element).clone()
        });
    }
    if matches!(value, Value::List(_) | Value::Map(_)) {
        return walk::map_elements(value, |step, element| {
            keep_leaves(equal, walk::element(reference, step), element)
        });
    }
    let same = reference.is_set() && value.is_set() && equal(reference, value);
    if same { reference.clone() } else { value.clone() }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(elements) | Value::Set(elements) => elements.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

fn nullify(value: &Value) -> Value {
    match value {
        Value::Unknown(_) => Value::Null,
        Value::Object(attributes) => Value::Object(
            attributes.iter().map(|(k, v)| (k.clone(), nullify(v))).collect::<BTreeMap<_, _>>(),
        ),
        Value::Dynamic(ty, inner) => Value::Dynamic(ty.clone(), Box::new(nullify(inner))),
        other => walk::map_elements(other, |_, element| nullify(element)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Type;

    #[test]
    fn an_imported_empty_collection_is_null_only_where_that_can_be_written() {
        let map = |name| Attribute::value(name, Type::map(Type::String), "A map.");
        let schema = Schema::new("A thing.").attributes([map("free"), map("needed").required()]);
        let empty = || Value::map::<&str, Value>([]);
        let returned = Value::object([("free", empty()), ("needed", empty())]);
        let state = imported(&schema, &returned, &mut Diagnostics::new()).unwrap();
        assert_eq!(state.get("free"), &Value::Null);
        assert_eq!(state.get("needed"), &empty());
    }
}
