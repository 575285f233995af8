//! Values as JSON, directed by their type: the form of stored states. It has no unknowns.

use super::{DEPTH_MAX, WireError, types};
use crate::framework::{Path, Step, Type, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What becomes of an object's attributes that its type doesn't have, or that are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attributes {
    /// Errors.
    Exact,
    /// Ignored; missing ones are null.
    Lenient,
}

/// Reads a value of a type off JSON.
pub fn from_json(ty: &Type, text: &[u8]) -> Result<Value, WireError> {
    read(ty, &parse(text)?, &Path::root(), Attributes::Exact)
}

/// Reads a stored state: attributes that the type doesn't have are ignored, and missing ones are
/// null, so that a state written by a neighbouring version can be read.
pub fn state_from_json(ty: &Type, text: &[u8]) -> Result<Value, WireError> {
    read(ty, &parse(text)?, &Path::root(), Attributes::Lenient)
}

/// Reads JSON of no known type: arrays are lists, objects are objects.
pub fn untyped_from_json(text: &[u8]) -> Result<Value, WireError> {
    parse(text).map(|json| untyped(&json))
}

/// Writes a wholly known value of a type as JSON.
pub fn to_json(ty: &Type, value: &Value) -> Result<Vec<u8>, WireError> {
    write(ty, value, &Path::root()).map(|json| json.to_string().into_bytes())
}

/// The error for a value that its type has no place for.
pub(super) fn misfit(path: &Path, value: &Value) -> WireError {
    WireError::new(path, format!("{} that doesn't fit the schema", value.kind()))
}

fn parse(text: &[u8]) -> Result<Json, WireError> {
    serde_json::from_slice(text)
        .map_err(|e| WireError::new(&Path::root(), format!("text that is not JSON ({e})")))
}

fn read(ty: &Type, json: &Json, path: &Path, rule: Attributes) -> Result<Value, WireError> {
    let wrong = || WireError::new(path, format!("{} where another type belongs", kind(json)));
    if path.steps().len() > DEPTH_MAX {
        return Err(WireError::new(path, "a value nested too deep"));
    }
    match (ty, json) {
        (_, Json::Null) => Ok(Value::Null),
        (Type::Bool, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Type::Bool, Json::String(text)) => text.parse().map(Value::Bool).map_err(|_| wrong()),
        (Type::Number, Json::Number(number)) => {
            number.to_string().parse().map(Value::Number).map_err(|_| wrong())
        }
        (Type::Number, Json::String(text)) => text.parse().map(Value::Number).map_err(|_| wrong()),
        (Type::String, Json::String(text)) => Ok(Value::String(text.clone())),
        (Type::String, Json::Number(number)) => Ok(Value::String(number.to_string())),
        (Type::String, Json::Bool(value)) => Ok(Value::String(value.to_string())),
        (Type::List(element), Json::Array(values)) => {
            read_all(values.iter().map(|v| (&**element, v)), path, rule).map(Value::List)
        }
        (Type::Set(element), Json::Array(values)) => {
            read_all(values.iter().map(|v| (&**element, v)), path, rule).map(Value::set)
        }
        (Type::Tuple(types), Json::Array(values)) if types.len() == values.len() => {
            read_all(types.iter().zip(values), path, rule).map(Value::List)
        }
        (Type::Map(element), Json::Object(entries)) => entries
            .iter()
            .map(|(key, json)| Ok((key.clone(), read(element, json, &path.key(key), rule)?)))
            .collect::<Result<_, _>>()
            .map(Value::Map),
        (Type::Object(types), Json::Object(entries)) => read_object(types, entries, path, rule),
        (Type::Dynamic, Json::Object(entries)) => {
            let ty = entries.get("type").and_then(types::from_json).ok_or_else(wrong)?;
            let value = entries.get("value").unwrap_or(&Json::Null);
            // A step that shows nowhere, so that dynamic values within dynamic values end, too.
            let value = read(&ty, value, &path.join(Step::SetElement), rule)?;
            Ok(Value::Dynamic(ty, Box::new(value)))
        }
        _ => Err(wrong()),
    }
}

fn read_all<'a>(
    values: impl Iterator<Item = (&'a Type, &'a Json)>,
    path: &Path,
    rule: Attributes,
) -> Result<Vec<Value>, WireError> {
    values.enumerate().map(|(at, (ty, json))| read(ty, json, &path.index(at), rule)).collect()
}

fn read_object(
    types: &BTreeMap<String, Type>,
    entries: &serde_json::Map<String, Json>,
    path: &Path,
    rule: Attributes,
) -> Result<Value, WireError> {
    if rule == Attributes::Exact {
        if let Some(name) = entries.keys().find(|name| !types.contains_key(*name)) {
            let what = "an attribute that the schema doesn't have";
            return Err(WireError::new(&path.child(name), what));
        }
        if let Some(name) = types.keys().find(|name| !entries.contains_key(*name)) {
            let what = format!("an object without its attribute `{name}`");
            return Err(WireError::new(path, what));
        }
    }
    let attribute = |(name, ty): (&String, &Type)| {
        let json = entries.get(name).unwrap_or(&Json::Null);
        Ok((name.clone(), read(ty, json, &path.child(name), rule)?))
    };
    types.iter().map(attribute).collect::<Result<_, _>>().map(Value::Object)
}

fn untyped(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.to_string().parse().map_or(Value::Null, Value::Number),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(untyped).collect()),
        Json::Object(entries) => Value::object(entries.iter().map(|(k, v)| (k, untyped(v)))),
    }
}

fn write(ty: &Type, value: &Value, path: &Path) -> Result<Json, WireError> {
    Ok(match (ty, value) {
        (_, Value::Null) => Json::Null,
        (Type::Bool, Value::Bool(value)) => Json::Bool(*value),
        (Type::Number, Value::Number(number)) => {
            serde_json::from_str(&number.to_string()).map_err(|_| misfit(path, value))?
        }
        (Type::String, Value::String(text)) => Json::String(text.clone()),
        (Type::List(element), Value::List(values)) | (Type::Set(element), Value::Set(values)) => {
            write_all(values.iter().map(|v| (&**element, v)), path)?
        }
        (Type::Tuple(types), Value::List(values)) if types.len() == values.len() => {
            write_all(types.iter().zip(values), path)?
        }
        (Type::Map(element), Value::Map(entries)) => entries
            .iter()
            .map(|(key, value)| Ok((key.clone(), write(element, value, &path.key(key))?)))
            .collect::<Result<serde_json::Map<_, _>, _>>()
            .map(Json::Object)?,
        (Type::Object(types), Value::Object(attributes)) if types.keys().eq(attributes.keys()) => {
            let attribute = |((name, ty), value): ((&String, &Type), &Value)| {
                Ok((name.clone(), write(ty, value, &path.child(name))?))
            };
            let written = types.iter().zip(attributes.values()).map(attribute);
            Json::Object(written.collect::<Result<serde_json::Map<_, _>, WireError>>()?)
        }
        (Type::Dynamic, Value::Dynamic(ty, value)) => {
            let ty_json: Json =
                serde_json::from_slice(&types::type_to_json(ty)).unwrap_or(Json::Null);
            serde_json::json!({ "type": ty_json, "value": write(ty, value, path)? })
        }
        _ => return Err(misfit(path, value)),
    })
}

fn write_all<'a>(
    values: impl Iterator<Item = (&'a Type, &'a Value)>,
    path: &Path,
) -> Result<Json, WireError> {
    let element = |(at, (ty, value))| write(ty, value, &path.index(at));
    values.enumerate().map(element).collect::<Result<_, _>>().map(Json::Array)
}

const fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
