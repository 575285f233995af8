//! Random configurations: those that a schema's rules mostly allow, the same with unknown values, and
//! hostile ones.

use std::fmt;

use proptest::{collection, prelude::*, sample};
use provider::framework::{
    Attribute, Kind, Mode, Nesting, Number, Schema, Type, Validator, Value, conformance::absent,
};

use super::known::Known;

const AMOUNTS: &[&str] = &["1", "0.5", "500m", "1Gi", "1024Mi", "2", "2000m", "1e3", "0"];
const TIMES: &[&str] = &["10s", "1m30s", "90s", "500ms", "0.5s", "1m"];
const INSTANTS: &[&str] =
    &["2100-01-01T00:00:00Z", "2100-01-01T01:00:00+01:00", "2101-01-01T00:00:00.5Z"];
const TEXTS: &[&str] = &[
    "a-secret-of-at-least-32-characters",
    "http",
    "dev",
    "web",
    "/",
    "/tmp",
    "TERM",
    "INT",
    "B",
    "x y",
    "é \"\\ ${x}",
    "a\nb",
    "10s",
    "",
];
const KEYS: [&str; 5] = ["cpu", "memory", "a", "B", "team"];

/// Texts that no attribute is made for; some are valid in some all the same.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "\0",
    "\n",
    "-",
    "-1",
    "0",
    "00",
    "1e999999999",
    "99999999999999999999999Ei",
    "1.5.5",
    "NaN",
    "-5s",
    "999999999999h",
    "0s",
    "1ns",
    "Dev",
    "a-",
    "a..b",
    "..",
    "/",
    "//",
    "\u{202e}abc",
    "ａ",
    "é",
    "a b",
    "a=b",
    "nobody-there",
    "${x}",
    "%s%n",
    "RUNTIMECLOUD_TOKEN",
    "workers",
];

const HOSTILE_NUMBERS: &[&str] =
    &["-1", "0", "0.5", "10001", "4294967296", "1e400", "-1e400", "1e-400"];

/// A value in few words, without what is null.
pub struct Terse<'a>(pub &'a Value);

impl fmt::Debug for Terse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = || self.0.entries().filter(|(_, value)| !value.is_null());
        match self.0 {
            Value::Object(_) => f.write_str("{ ").and_then(|()| {
                entries()
                    .try_for_each(|(name, value)| write!(f, "{name} = {:?} ", Terse(value)))?;
                f.write_str("}")
            }),
            Value::Map(_) => {
                f.debug_map().entries(entries().map(|(name, value)| (name, Terse(value)))).finish()
            }
            Value::List(elements) | Value::Set(elements) => {
                f.debug_list().entries(elements.iter().map(Terse)).finish()
            }
            Value::String(text) => text.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::Null => f.write_str("null"),
            Value::Unknown(_) => f.write_str("(unknown)"),
            Value::Dynamic(_, inner) => Terse(inner).fmt(f),
        }
    }
}

/// Configurations with values of each attribute's own form. Rules between attributes may still be
/// broken, and nothing is unknown.
pub fn of(schema: &Schema, known: &'static Known) -> BoxedStrategy<Value> {
    object(&schema.attributes, &[], &Place { known, path: String::new() })
}

/// The same with some of it unknown, as `unknown` says for one attribute after the other.
pub fn blurred(config: &Value, unknown: &[bool]) -> Value {
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

/// A configuration of which one leaf, or more, is replaced by something that nobody would write.
pub fn hostile(config: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let blow = (any::<sample::Index>(), hostile_text(), hostile_number());
    (config, collection::vec(blow, 1..3))
        .prop_map(|(mut config, blows)| {
            for (at, text, number) in blows {
                let leaves = leaves(&mut config);
                let count = leaves.len();
                if let Some(leaf) = leaves.into_iter().nth(at.index(count.max(1))) {
                    *leaf = match leaf {
                        Value::Number(_) => number.into(),
                        Value::Map(_) => Value::map([(text, "1")]),
                        _ => text.into(),
                    };
                }
            }
            config
        })
        .boxed()
}

fn hostile_text() -> BoxedStrategy<String> {
    prop_oneof![
        8 => sample::select(HOSTILE).prop_map(str::to_owned),
        2 => collection::vec(any::<char>(), 0..6).prop_map(|text| text.into_iter().collect()),
        1 => Just("a".repeat(64)),
        1 => Just("x".repeat(70_000)),
    ]
    .boxed()
}

fn hostile_number() -> BoxedStrategy<Number> {
    sample::select(HOSTILE_NUMBERS)
        .prop_filter_map("a number", |text| text.parse::<Number>().ok())
        .boxed()
}

/// Strings, numbers and maps of strings, wherever they stand.
fn leaves(value: &mut Value) -> Vec<&mut Value> {
    let is_text_map = |value: &Value| {
        matches!(value, Value::Map(_)) && value.entries().all(|(_, value)| value.as_str().is_some())
    };
    match value {
        map if is_text_map(map) => vec![map],
        Value::String(_) | Value::Number(_) => vec![value],
        Value::Object(inner) | Value::Map(inner) => inner.values_mut().flat_map(leaves).collect(),
        Value::List(inner) => inner.iter_mut().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

/// Where in a configuration, without keys and indices.
#[derive(Clone)]
struct Place {
    known: &'static Known,
    path: String,
}

impl Place {
    fn child(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { known: self.known, path: format!("{}{dot}{name}", self.path) }
    }

    fn choices(&self) -> Option<&'static [&'static str]> {
        let row = self.known.choices.iter().find(|(path, _)| *path == self.path);
        row.map(|(_, choices)| *choices)
    }
}

fn attribute(attribute: &Attribute, place: &Place) -> BoxedStrategy<Value> {
    match attribute.mode {
        Mode::Computed => Just(Value::Null).boxed(),
        Mode::Required => value(attribute, place),
        Mode::Optional | Mode::OptionalComputed => {
            prop_oneof![Just(absent(attribute)), value(attribute, place)].boxed()
        }
    }
}

fn value(attribute: &Attribute, place: &Place) -> BoxedStrategy<Value> {
    let rules = &attribute.validators;
    let (Kind::Nested(nesting, children) | Kind::Block(nesting, children)) = &attribute.kind else {
        return leaf(attribute, place);
    };
    let element = || object(children, &each(rules), place);
    match nesting {
        Nesting::Single | Nesting::Group => object(children, rules, place),
        Nesting::Map => {
            collection::btree_map(keys(rules), element(), 1..3).prop_map(Value::map).boxed()
        }
        Nesting::List => collection::vec(element(), 0..3).prop_map(Value::list).boxed(),
        Nesting::Set => collection::vec(element(), 0..3).prop_map(Value::set).boxed(),
    }
}

fn object(children: &[Attribute], rules: &[Validator], place: &Place) -> BoxedStrategy<Value> {
    let one_of: &'static [&'static str] = rules
        .iter()
        .find_map(|rule| match rule {
            Validator::ExactlyOneOf(names)
            | Validator::AtLeastOneOf(names)
            | Validator::Conflicts(names) => Some(*names),
            _ => None,
        })
        .unwrap_or_default();
    let mut strategy = Just(Value::object::<&str>([])).boxed();
    for child in children {
        let (name, place) = (child.name, place.child(child.name));
        let of_child =
            if one_of.contains(&name) { value(child, &place) } else { attribute(child, &place) };
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

fn leaf(attribute: &Attribute, place: &Place) -> BoxedStrategy<Value> {
    let rules = &attribute.validators;
    let texts = |rules: &[Validator]| texts(attribute, place, rules);
    let elements = || collection::vec(texts(&each(rules)), 1..3);
    match attribute.value_type() {
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::Number => {
            let numbers: Vec<Value> = [0_u32, 1, 2, 3, 7, 50].map(Value::from).into();
            sample::select(allowed(&numbers, rules, place)).boxed()
        }
        Type::List(_) => elements().prop_map(Value::list).boxed(),
        Type::Set(_) => elements().prop_map(Value::set).boxed(),
        Type::Map(_) => collection::btree_map(keys(rules), texts(&each(rules)), 0..3)
            .prop_map(Value::map)
            .boxed(),
        Type::String | Type::Dynamic | Type::Object(_) | Type::Tuple(_) => texts(rules),
    }
}

fn texts(attribute: &Attribute, place: &Place, rules: &[Validator]) -> BoxedStrategy<Value> {
    let same = |one: &str, other: &str| {
        attribute.equal.is_some_and(|equal| equal(&one.into(), &other.into()))
    };
    let texts = match place.choices() {
        Some(choices) => choices,
        None if same("1Gi", "1024Mi") => AMOUNTS,
        None if same("90s", "1m30s") => TIMES,
        None if same(INSTANTS[0], INSTANTS[1]) => INSTANTS,
        None => TEXTS,
    };
    let one_of = rules.iter().find_map(|rule| match rule {
        Validator::OneOf(choices) => Some(*choices),
        _ => None,
    });
    let texts: Vec<Value> = one_of.unwrap_or(texts).iter().map(|text| Value::from(*text)).collect();
    sample::select(allowed(&texts, rules, place)).boxed()
}

fn keys(rules: &[Validator]) -> BoxedStrategy<String> {
    let of_keys: Vec<&Validator> = rules
        .iter()
        .filter_map(|rule| match rule {
            Validator::Keys(rule) => Some(&**rule),
            _ => None,
        })
        .collect();
    let fits = |key: &&str| of_keys.iter().all(|rule| rule.check(&Value::from(*key)).is_ok());
    let keys: Vec<&str> = KEYS.into_iter().filter(fits).collect();
    sample::select(keys).prop_map(str::to_owned).boxed()
}

/// Rules of the elements.
fn each(rules: &[Validator]) -> Vec<Validator> {
    let of_each = |rule: &Validator| match rule {
        Validator::Each(rule) => Some((**rule).clone()),
        _ => None,
    };
    rules.iter().filter_map(of_each).collect()
}

/// Those that the rules allow.
fn allowed(values: &[Value], rules: &[Validator], place: &Place) -> Vec<Value> {
    let fits = |value: &Value| rules.iter().all(|rule| rule.check(value).is_ok());
    let kept: Vec<Value> = values.iter().filter(|value| fits(value)).cloned().collect();
    assert!(
        !kept.is_empty(),
        "no value that is tried at `{}` of {} obeys its rules: name some in `known.rs`",
        place.path,
        place.known.type_name
    );
    kept
}
