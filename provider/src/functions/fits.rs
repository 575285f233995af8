//! `fits`: whether so many workers of a shape stay within a limit.

use super::quantities::amount;
use crate::framework::{Function, FunctionError, Parameter, Path, Signature, Type, Value};

pub(super) struct Fits;

/// Counts workers themselves rather than what each of them uses.
const WORKERS: &str = "workers";

impl Function for Fits {
    fn name(&self) -> &'static str {
        "fits"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Tells whether so many workers of a shape fit a limit.",
            description: "Whether `shape` times `size` is at most `limits`, resource by resource; \
                `workers` in `limits` is compared with `size`. As in a quota, a resource without a \
                limit is not limited. `fits({ cpu = \"500m\" }, 4, { cpu = \"2\" })` is `true`. The \
                limits of a quota can be given as they are: then their `hard` counts, and \
                `soft` does not. What is in use already is not asked for: take it off first.",
            parameters: vec![
                Parameter::new(
                    "shape",
                    Type::map(Type::String),
                    "What one worker uses, by resource, such as `{ cpu = \"500m\" }`.",
                ),
                Parameter::new("size", Type::Number, "How many workers, a whole number from 0 on."),
                Parameter::new(
                    "limits",
                    Type::Dynamic,
                    "The most that all may use, by resource: texts such as `2` or `1Gi`, or objects \
                     with `hard`, as a quota's limits are. Null is no limit.",
                ),
            ],
            variadic: None,
            returns: Type::Bool,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let [shape, size, limits] = arguments else {
            return Err(FunctionError::of_call("A shape, a size and limits are wanted."));
        };
        let size = size
            .as_u64()
            .ok_or_else(|| FunctionError::of_argument(1, "A size is a whole number from 0 on."))?;
        let limits = read_limits(limits).map_err(|why| FunctionError::of_argument(2, why))?;
        let mut fits = true;
        // All of the shape is read, so that a mistake in it is told whatever the limits are.
        for (resource, text) in shape.entries() {
            let one = amount(resource, text, &Path::root().key(resource))
                .map_err(|why| FunctionError::of_argument(0, why))?;
            let all = u128::from(one) * u128::from(size);
            fits &= limit_of(&limits, resource).is_none_or(|limit| all <= u128::from(limit));
        }
        fits &= limit_of(&limits, WORKERS).is_none_or(|limit| size <= limit);
        Ok(fits.into())
    }
}

fn limit_of(limits: &[(&str, u64)], resource: &str) -> Option<u64> {
    limits.iter().find(|(limited, _)| *limited == resource).map(|(_, limit)| *limit)
}

/// The limits by resource, those that are null left out.
fn read_limits(limits: &Value) -> Result<Vec<(&str, u64)>, String> {
    let limits = match limits {
        Value::Dynamic(_, inner) => &**inner,
        other => other,
    };
    if !matches!(limits, Value::Map(_) | Value::Object(_)) {
        return Err(format!(
            "Limits are by resource, such as `{{ cpu = \"2\" }}`; this is {}.",
            limits.kind()
        ));
    }
    let limit = |(resource, limit): (_, &_)| read_limit(resource, limit).transpose();
    limits.entries().filter_map(limit).collect()
}

fn read_limit<'a>(resource: &'a str, limit: &Value) -> Result<Option<(&'a str, u64)>, String> {
    let place = Path::root().key(resource);
    let (limit, place) = match limit {
        Value::Object(limits) | Value::Map(limits) => match limits.get("hard") {
            Some(hard) => (hard, place.child("hard")),
            None => return Err(format!("At `{place}`: a limit is an amount, or has `hard`.")),
        },
        other => (other, place),
    };
    if limit.is_null() {
        return Ok(None);
    }
    amount(resource, limit, &place).map(|amount| Some((resource, amount)))
}
