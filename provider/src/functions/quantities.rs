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
            let whole = "This".to_owned();
            let subject = if place.is_root() { whole } else { format!("At `{place}`") };
            let kind = other.kind();
            return Err(format!(
                "{subject} is {kind}; write an amount, such as `1Gi` or a number."
            ));
        }
    };
    let place = if place.is_root() { String::new() } else { format!("At `{place}`: ") };
    match Quantity::parse(resource, &text) {
        Ok(quantity) => Ok(quantity.amount),
        Err(error) => Err(format!("{place}{error}.")),
    }
}
