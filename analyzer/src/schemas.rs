//! What providers say of their resource types: sets and lists, what may be set, what is secret.
//!
//! - Kept in a dozen bytes for each attribute, so that the schemas of a large provider fit beside
//!   a plan.
//! - A path is followed as it stands in a plan or a state: keys of objects and maps, positions in
//!   lists and sets.
//! - What a schema does not say is not guessed: a lookup that finds nothing is `None`.

mod build;

pub(crate) use build::Builder;

use crate::{
    path::{Path, Step},
    value::Value,
};
use std::collections::BTreeMap;

/// The schemas of all resource types of some providers.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    names: BTreeMap<Box<str>, u32>,
    /// By type, then by provider: a type is nearly always of one provider.
    types: BTreeMap<String, BTreeMap<String, Box<[Node]>>>,
}

/// One place of a schema. The places below it follow it, up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    name: u32,
    end: u32,
    shape: Shape,
    traits: Traits,
}

/// What kind of value stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, a number or a flag.
    Scalar,
    /// Whatever the provider likes.
    Dynamic,
    /// Named attributes, each with a schema of its own.
    Object,
    /// Positions, each with a schema of its own.
    Tuple,
    List,
    /// As a list, but its order carries no meaning.
    Set,
    Map,
}

/// Marks of an attribute, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traits(u8);

impl Traits {
    const REQUIRED: Self = Self(1);
    const OPTIONAL: Self = Self(2);
    const COMPUTED: Self = Self(4);
    const SENSITIVE: Self = Self(8);
    const WRITE_ONLY: Self = Self(16);
    const DEPRECATED: Self = Self(32);
    const BLOCK: Self = Self(64);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Schemas {
    /// The schema of a resource type. The provider is its source address, as in a plan; when that
    /// is not known, because another registry or an older version names it otherwise, one of the
    /// same last name serves, if there is one only.
    pub fn resource(&self, provider: &str, resource_type: &str) -> Option<Schema<'_>> {
        let providers = self.types.get(resource_type)?;
        let nodes = match providers.get(provider) {
            Some(nodes) => nodes,
            None => {
                let last = |source: &str| source.rsplit('/').next().map(str::to_owned);
                let mut alike = providers.iter().filter(|(known, _)| last(known) == last(provider));
                let (_, nodes) = alike.next()?;
                if alike.next().is_some() {
                    return None;
                }
                nodes
            }
        };
        Some(Schema { schemas: self, nodes, at: 0 })
    }

    /// The schema of the value at `path` in a resource. `None` when the provider, the type or the
    /// path is not known.
    pub fn lookup(&self, provider: &str, resource_type: &str, path: &Path) -> Option<Schema<'_>> {
        self.resource(provider, resource_type)?.find(path)
    }

    /// How many resource types are known.
    pub fn len(&self) -> usize {
        self.types.values().map(BTreeMap::len).sum()
    }

    /// True when no resource type is known.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

/// The schema of one place: a resource, an attribute, a nested block, or an element of one.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a> {
    schemas: &'a Schemas,
    nodes: &'a [Node],
    at: usize,
}

impl<'a> Schema<'a> {
    fn node(&self) -> Node {
        self.nodes[self.at]
    }

    /// What kind of value stands here.
    pub fn shape(&self) -> Shape {
        self.node().shape
    }

    /// The schema one step further down.
    pub fn child(&self, step: &Step) -> Option<Self> {
        let mut children = self.children();
        let at = match (self.shape(), step) {
            (Shape::Object, Step::Key(key)) => {
                let name = *self.schemas.names.get(key.as_str())?;
                children.find(|at| self.nodes[*at].name == name)
            }
            (Shape::Tuple, Step::Index(index)) => children.nth(*index),
            (Shape::List | Shape::Set, Step::Index(_)) | (Shape::Map, Step::Key(_)) => {
                children.next()
            }
            _ => None,
        }?;
        Some(Self { at, ..*self })
    }

    fn children(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (nodes, end) = (self.nodes, self.node().end as usize);
        let mut next = self.at + 1;
        std::iter::from_fn(move || {
            let at = next;
            (at < end).then(|| {
                next = nodes[at].end as usize;
                at
            })
        })
    }

    /// The schema at a path from here.
    pub fn find(self, path: &Path) -> Option<Self> {
        path.0.iter().try_fold(self, |schema, step| schema.child(step))
    }

    /// True when the configuration has to set it.
    pub fn is_required(&self) -> bool {
        self.node().traits.has(Traits::REQUIRED)
    }

    /// True when the configuration may set it.
    pub fn is_optional(&self) -> bool {
        self.node().traits.has(Traits::OPTIONAL)
    }

    /// True when the provider may set it.
    pub fn is_computed(&self) -> bool {
        self.node().traits.has(Traits::COMPUTED)
    }

    /// True when only the provider sets it: configuration that does is refused.
    pub fn is_computed_only(&self) -> bool {
        self.is_computed() && !self.is_settable()
    }

    /// True when the configuration may or has to set it.
    pub fn is_settable(&self) -> bool {
        self.node().traits.has(Traits::REQUIRED.with(Traits::OPTIONAL))
    }

    /// True when its value is secret.
    pub fn is_sensitive(&self) -> bool {
        self.node().traits.has(Traits::SENSITIVE)
    }

    /// True when the provider takes it and never gives it back.
    pub fn is_write_only(&self) -> bool {
        self.node().traits.has(Traits::WRITE_ONLY)
    }

    /// True when the provider asks not to use it any more.
    pub fn is_deprecated(&self) -> bool {
        self.node().traits.has(Traits::DEPRECATED)
    }

    /// True for a nested block, which is written without `=`.
    pub fn is_block(&self) -> bool {
        self.node().traits.has(Traits::BLOCK)
    }

    /// What is secret in a value of this schema, as a tree whose leaves are `true`.
    pub fn mask(self, value: &Value) -> Value {
        if self.is_sensitive() || self.is_write_only() {
            return Value::Bool(true);
        }
        let below = |step| self.child(&step);
        match value {
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .filter_map(|(key, field)| {
                        let mask = below(Step::Key(key.clone()))?.mask(field);
                        crate::path::any_true(&mask).then(|| (key.clone(), mask))
                    })
                    .collect(),
            ),
            Value::List(items) => Value::List(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        below(Step::Index(index))
                            .map_or(Value::Bool(false), |schema| schema.mask(item))
                    })
                    .collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Value::Bool(false)
            }
        }
    }
}
