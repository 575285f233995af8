//! What functions share: amounts in arguments, and the words for what is none. Pure.

use proto::quantity::Quantity;

use crate::framework::{Parameter, Path, Type, Value};

/// The parameter that says what an amount is of.
pub(super) const fn resource(description: &'static str) -> Parameter {
    Parameter::new("resource", Type::String, description)
}

/// The amount that a text or number means, in the smallest unit of its resource.
///
/// The error is a sentence, with the place where it is not the whole argument.
pub(super) fn amount(resource: &str, value: &Value, place: &Path) -> Result<u64, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => {
            return Err(format!(
                "{}{} is not an amount; write a text such as `1Gi`, or a number.",
                at(place),
                upper(other.kind(), place)
            ));
        }
    };
    match Quantity::parse(resource, &text) {
        Ok(quantity) => Ok(quantity.amount),
        Err(error) => Err(format!("{}{error}.", at(place))),
    }
}

fn at(place: &Path) -> String {
    if place.is_root() { String::new() } else { format!("At `{place}`: ") }
}

/// A sentence begins with a capital, unless it has begun with its place.
fn upper(words: &str, place: &Path) -> String {
    let mut letters = words.chars();
    match letters.next() {
        Some(first) if place.is_root() => first.to_uppercase().chain(letters).collect(),
        _ => words.to_owned(),
    }
}
