//! `parse_quantity`: the exact number that a text of an amount means.

use super::quantities::{amount, resource};
use crate::framework::{Function, FunctionError, Parameter, Path, Signature, Type, Value};

pub(super) struct ParseQuantity;

impl Function for ParseQuantity {
    fn name(&self) -> &'static str {
        "parse_quantity"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Reads an amount such as `500m` or `1Gi`.",
            description: "The exact number that an amount means, in the smallest unit of its \
                resource: millicores of `cpu`, bytes of `memory`, whole units of any other. \
                `parse_quantity(\"500m\", \"cpu\")` is `500` and `parse_quantity(\"2\", \"cpu\")` is \
                `2000`; `parse_quantity(\"1Gi\", \"memory\")` is `1073741824`. Without a resource \
                the text counts whole units, so that `2k` is `2000`.",
            parameters: vec![Parameter::new(
                "text",
                Type::String,
                "The amount: digits, with a fraction or without, and a suffix (`Ki` to `Ei`, `k` \
                 to `E`, of `cpu` also `m`) or none.",
            )],
            variadic: Some(resource(
                "What it is an amount of: `cpu`, `memory` or another name. One at most.",
            )),
            returns: Type::Number,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let (text, resource) = match arguments {
            [text] => (text, ""),
            [text, resource] => (text, resource.as_str().unwrap_or_default()),
            _ => {
                let why = "An amount is of one resource: leave out what follows the first one.";
                return Err(FunctionError::of_argument(2, why));
            }
        };
        let read = amount(resource, text, &Path::root());
        read.map(Value::from).map_err(|why| {
            let thousandths = resource.is_empty() && text.as_str().is_some_and(in_thousandths);
            let hint = " Only of `cpu` there are thousandths: then name it as the second argument.";
            FunctionError::of_argument(0, why + if thousandths { hint } else { "" })
        })
    }
}

fn in_thousandths(text: &str) -> bool {
    text.strip_suffix('m').is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}
