//! Random schemas and values, made by reading choices off a tape of bytes. Shrinking the tape
//! shrinks what is made of it.

use crate::notes::same_in_lower_case;
use provider::framework::{Attribute, Kind, Mode, Nesting, Number, Schema, Type, Value};
use std::collections::BTreeMap;

const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// Choices; zeros when it is over.
pub(crate) struct Tape<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

/// How often a value is unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknowns {
    Never,
    Sometimes,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    pub(crate) fn choose(&mut self, choices: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % choices
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.choose(one_in) == one_in - 1
    }

    /// A schema that obeys the rules, with an id.
    pub(crate) fn schema(&mut self) -> Schema {
        let id = Attribute::string("id", "Its id.").computed().keep_prior();
        let mut attributes = self.attributes(&Surroundings::default());
        attributes.push(id);
        Schema::new("A random schema.").attributes(attributes)
    }

    fn attributes(&mut self, around: &Surroundings) -> Vec<Attribute> {
        let count = 1 + self.choose(3);
        let mut attributes: Vec<Attribute> =
            NAMES[..count].iter().map(|name| self.attribute(name, around)).collect();
        if around.in_set {
            // Elements are told apart by a key, as those of any sound schema are.
            attributes.push(Attribute::string("key", "Its key.").required());
        }
        attributes
    }

    fn attribute(&mut self, name: &'static str, around: &Surroundings) -> Attribute {
        let nested = around.depth < 2 && self.chance(3);
        let block = nested && around.blocks && self.chance(3);
        let mode = match self.choose(4) {
            _ if around.forced.is_some() => around.forced.unwrap(),
            0 => Mode::Optional,
            1 => Mode::Required,
            2 if !block => Mode::Computed,
            _ if block => Mode::Optional,
            _ => Mode::OptionalComputed,
        };
        let with_default = mode == Mode::OptionalComputed && !nested && self.chance(2);
        let mut attribute = if nested {
            self.nested(name, (mode, block), around)
        } else {
            let ty = self.value_type();
            Attribute::value(name, ty, "A value.")
        };
        attribute.mode = mode;
        if with_default {
            let value = self.value_of(&attribute.value_type(), Unknowns::Never);
            attribute = attribute.default(value);
        } else if mode.is_computed() && self.chance(2) {
            attribute = attribute.keep_prior();
        }
        if matches!(mode, Mode::Required | Mode::Optional) && self.chance(4) {
            attribute = attribute.replace();
        }
        if mode == Mode::Optional && !nested && !around.in_set && self.chance(5) {
            return attribute.write_only();
        }
        let texts = matches!(&attribute.kind, Kind::Value(ty) if *ty == Type::String
            || *ty == Type::map(Type::String) || *ty == Type::list(Type::String));
        if texts && self.chance(2) { attribute.equal(same_in_lower_case) } else { attribute }
    }

    fn nested(
        &mut self,
        name: &'static str,
        (mode, block): (Mode, bool),
        around: &Surroundings,
    ) -> Attribute {
        let nestings = [Nesting::Single, Nesting::List, Nesting::Set, Nesting::Map, Nesting::Group];
        let nesting = match nestings[self.choose(if block { 5 } else { 4 })] {
            Nesting::Map | Nesting::Group if mode == Mode::Required && block => Nesting::Single,
            nesting => nesting,
        };
        let own = mode.is_computed().then_some(mode);
        let forced = around.forced.filter(|forced| *forced == Mode::Computed).or(own);
        // The key of a set's element is required, which nothing computed may hold.
        let nesting = match nesting {
            Nesting::Set if forced.is_some() => Nesting::Single,
            other => other,
        };
        let in_set = forced.is_none() && (around.in_set || nesting == Nesting::Set);
        let inner = Surroundings { depth: around.depth + 1, forced, in_set, blocks: block };
        let children = self.attributes(&inner);
        if block {
            Attribute::block(name, nesting, "A block.", children)
        } else {
            Attribute::nested(name, nesting, "Nested.", children)
        }
    }

    fn value_type(&mut self) -> Type {
        match self.choose(6) {
            0 => Type::String,
            1 => Type::Number,
            2 => Type::Bool,
            3 => Type::list(Type::String),
            4 => Type::map(Type::String),
            _ => Type::set(Type::Number),
        }
    }

    /// A configuration of a schema: set where it must be, and else as the tape says.
    pub(crate) fn config(&mut self, schema: &Schema, unknowns: Unknowns) -> Value {
        self.object(&schema.attributes, unknowns)
    }

    fn object(&mut self, attributes: &[Attribute], unknowns: Unknowns) -> Value {
        Value::object(attributes.iter().map(|attribute| {
            let value = match attribute.mode {
                Mode::Computed => Value::Null,
                Mode::Required => self.attribute_value(attribute, unknowns),
                Mode::Optional | Mode::OptionalComputed if self.chance(2) => {
                    self.attribute_value(attribute, unknowns)
                }
                Mode::Optional | Mode::OptionalComputed => empty(attribute),
            };
            (attribute.name, value)
        }))
    }

    fn attribute_value(&mut self, attribute: &Attribute, unknowns: Unknowns) -> Value {
        let (nesting, children) = match &attribute.kind {
            // A collection that is equal by meaning and known in part has two spellings to choose
            // from in the first plan and in the second: the planner's one known limit.
            Kind::Value(ty @ (Type::List(_) | Type::Map(_))) if attribute.equal.is_some() => {
                let inner = if self.chance(4) { unknowns } else { Unknowns::Never };
                return match inner {
                    Unknowns::Sometimes => Value::UNKNOWN,
                    Unknowns::Never => self.value_of(ty, Unknowns::Never),
                };
            }
            Kind::Value(ty) => return self.value_of(ty, unknowns),
            Kind::Nested(nesting, children) | Kind::Block(nesting, children) => {
                (*nesting, children)
            }
        };
        if !attribute.is_block() && unknowns == Unknowns::Sometimes && self.chance(6) {
            return Value::UNKNOWN;
        }
        let count = self.choose(3);
        match nesting {
            Nesting::Single | Nesting::Group => self.object(children, unknowns),
            Nesting::List => {
                Value::List((0..count).map(|_| self.object(children, unknowns)).collect())
            }
            Nesting::Map => Value::Map(
                NAMES[..count]
                    .iter()
                    .map(|name| ((*name).to_owned(), self.object(children, unknowns)))
                    .collect(),
            ),
            Nesting::Set => Value::set(
                NAMES[..count]
                    .iter()
                    .map(|name| {
                        let mut element = self.object(children, Unknowns::Never);
                        element.set_attribute("key", *name);
                        element
                    })
                    .collect::<Vec<_>>(),
            ),
        }
    }

    /// A value that is not null.
    pub(crate) fn value_of(&mut self, ty: &Type, unknowns: Unknowns) -> Value {
        if unknowns == Unknowns::Sometimes && self.chance(5) {
            return Value::UNKNOWN;
        }
        match ty {
            Type::Bool => Value::Bool(self.chance(2)),
            Type::Number => Value::Number(self.number()),
            Type::String => ["a", "A", "b", "B", "", "c"][self.choose(6)].into(),
            Type::List(element) => {
                let count = self.choose(3);
                Value::List((0..count).map(|_| self.value_of(element, unknowns)).collect())
            }
            Type::Set(element) => {
                let count = self.choose(3);
                Value::set(
                    (0..count).map(|_| self.value_of(element, Unknowns::Never)).collect::<Vec<_>>(),
                )
            }
            Type::Map(element) => {
                let count = self.choose(3);
                let entry = |name: &&str| ((*name).to_owned(), self.value_of(element, unknowns));
                Value::Map(NAMES[..count].iter().map(entry).collect())
            }
            Type::Object(types) => {
                let attribute =
                    |(name, ty): (&String, &Type)| (name.clone(), self.value_of(ty, unknowns));
                Value::Object(types.iter().map(attribute).collect::<BTreeMap<_, _>>())
            }
            Type::Tuple(types) => {
                Value::List(types.iter().map(|ty| self.value_of(ty, unknowns)).collect())
            }
            Type::Dynamic => {
                let ty = self.value_type();
                let value = self.value_of(&ty, unknowns);
                Value::Dynamic(ty, Box::new(value))
            }
        }
    }

    pub(crate) fn number(&mut self) -> Number {
        [
            "0",
            "1",
            "-1",
            "0.1",
            "1.5",
            "123456789012345678901234567890",
            "-32",
            "9223372036854775807",
        ][self.choose(8)]
        .parse()
        .unwrap()
    }

    /// Makes unknowns known, as an apply does: to anything of their type.
    pub(crate) fn resolve(&mut self, ty: &Type, value: &Value) -> Value {
        match (ty, value) {
            (_, Value::Unknown(_)) => self.value_of(ty, Unknowns::Never),
            (Type::List(element), Value::List(values)) => {
                Value::List(values.iter().map(|v| self.resolve(element, v)).collect())
            }
            (Type::Set(element), Value::Set(values)) => {
                Value::set(values.iter().map(|v| self.resolve(element, v)).collect::<Vec<_>>())
            }
            (Type::Map(element), Value::Map(entries)) => Value::Map(
                entries.iter().map(|(k, v)| (k.clone(), self.resolve(element, v))).collect(),
            ),
            (Type::Object(types), Value::Object(attributes)) => Value::Object(
                attributes.iter().map(|(k, v)| (k.clone(), self.resolve(&types[k], v))).collect(),
            ),
            (_, other) => other.clone(),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Surroundings {
    depth: usize,
    /// The mode that the parent's forces on its children.
    forced: Option<Mode>,
    in_set: bool,
    blocks: bool,
}

/// What the configuration holds of an attribute that isn't set.
fn empty(attribute: &Attribute) -> Value {
    match &attribute.kind {
        Kind::Block(Nesting::Group, children) => {
            Value::object(children.iter().map(|child| (child.name, empty(child))))
        }
        Kind::Block(Nesting::Map, _) => Value::Map(BTreeMap::new()),
        Kind::Block(Nesting::List, _) => Value::List(Vec::new()),
        Kind::Block(Nesting::Set, _) => Value::set(Vec::<Value>::new()),
        _ => Value::Null,
    }
}
