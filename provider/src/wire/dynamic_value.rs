//! Values as msgpack, directed by their type.

use super::{
    DEPTH_MAX, WireError, from_json, json,
    msgpack::{Reader, Token, Writer},
    parse_type, type_to_json,
};
use crate::framework::{Bound, Number, Path, Refinement, Step, Type, Value};
use proto::tfplugin6::DynamicValue;
use std::collections::BTreeMap;

/// The code of unknown values with a refinement.
const REFINED: i8 = 12;
const REFINEMENT_BYTES_MAX: usize = 1024;

/// Reads a value of a type; absent and empty is null.
pub fn decode(ty: &Type, value: Option<&DynamicValue>) -> Result<Value, WireError> {
    match value {
        Some(value) if !value.msgpack.is_empty() => from_msgpack(ty, &value.msgpack),
        Some(value) if !value.json.is_empty() => from_json(ty, &value.json),
        _ => Ok(Value::Null),
    }
}

/// Writes a value of a type.
pub fn encode(ty: &Type, value: &Value) -> Result<DynamicValue, WireError> {
    Ok(DynamicValue { msgpack: to_msgpack(ty, value)?, json: Vec::new() })
}

/// Reads a value of a type off msgpack.
pub fn from_msgpack(ty: &Type, bytes: &[u8]) -> Result<Value, WireError> {
    let mut decoder = Decoder { reader: Reader::new(bytes), path: Vec::new() };
    let value = decoder.value(ty)?;
    if decoder.reader.is_empty() { Ok(value) } else { decoder.fail("bytes after the value's end") }
}

/// Writes a value of a type as msgpack.
pub fn to_msgpack(ty: &Type, value: &Value) -> Result<Vec<u8>, WireError> {
    let mut writer = Writer::default();
    write(&mut writer, ty, value, &Path::root())?;
    Ok(writer.bytes)
}

struct Decoder<'a> {
    reader: Reader<'a>,
    path: Vec<Step>,
}

impl<'a> Decoder<'a> {
    fn value(&mut self, ty: &Type) -> Result<Value, WireError> {
        if self.path.len() > DEPTH_MAX {
            return self.fail("a value nested too deep");
        }
        let token = self.next()?;
        match token {
            Token::Nil => return Ok(Value::Null),
            Token::Ext(code, payload) => {
                let value = self.unknown(code, payload)?;
                // What has no type yet has no bounds either.
                let is_plain = value.is_unknown() && *ty == Type::Dynamic;
                return Ok(if is_plain { Value::UNKNOWN } else { value });
            }
            _ => {}
        }
        match (ty, token) {
            (Type::Bool, Token::Bool(value)) => Ok(Value::Bool(value)),
            (Type::Number, _) => self.number(token).map(Value::Number),
            (Type::String, Token::Str(text)) => Ok(Value::String(text.to_owned())),
            (Type::List(element), Token::Array(length)) => {
                self.elements(element, length).map(Value::List)
            }
            (Type::Set(element), Token::Array(length)) => {
                self.elements(element, length).map(Value::set)
            }
            (Type::Map(element), Token::Map(length)) => self.map(element, length),
            (Type::Object(types), Token::Map(length)) => self.object(types, length),
            (Type::Tuple(types), Token::Array(length)) if length == types.len() => {
                let element = |(at, ty)| self.at(Step::Index(at), ty);
                types.iter().enumerate().map(element).collect::<Result<_, _>>().map(Value::List)
            }
            (Type::Dynamic, Token::Array(2)) => self.dynamic(),
            _ => self.fail(format!("{} where another type belongs", token.name())),
        }
    }

    fn at(&mut self, step: Step, ty: &Type) -> Result<Value, WireError> {
        self.path.push(step);
        let value = self.value(ty)?;
        self.path.pop();
        Ok(value)
    }

    fn elements(&mut self, ty: &Type, length: usize) -> Result<Vec<Value>, WireError> {
        (0..length).map(|at| self.at(Step::Index(at), ty)).collect()
    }

    fn map(&mut self, ty: &Type, length: usize) -> Result<Value, WireError> {
        let mut entries = BTreeMap::new();
        for _ in 0..length {
            let key = self.key()?;
            let value = self.at(Step::Key(key.to_owned()), ty)?;
            if entries.insert(key.to_owned(), value).is_some() {
                return self.fail("a map with a key twice");
            }
        }
        Ok(Value::Map(entries))
    }

    fn object(
        &mut self,
        types: &BTreeMap<String, Type>,
        length: usize,
    ) -> Result<Value, WireError> {
        let mut attributes = BTreeMap::new();
        for _ in 0..length {
            let name = self.key()?;
            let Some(ty) = types.get(name) else {
                return self.fail("an attribute that the schema doesn't have");
            };
            let value = self.at(Step::Attribute(name.to_owned()), ty)?;
            if attributes.insert(name.to_owned(), value).is_some() {
                return self.fail("an object with an attribute twice");
            }
        }
        match types.keys().find(|name| !attributes.contains_key(*name)) {
            Some(name) => self.fail(format!("an object without its attribute `{name}`")),
            None => Ok(Value::Object(attributes)),
        }
    }

    fn dynamic(&mut self) -> Result<Value, WireError> {
        let json = match self.next()? {
            Token::Bin(json) => json,
            Token::Str(json) => json.as_bytes(),
            other => return self.fail(format!("{} where a type belongs", other.name())),
        };
        let ty = parse_type(json).or_else(|what| self.fail(what))?;
        // A step that shows nowhere, so that dynamic values within dynamic values end, too.
        let value = self.at(Step::SetElement, &ty)?;
        Ok(Value::Dynamic(ty, Box::new(value)))
    }

    fn unknown(&mut self, code: i8, payload: &[u8]) -> Result<Value, WireError> {
        if code != REFINED {
            return Ok(Value::UNKNOWN);
        }
        if payload.len() > REFINEMENT_BYTES_MAX {
            return self.fail("an unknown value with too long a refinement");
        }
        let mut inner = Decoder { reader: Reader::new(payload), path: self.path.clone() };
        inner.refinement()
    }

    fn refinement(&mut self) -> Result<Value, WireError> {
        let mut refinement = Refinement::default();
        let Token::Map(length) = self.next()? else {
            return self.fail("a refinement that is not a map");
        };
        for _ in 0..length {
            let Token::Int(key) = self.next()? else {
                return self.fail("a refinement whose key is not a number");
            };
            match key {
                1 => match self.next()? {
                    Token::Bool(false) => refinement.not_null = true,
                    Token::Bool(true) => return Ok(Value::Null),
                    other => return self.fail(format!("{} for nullness", other.name())),
                },
                2 => match self.next()? {
                    Token::Str(prefix) => refinement.prefix = Some(prefix.to_owned()),
                    other => return self.fail(format!("{} for a prefix", other.name())),
                },
                3 => refinement.lower = Some(self.bound()?),
                4 => refinement.upper = Some(self.bound()?),
                5 => refinement.length_min = Some(self.length()?),
                6 => refinement.length_max = Some(self.length()?),
                _ => self.reader.skip().or_else(|what| self.fail(what))?,
            }
        }
        // One that can't be passed on is not kept: the planner would see a change where there is none.
        let refinement = refinement_payload(&refinement).map(|_| Box::new(refinement));
        Ok(Value::Unknown(refinement))
    }

    fn bound(&mut self) -> Result<Bound, WireError> {
        let Token::Array(2) = self.next()? else {
            return self.fail("a bound that is not a pair");
        };
        let token = self.next()?;
        let number = self.number(token)?;
        match self.next()? {
            Token::Bool(inclusive) => Ok(Bound { number, inclusive }),
            other => self.fail(format!("{} for a bound's kind", other.name())),
        }
    }

    fn length(&mut self) -> Result<u64, WireError> {
        match self.next()? {
            Token::Int(length) => i64::try_from(length)
                .and_then(u64::try_from)
                .or_else(|_| self.fail("a length that nothing can have")),
            other => self.fail(format!("{} for a length", other.name())),
        }
    }

    fn number(&self, token: Token<'_>) -> Result<Number, WireError> {
        match token {
            Token::Int(int) => Ok(int.into()),
            Token::Float(float) => Number::from_f64(float)
                .map_or_else(|| self.fail("an infinite number or none at all"), Ok),
            Token::Str(text) => text.parse().or_else(|_| self.fail("a string that is no number")),
            other => self.fail(format!("{} where a number belongs", other.name())),
        }
    }

    fn key(&mut self) -> Result<&'a str, WireError> {
        match self.next()? {
            Token::Str(key) => Ok(key),
            other => self.fail(format!("{} where a key belongs", other.name())),
        }
    }

    fn next(&mut self) -> Result<Token<'a>, WireError> {
        self.reader.next().or_else(|what| self.fail(what))
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, WireError> {
        let path = self.path.iter().fold(Path::root(), |path, step| path.join(step.clone()));
        Err(WireError::new(&path, what))
    }
}

fn write(writer: &mut Writer, ty: &Type, value: &Value, path: &Path) -> Result<(), WireError> {
    match (ty, value) {
        (_, Value::Null) => writer.nil(),
        (Type::Dynamic, Value::Unknown(_)) | (_, Value::Unknown(None)) => writer.ext(0, &[0]),
        (_, Value::Unknown(Some(refinement))) => write_unknown(writer, refinement),
        (Type::Bool, Value::Bool(value)) => writer.bool(*value),
        (Type::Number, Value::Number(number)) => write_number(writer, number),
        (Type::String, Value::String(text)) => writer.str(text),
        (Type::List(element), Value::List(values)) | (Type::Set(element), Value::Set(values)) => {
            writer.array(values.len());
            for (at, value) in values.iter().enumerate() {
                write(writer, element, value, &path.index(at))?;
            }
        }
        (Type::Tuple(types), Value::List(values)) if types.len() == values.len() => {
            writer.array(values.len());
            for (at, (ty, value)) in types.iter().zip(values).enumerate() {
                write(writer, ty, value, &path.index(at))?;
            }
        }
        (Type::Map(element), Value::Map(entries)) => {
            writer.map(entries.len());
            for (key, value) in entries {
                writer.str(key);
                write(writer, element, value, &path.key(key))?;
            }
        }
        (Type::Object(types), Value::Object(attributes)) if types.keys().eq(attributes.keys()) => {
            writer.map(types.len());
            for ((name, ty), value) in types.iter().zip(attributes.values()) {
                writer.str(name);
                write(writer, ty, value, &path.child(name))?;
            }
        }
        (Type::Dynamic, Value::Dynamic(ty, value)) => {
            writer.array(2);
            writer.bin(&type_to_json(ty));
            write(writer, ty, value, path)?;
        }
        _ => return Err(json::misfit(path, value)),
    }
    Ok(())
}

fn write_number(writer: &mut Writer, number: &Number) {
    match number.as_i64() {
        Some(int) => writer.int(int),
        None => writer.str(&number.to_string()),
    }
}

fn write_unknown(writer: &mut Writer, refinement: &Refinement) {
    match refinement_payload(refinement) {
        Some(payload) => writer.ext(REFINED, &payload),
        None => writer.ext(0, &[0]),
    }
}

/// A refinement as it is written; `None` if it says nothing or is too long to be accepted.
fn refinement_payload(refinement: &Refinement) -> Option<Vec<u8>> {
    let mut entries: Vec<(i64, Writer)> = Vec::new();
    let mut entry = |key, fill: &dyn Fn(&mut Writer)| {
        let mut value = Writer::default();
        fill(&mut value);
        entries.push((key, value));
    };
    if refinement.not_null {
        entry(1, &|w| w.bool(false));
    }
    if let Some(prefix) = &refinement.prefix {
        entry(2, &|w| w.str(prefix));
    }
    for (key, bound) in [(3, &refinement.lower), (4, &refinement.upper)] {
        if let Some(bound) = bound {
            entry(key, &|w| {
                w.array(2);
                write_number(w, &bound.number);
                w.bool(bound.inclusive);
            });
        }
    }
    for (key, length) in [(5, refinement.length_min), (6, refinement.length_max)] {
        if let Some(length) = length.and_then(|length| i64::try_from(length).ok()) {
            entry(key, &|w| w.int(length));
        }
    }
    let mut payload = Writer::default();
    payload.map(entries.len());
    for (key, value) in &entries {
        payload.int(*key);
        payload.bytes.extend(&value.bytes);
    }
    let is_worth_it = !entries.is_empty() && payload.bytes.len() <= REFINEMENT_BYTES_MAX;
    is_worth_it.then_some(payload.bytes)
}
