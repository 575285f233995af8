//! Requests made by choices: each field as the protocol describes it, values of the type of the
//! resource (or what else it is) that is named.

use prost::encoding::{encode_key, encode_varint};
use prost_types::{FieldDescriptorProto, field_descriptor_proto::Type as FieldType};
use provider::{
    framework::{Type, Value},
    wire::{to_json, to_msgpack},
};

use super::{
    catalog::{CATALOG, Entry},
    tape::Tape,
};

/// Messages within messages beyond this are left empty.
const DEPTH_MAX: usize = 6;

pub struct Maker<'a, 'b> {
    pub tape: &'a mut Tape<'b>,
    pub entry: &'a Entry,
    /// The last value made, since states, plans and configurations mostly agree.
    pub last: Option<Value>,
}

impl Maker<'_, '_> {
    /// A message in wire form. `index` counts those before it in the same field.
    pub fn message(&mut self, name: &str, depth: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Some(message) = CATALOG.messages.get(name).filter(|_| depth < DEPTH_MAX) else {
            return bytes;
        };
        for field in &message.field {
            let times = match field.label() {
                prost_types::field_descriptor_proto::Label::Repeated => self.tape.choose(4),
                _ => usize::from(!self.tape.chance(16)),
            };
            for index in 0..times {
                self.field(field, (index, depth), &mut bytes);
            }
        }
        bytes
    }

    fn field(
        &mut self,
        field: &FieldDescriptorProto,
        (index, depth): (usize, usize),
        bytes: &mut Vec<u8>,
    ) {
        use prost::encoding::WireType::{LengthDelimited, Varint};
        let tag = u32::try_from(field.number()).unwrap_or(1);
        let number = match field.r#type() {
            FieldType::Bool | FieldType::Enum => self.tape.choose(4) as u64,
            FieldType::Int64 | FieldType::Int32 if self.tape.chance(4) => {
                u64::from_le_bytes(self.tape.eight())
            }
            FieldType::Int64 | FieldType::Int32 => self.tape.choose(4) as u64,
            FieldType::String | FieldType::Bytes | FieldType::Message => {
                let content = self.content(field, index, depth);
                encode_key(tag, LengthDelimited, bytes);
                encode_varint(content.len() as u64, bytes);
                bytes.extend(content);
                return;
            }
            other => unreachable!("no field of the protocol is a {other:?}"),
        };
        encode_key(tag, Varint, bytes);
        encode_varint(number, bytes);
    }

    fn content(&mut self, field: &FieldDescriptorProto, index: usize, depth: usize) -> Vec<u8> {
        let names = ["type_name", "target_type_name", "source_type_name", "action_type", "name"];
        match (field.type_name(), field.name()) {
            (".tfplugin6.DynamicValue", name) => {
                let ty = match name {
                    "identity_data" => self.entry.identity.clone(),
                    "limit" => Some(Type::Number),
                    "include_resource_object" => Some(Type::Bool),
                    _ => self.entry.types.get(index).or(self.entry.types.last()).cloned(),
                };
                self.dynamic_value(&ty.unwrap_or(Type::Dynamic))
            }
            (".tfplugin6.RawState", name) => {
                let is_identity = name.ends_with("identity");
                let ty = if is_identity {
                    self.entry.identity.as_ref()
                } else {
                    self.entry.types.last()
                };
                self.raw_state(&ty.cloned().unwrap_or(Type::Dynamic))
            }
            ("", name) if names.contains(&name) && !self.tape.chance(16) => {
                self.entry.name.clone().into_bytes()
            }
            ("", _) => self.tape.text().into_bytes(),
            (message, _) => self.message(message, depth + 1),
        }
    }

    fn value(&mut self, ty: &Type) -> Value {
        // The outermost value is mostly there, or the rest would seldom be looked at.
        let again = self.tape.choose(8);
        let value = match (again, &self.last) {
            (0 | 1, Some(last)) => return last.clone(),
            (2, _) => return Value::Null,
            (3, Some(Value::Object(last))) => {
                let mut value = last.clone();
                if let (Type::Object(types), at) = (ty, self.tape.choose(last.len()))
                    && let Some((name, ty)) = types.iter().nth(at)
                {
                    value.insert(name.clone(), self.tape.value(ty));
                }
                Value::Object(value)
            }
            _ => match ty {
                Type::Object(types) => Value::Object(
                    types.iter().map(|(name, ty)| (name.clone(), self.tape.value(ty))).collect(),
                ),
                other => self.tape.value(other),
            },
        };
        self.last = Some(value.clone());
        value
    }

    fn dynamic_value(&mut self, ty: &Type) -> Vec<u8> {
        let value = self.value(ty);
        let json = to_json(ty, &value).ok().filter(|_| self.tape.chance(8));
        let (tag, content) = match json {
            Some(json) => (2, json),
            None => (1, to_msgpack(ty, &value).unwrap_or_default()),
        };
        length_delimited(tag, &content)
    }

    fn raw_state(&mut self, ty: &Type) -> Vec<u8> {
        let value = self.value(ty);
        match to_json(ty, &value) {
            Ok(json) if !self.tape.chance(8) => length_delimited(1, &json),
            _ => length_delimited(1, self.tape.text().as_bytes()),
        }
    }
}

fn length_delimited(tag: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_key(tag, prost::encoding::WireType::LengthDelimited, &mut bytes);
    encode_varint(content.len() as u64, &mut bytes);
    bytes.extend(content);
    bytes
}
