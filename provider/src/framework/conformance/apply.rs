//! What Terraform accepts as a state, as the result of an apply, and as the second plan just before it.

use super::{Violation, violation};
use crate::framework::{Attribute, Number, Path, Refinement, Schema, Value, walk};

/// The rules that a state to be stored breaks, wherever it comes from.
pub fn check_state(schema: &Schema, state: &Value) -> Vec<Violation> {
    if let Err((path, what)) = walk::conform(&schema.value_type(), state, &Path::root()) {
        return vec![violation(&path, what)];
    }
    not_to_store(schema, state)
}

fn not_to_store(schema: &Schema, state: &Value) -> Vec<Violation> {
    let mut unknown = Vec::new();
    walk::unknown_paths(&Path::root(), state, &mut unknown);
    let mut found: Vec<_> = unknown.iter().map(|path| violation(path, "still unknown")).collect();
    write_only(&schema.attributes, &Path::root(), state, &mut found);
    found
}

fn write_only(attributes: &[Attribute], path: &Path, object: &Value, found: &mut Vec<Violation>) {
    for attribute in attributes {
        let (path, value) = (path.child(attribute.name), object.get(attribute.name));
        if attribute.write_only && !value.is_null() {
            found.push(violation(&path, "a write-only value is stored"));
        }
        match value {
            Value::Object(_) => write_only(attribute.children(), &path, value, found),
            _ => walk::elements(value).iter().for_each(|(step, element)| {
                write_only(attribute.children(), &path.join(step.clone()), element, found);
            }),
        }
    }
}

/// The rules that the state after an apply breaks.
pub fn check_apply(schema: &Schema, planned: &Value, applied: &Value) -> Vec<Violation> {
    let mut found = check_final_plan(schema, planned, applied);
    found.extend(not_to_store(schema, applied));
    found
}

/// The rules that a second plan, made when more is known, breaks.
pub fn check_final_plan(schema: &Schema, first: &Value, second: &Value) -> Vec<Violation> {
    if let Err((path, what)) = walk::conform(&schema.value_type(), second, &Path::root()) {
        return vec![violation(&path, what)];
    }
    let mut found = Vec::new();
    compare(&Path::root(), first, second, &mut found);
    found
}

fn compare(path: &Path, planned: &Value, actual: &Value, found: &mut Vec<Violation>) {
    let mut say = |what: &str| found.push(violation(path, what));
    match (planned, actual) {
        (Value::Unknown(refinement), _) => {
            if let Some(refinement) = refinement
                && let Some(what) = breaks(refinement, actual)
            {
                say(what);
            }
        }
        (Value::Null, Value::Null) => {}
        (Value::Null, _) => say("null was planned, and now there is a value"),
        (_, Value::Null) => say("a value was planned, and now it is null"),
        (_, Value::Unknown(_)) => say("a value was planned, and now it is unknown"),
        (Value::Object(x), Value::Object(y)) => {
            for (name, planned) in x {
                let actual = y.get(name).unwrap_or(&Value::Null);
                compare(&path.child(name), planned, actual, found);
            }
        }
        (Value::List(x), Value::List(y)) if x.len() != y.len() => {
            say("another number of elements was planned");
        }
        (Value::Map(x), Value::Map(y)) if !x.keys().eq(y.keys()) => say("other keys were planned"),
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
            for (step, planned) in walk::elements(planned) {
                compare(&path.join(step.clone()), planned, walk::element(actual, &step), found);
            }
        }
        (Value::Set(x), Value::Set(y)) => {
            let fits = |p: &Value, a: &Value| {
                let mut inner = Vec::new();
                compare(path, p, a, &mut inner);
                inner.is_empty()
            };
            if y.len() > x.len() {
                say("fewer elements were planned");
            } else if !x.iter().all(|p| y.iter().any(|a| fits(p, a)))
                || !y.iter().all(|a| x.iter().any(|p| fits(p, a)))
            {
                say("other elements were planned");
            }
        }
        (Value::Dynamic(_, x), Value::Dynamic(_, y)) => compare(path, x, y, found),
        _ if planned == actual => {}
        _ => say("another value was planned"),
    }
}

/// The promise that an actual value breaks.
fn breaks(refinement: &Refinement, actual: &Value) -> Option<&'static str> {
    let length = match actual {
        Value::List(elements) | Value::Set(elements) => Some(elements.len()),
        Value::Map(entries) => Some(entries.len()),
        _ => None,
    };
    let length = length.and_then(|length| u64::try_from(length).ok());
    let below = |number: &Number| {
        refinement.lower.as_ref().is_some_and(|lower| {
            number < &lower.number || (!lower.inclusive && number == &lower.number)
        })
    };
    let above = |number: &Number| {
        refinement.upper.as_ref().is_some_and(|upper| {
            number > &upper.number || (!upper.inclusive && number == &upper.number)
        })
    };
    if refinement.not_null && actual.is_null() {
        return Some("null, though a value was promised");
    }
    if let (Some(prefix), Some(text)) = (&refinement.prefix, actual.as_str())
        && !text.starts_with(prefix.as_str())
    {
        return Some("without the prefix that was promised");
    }
    if actual.as_number().is_some_and(|number| below(number) || above(number)) {
        return Some("outside the bounds that were promised");
    }
    let short = length.zip(refinement.length_min).is_some_and(|(length, min)| length < min);
    let long = length.zip(refinement.length_max).is_some_and(|(length, max)| length > max);
    (short || long).then_some("not of the length that was promised")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Nesting;

    #[test]
    fn a_stored_state_is_known_and_holds_nothing_write_only() {
        let secret = || Attribute::string("secret", "Never stored.").write_only();
        let schema = Schema::new("A thing.").attributes([
            Attribute::string("id", "Its id.").computed(),
            Attribute::nested("keys", Nesting::Map, "Its keys.", [secret()]),
        ]);
        let key = |secret: Value| Value::map([("secret", Value::object([("secret", secret)]))]);
        let state = |id: Value, secret| Value::object([("id", id), ("keys", key(secret))]);
        let found = |state| -> Vec<String> {
            check_state(&schema, &state).iter().map(ToString::to_string).collect()
        };
        assert_eq!(found(state("a".into(), Value::Null)), Vec::<String>::new());
        assert_eq!(found(state(Value::UNKNOWN, Value::Null)), ["id: still unknown"]);
        let told = "keys[\"secret\"].secret: a write-only value is stored";
        assert_eq!(found(state("a".into(), "hush".into())), [told]);
        assert_eq!(found(Value::list(["a"])), [": a list where an object belongs"]);
    }
}
