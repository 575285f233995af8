//! `sum_quantities`: what many amounts of one resource are together.

use proto::quantity::Quantity;

use super::quantities::{amount, resource};
use crate::framework::{Function, FunctionError, Parameter, Path, Signature, Step, Type, Value};

pub(super) struct SumQuantities;

impl Function for SumQuantities {
    fn name(&self) -> &'static str {
        "sum_quantities"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Adds amounts of one resource, such as `500m` and `2`.",
            description: "The exact sum of all amounts, as text. Each argument after the resource \
                is an amount, or a list, set, map or object of amounts: \
                `sum_quantities(\"cpu\", \"500m\", \"1\")` is `1500m`, and \
                `sum_quantities(\"memory\", [\"512Mi\", \"512Mi\"])` is `1Gi`. Of nothing the sum \
                is `0`.",
            parameters: vec![resource(
                "What they are amounts of: `cpu`, `memory` or another name.",
            )],
            variadic: Some(Parameter::new(
                "amounts",
                Type::Dynamic,
                "An amount such as `500m`, a number, or a collection of them.",
            )),
            returns: Type::String,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let [resource, amounts @ ..] = arguments else {
            return Err(FunctionError::of_call("A resource is wanted."));
        };
        let resource = resource.as_str().unwrap_or_default();
        let mut sum = 0;
        for (at, amounts) in amounts.iter().enumerate() {
            sum = add(sum, resource, (amounts, &Path::root()))
                .map_err(|why| FunctionError::of_argument(at + 1, why))?;
        }
        Ok(Quantity::of(resource, sum).to_string().into())
    }
}

/// The sum so far and all amounts in a value.
fn add(sum: u64, resource: &str, (value, place): (&Value, &Path)) -> Result<u64, String> {
    match value {
        Value::Dynamic(_, inner) => add(sum, resource, (inner, place)),
        Value::List(elements) | Value::Set(elements) => elements
            .iter()
            .enumerate()
            .try_fold(sum, |sum, (at, element)| add(sum, resource, (element, &place.index(at)))),
        Value::Map(entries) | Value::Object(entries) => {
            entries.iter().try_fold(sum, |sum, (key, entry)| {
                add(sum, resource, (entry, &place.join(Step::Key(key.clone()))))
            })
        }
        Value::Unknown(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            sum.checked_add(amount(resource, value, place)?).ok_or_else(|| {
                format!("The sum is more than {}, the most that can be counted.", u64::MAX)
            })
        }
    }
}
