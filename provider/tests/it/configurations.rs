//! Random configurations that a schema allows, for property tests.

use proptest::{collection, prelude::*, sample};
use provider::framework::{Attribute, Kind, Mode, Nesting, Schema, Type, Validator, Value};

const AMOUNTS: &[&str] = &["1", "0.5", "500m", "1Gi", "1024Mi", "2", "2000m"];
const TIMES: &[&str] = &["10s", "1m30s", "90s", "500ms", "0.5s", "1m"];
const TEXTS: &[&str] = &["http", "dev", "web", "/", "/tmp", "TERM", "INT", "B", "x y", "10s", ""];

/// Any configuration with values of each attribute's own form. Rules between attributes may still
/// be broken, and nothing is unknown.
pub(crate) fn of(schema: &Schema) -> BoxedStrategy<Value> {
    object(&schema.attributes, &[])
}

/// The same with some of it unknown, as `unknown` says for one attribute after the other.
pub(crate) fn blurred(config: &Value, unknown: &[bool]) -> Value {
    let mut unknown = unknown.iter().copied().cycle();
    Value::object(config.entries().map(|(name, value)| {
        let value = match value {
            Value::Null => Value::Null,
            _ if unknown.next() == Some(true) => Value::UNKNOWN,
            Value::Object(_) => Value::object(value.entries().map(|(name, value)| {
                let blur = !value.is_null() && unknown.next() == Some(true);
                (name, if blur { Value::UNKNOWN } else { value.clone() })
            })),
            value => value.clone(),
        };
        (name, value)
    }))
}

fn attribute(attribute: &Attribute) -> BoxedStrategy<Value> {
    match attribute.mode {
        Mode::Computed => Just(Value::Null).boxed(),
        Mode::Required => value(attribute),
        Mode::Optional | Mode::OptionalComputed => {
            prop_oneof![Just(Value::Null), value(attribute)].boxed()
        }
    }
}

fn value(attribute: &Attribute) -> BoxedStrategy<Value> {
    let rules = &attribute.validators;
    match &attribute.kind {
        Kind::Value(ty) => leaf(attribute, ty),
        Kind::Nested(Nesting::Single, children) => object(children, rules),
        Kind::Nested(Nesting::Map, children) => {
            let element = object(children, &each(rules));
            collection::btree_map(keys(rules), element, 1..3).prop_map(Value::map).boxed()
        }
        Kind::Nested(_, children) => {
            collection::vec(object(children, &each(rules)), 0..3).prop_map(Value::list).boxed()
        }
        Kind::Block(..) => Just(Value::Null).boxed(),
    }
}

fn object(children: &[Attribute], rules: &[Validator]) -> BoxedStrategy<Value> {
    let one_of: &'static [&'static str] = rules
        .iter()
        .find_map(|rule| match rule {
            Validator::ExactlyOneOf(names) | Validator::AtLeastOneOf(names) => Some(*names),
            _ => None,
        })
        .unwrap_or_default();
    let mut strategy = Just(Value::object::<&str>([])).boxed();
    for child in children.iter().cloned() {
        let name = child.name;
        let of_child = if one_of.contains(&name) { value(&child) } else { attribute(&child) };
        strategy = (strategy, of_child)
            .prop_map(move |(mut object, value)| {
                object.set_attribute(name, value);
                object
            })
            .boxed();
    }
    (strategy, any::<sample::Index>())
        .prop_map(move |(mut object, chosen)| {
            for name in one_of {
                if one_of[chosen.index(one_of.len())] != *name {
                    object.set_attribute(name, Value::Null);
                }
            }
            object
        })
        .boxed()
}

fn leaf(attribute: &Attribute, ty: &Type) -> BoxedStrategy<Value> {
    let rules = &attribute.validators;
    match ty {
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::Number => {
            let numbers: Vec<Value> = [0_u32, 1, 2, 3, 50].map(Value::from).into();
            sample::select(allowed(numbers, rules)).boxed()
        }
        Type::String => texts(attribute, rules),
        Type::List(_) => {
            collection::vec(texts(attribute, &each(rules)), 1..3).prop_map(Value::list).boxed()
        }
        Type::Set(_) => {
            collection::vec(texts(attribute, &each(rules)), 1..3).prop_map(Value::set).boxed()
        }
        Type::Map(_) => {
            let element = texts(attribute, &each(rules));
            collection::btree_map(keys(rules), element, 0..3).prop_map(Value::map).boxed()
        }
        Type::Dynamic | Type::Object(_) | Type::Tuple(_) => panic!("no attribute has {ty:?}"),
    }
}

fn texts(attribute: &Attribute, rules: &[Validator]) -> BoxedStrategy<Value> {
    let same = |one: &str, other: &str| {
        attribute.equal.is_some_and(|equal| equal(&one.into(), &other.into()))
    };
    let texts = if same("1Gi", "1024Mi") {
        AMOUNTS
    } else if same("90s", "1m30s") {
        TIMES
    } else {
        TEXTS
    };
    sample::select(allowed(texts.iter().map(|text| Value::from(*text)).collect(), rules)).boxed()
}

fn keys(rules: &[Validator]) -> BoxedStrategy<String> {
    let of_keys: Vec<Validator> = rules
        .iter()
        .filter_map(|rule| match rule {
            Validator::Keys(rule) => Some((**rule).clone()),
            _ => None,
        })
        .collect();
    let keys = ["cpu", "memory", "a", "B"].map(Value::from).into();
    let keys = allowed(keys, &of_keys);
    sample::select(keys).prop_map(|key| key.as_str().unwrap_or_default().to_owned()).boxed()
}

/// Rules of the elements.
fn each(rules: &[Validator]) -> Vec<Validator> {
    let of_each = |rule: &Validator| match rule {
        Validator::Each(rule) => Some((**rule).clone()),
        _ => None,
    };
    rules.iter().filter_map(of_each).collect()
}

fn allowed(mut values: Vec<Value>, rules: &[Validator]) -> Vec<Value> {
    values.retain(|value| rules.iter().all(|rule| rule.check(value).is_ok()));
    assert!(!values.is_empty(), "no value is tried that {rules:?} allow");
    values
}
