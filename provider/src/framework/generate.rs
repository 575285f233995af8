//! The configuration that would have led to a state, for an object that was imported.

use super::{Attribute, Kind, Mode, Nesting, Schema, Value, timeouts, walk};

/// A configuration whose plan against `state` is empty: without what only the provider sets, what is
/// on its way out, and what is its default anyway.
pub fn generate_config(schema: &Schema, state: &Value) -> Value {
    let mut config = object(&schema.attributes, state);
    if timeouts::are_imported(state) {
        config.set_attribute("timeouts", Value::Null);
    }
    config
}

fn object(attributes: &[Attribute], state: &Value) -> Value {
    if !matches!(state, Value::Object(_)) {
        return state.clone();
    }
    Value::object(attributes.iter().map(|a| (a.name, one(a, state.get(a.name)))))
}

fn one(attribute: &Attribute, state: &Value) -> Value {
    let required = attribute.mode == Mode::Required;
    let is_default =
        attribute.default.as_ref().is_some_and(|d| walk::same_meaning(attribute, d, state));
    let left_out = attribute.mode == Mode::Computed
        || attribute.write_only
        || (attribute.deprecated.is_some() && !required)
        || is_default;
    if left_out {
        return walk::absent(attribute);
    }
    match &attribute.kind {
        Kind::Value(_) => state.clone(),
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => object(children, state),
        Kind::Nested(_, children) | Kind::Block(_, children) => {
            walk::map_elements(state, |_, element| object(children, element))
        }
    }
}
