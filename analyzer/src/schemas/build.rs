//! From the JSON of one resource type to its compact schema.
//!
//! Whatever is not shaped as it should be counts as not said; nothing here can fail.

use super::{Node, Schemas, Shape, Traits};
use crate::read::text::{decode, fields, items};

/// Gathers schemas, one resource type at a time.
#[derive(Default)]
pub(crate) struct Builder {
    schemas: Schemas,
    nodes: Vec<Node>,
}

impl Builder {
    /// Adds `{"version": 1, "block": {...}}`.
    pub(crate) fn add(&mut self, provider: &str, resource_type: &str, raw: &[u8]) {
        let at = self.begin("", Traits::default());
        if let Some(block) = field(raw, "block") {
            self.block(block);
        }
        self.end(at, Shape::Object);
        let nodes = std::mem::take(&mut self.nodes).into_boxed_slice();
        let providers = self.schemas.types.entry(resource_type.to_owned()).or_default();
        providers.insert(provider.to_owned(), nodes);
    }

    pub(crate) fn finish(self) -> Schemas {
        self.schemas
    }

    fn begin(&mut self, name: &str, traits: Traits) -> usize {
        let next = u32::try_from(self.schemas.names.len()).unwrap_or(u32::MAX);
        let name = match self.schemas.names.get(name) {
            Some(known) => *known,
            None => *self.schemas.names.entry(name.into()).or_insert(next),
        };
        self.nodes.push(Node { name, end: 0, shape: Shape::Dynamic, traits });
        self.nodes.len() - 1
    }

    fn end(&mut self, at: usize, shape: Shape) {
        let end = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes[at].end = end;
        self.nodes[at].shape = shape;
    }

    fn block(&mut self, raw: &[u8]) {
        for (name, attribute) in fields(field(raw, "attributes").unwrap_or_default()) {
            self.attribute(&name, attribute);
        }
        for (name, nested) in fields(field(raw, "block_types").unwrap_or_default()) {
            let is_needed = field(nested, "min_items").is_some_and(|least| least != b"0");
            let needed = if is_needed { Traits::REQUIRED } else { Traits::OPTIONAL };
            let traits = needed.with(Traits::BLOCK);
            let at = self.begin(&name, traits);
            self.nested(at, nested, |builder| {
                builder.block(field(nested, "block").unwrap_or_default());
            });
        }
    }

    fn attribute(&mut self, name: &str, raw: &[u8]) {
        let mut traits = Traits::default();
        let mut value_type: &[u8] = b"";
        let mut nested = None;
        for (key, value) in fields(raw) {
            let mark = match key.as_ref() {
                "required" => Traits::REQUIRED,
                "optional" => Traits::OPTIONAL,
                "computed" => Traits::COMPUTED,
                "sensitive" => Traits::SENSITIVE,
                "write_only" => Traits::WRITE_ONLY,
                "deprecated" => Traits::DEPRECATED,
                "type" => {
                    value_type = value;
                    continue;
                }
                "nested_type" => {
                    nested = Some(value);
                    continue;
                }
                _ => continue,
            };
            if value == b"true" {
                traits = traits.with(mark);
            }
        }
        let at = self.begin(name, traits);
        match nested {
            Some(nested) => self.nested(at, nested, |builder| {
                for (name, attribute) in fields(field(nested, "attributes").unwrap_or_default()) {
                    builder.attribute(&name, attribute);
                }
            }),
            None => self.value_type(at, value_type),
        }
    }

    /// An object, or a collection of objects, whose attributes `fill` adds.
    fn nested(&mut self, at: usize, raw: &[u8], fill: impl FnOnce(&mut Self)) {
        let mode = field(raw, "nesting_mode").map(decode);
        let shape = match mode.as_deref() {
            Some("list") => Shape::List,
            Some("set") => Shape::Set,
            Some("map") => Shape::Map,
            Some("single" | "group") => {
                fill(self);
                return self.end(at, Shape::Object);
            }
            _ => return self.end(at, Shape::Dynamic),
        };
        let element = self.begin("", self.nodes[at].traits);
        fill(self);
        self.end(element, Shape::Object);
        self.end(at, shape);
    }

    /// A type such as `"string"`, `["set","string"]` or `["object",{"a":"bool"}]`. What stands
    /// below an attribute shares its marks.
    fn value_type(&mut self, at: usize, raw: &[u8]) {
        let traits = self.nodes[at].traits;
        if raw.starts_with(b"\"") {
            let is_scalar = matches!(decode(raw).as_ref(), "string" | "number" | "bool");
            return self.end(at, if is_scalar { Shape::Scalar } else { Shape::Dynamic });
        }
        let mut parts = items(raw);
        let kind = parts.next().map(decode);
        let of = parts.next().unwrap_or_default();
        let shape = match kind.as_deref() {
            Some("list") => Shape::List,
            Some("set") => Shape::Set,
            Some("map") => Shape::Map,
            Some("object") => {
                for (name, attribute) in fields(of) {
                    let child = self.begin(&name, traits);
                    self.value_type(child, attribute);
                }
                return self.end(at, Shape::Object);
            }
            Some("tuple") => {
                for item in items(of) {
                    let child = self.begin("", traits);
                    self.value_type(child, item);
                }
                return self.end(at, Shape::Tuple);
            }
            _ => return self.end(at, Shape::Dynamic),
        };
        let element = self.begin("", traits);
        self.value_type(element, of);
        self.end(at, shape);
    }
}

/// The last field of that name: of duplicates it wins.
fn field<'a>(raw: &'a [u8], name: &str) -> Option<&'a [u8]> {
    fields(raw).filter(|(key, _)| key == name).map(|(_, value)| value).last()
}
