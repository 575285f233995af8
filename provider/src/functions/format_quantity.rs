//! `format_quantity`: the text that people write for an amount.

use proto::quantity::Quantity;

use super::quantities::resource;
use crate::framework::{Function, FunctionError, Number, Parameter, Signature, Type, Value};

pub(super) struct FormatQuantity;

impl Function for FormatQuantity {
    fn name(&self) -> &'static str {
        "format_quantity"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Writes an amount as people do, such as `500m` or `1Gi`.",
            description: "The shortest text of an amount that is given in the smallest unit of its \
                resource: millicores of `cpu`, bytes of `memory`, whole units of any other. \
                `format_quantity(1500, \"cpu\")` is `1500m` and `format_quantity(2000, \"cpu\")` is \
                `2`; `format_quantity(1073741824, \"memory\")` is `1Gi`. Nothing is rounded: \
                `parse_quantity` reads the same number back.",
            parameters: vec![
                Parameter::new("amount", Type::Number, "The amount, a whole number from 0 on."),
                resource("What it is an amount of: `cpu`, `memory` or another name."),
            ],
            variadic: None,
            returns: Type::String,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let [amount, resource] = arguments else {
            return Err(FunctionError::of_call("An amount and a resource are wanted."));
        };
        let Some(number) = amount.as_u64() else {
            return Err(FunctionError::of_argument(0, refused(amount.as_number())));
        };
        Ok(Quantity::of(resource.as_str().unwrap_or_default(), number).to_string().into())
    }
}

fn refused(number: Option<&Number>) -> String {
    match number {
        Some(number) if *number < Number::ZERO => "An amount is not below zero.".to_owned(),
        Some(number) if !number.is_integer() => {
            "An amount in the smallest unit is a whole number: \
             round it first, with `floor` or `ceil`."
                .to_owned()
        }
        _ => format!("An amount is at most {}.", u64::MAX),
    }
}
