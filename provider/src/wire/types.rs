//! Types as the JSON that schemas and dynamic values carry: `"string"`, `["list","number"]`.

use super::TYPE_DEPTH_MAX;
use crate::framework::Type;
use serde_json::{Value as Json, json};

/// The type as JSON text.
pub fn type_to_json(ty: &Type) -> Vec<u8> {
    to_json(ty).to_string().into_bytes()
}

fn to_json(ty: &Type) -> Json {
    match ty {
        Type::Bool => json!("bool"),
        Type::Number => json!("number"),
        Type::String => json!("string"),
        Type::Dynamic => json!("dynamic"),
        Type::List(element) => json!(["list", to_json(element)]),
        Type::Set(element) => json!(["set", to_json(element)]),
        Type::Map(element) => json!(["map", to_json(element)]),
        Type::Object(types) => {
            let types: serde_json::Map<String, Json> =
                types.iter().map(|(name, ty)| (name.clone(), to_json(ty))).collect();
            json!(["object", types])
        }
        Type::Tuple(types) => json!(["tuple", types.iter().map(to_json).collect::<Vec<_>>()]),
    }
}

/// Reads a type off JSON text; the error says what is wrong with it.
pub fn parse_type(text: &[u8]) -> Result<Type, String> {
    let json =
        serde_json::from_slice(text).map_err(|e| format!("a type that is not JSON ({e})"))?;
    from_json(&json).ok_or_else(|| "a type of no known form".to_owned())
}

pub(super) fn from_json(json: &Json) -> Option<Type> {
    read(json, TYPE_DEPTH_MAX)
}

/// `depth` is how many types may still be within this one.
fn read(json: &Json, depth: usize) -> Option<Type> {
    let within = |json: &Json| read(json, depth.checked_sub(1)?);
    match json {
        Json::String(name) => match name.as_str() {
            "bool" => Some(Type::Bool),
            "number" => Some(Type::Number),
            "string" => Some(Type::String),
            "dynamic" => Some(Type::Dynamic),
            _ => None,
        },
        Json::Array(parts) => match (parts.first()?.as_str()?, parts.get(1)?) {
            ("list", element) => Some(Type::list(within(element)?)),
            ("set", element) => Some(Type::set(within(element)?)),
            ("map", element) => Some(Type::map(within(element)?)),
            // A third part names optional attributes, which mean nothing for values.
            ("object", Json::Object(types)) => types
                .iter()
                .map(|(name, ty)| Some((name.clone(), within(ty)?)))
                .collect::<Option<_>>()
                .map(Type::Object),
            ("tuple", Json::Array(types)) => {
                types.iter().map(within).collect::<Option<_>>().map(Type::Tuple)
            }
            _ => None,
        },
        _ => None,
    }
}
