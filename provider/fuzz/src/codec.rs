//! What holds of the codec of values.
//!
//! An input is a type in JSON, a zero byte, and then a value in msgpack or in JSON. Whatever of it can
//! be read comes back the same when it is written and read again.

use provider::{
    framework::{Type, Value},
    wire::{
        WireError, from_json, from_msgpack, parse_type, path_to_proto, state_from_json, to_json,
        to_msgpack, type_to_json, untyped_from_json,
    },
};

/// Panics where something that should hold does not.
pub fn check(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let ty = parts.next().unwrap_or_default();
    let body = parts.next().unwrap_or_default();
    let Ok(ty) = parse_type(ty) else { return };
    assert_eq!(parse_type(&type_to_json(&ty)).as_ref(), Ok(&ty), "the type comes back");

    for read in [from_msgpack, from_json, state_from_json] {
        match read(&ty, body) {
            Ok(value) => comes_back(&ty, &value),
            Err(error) => is_told(&error),
        }
    }
    if let Err(error) = untyped_from_json(body) {
        is_told(&error);
    }
}

fn comes_back(ty: &Type, value: &Value) {
    let msgpack = to_msgpack(ty, value).expect("what was read can be written");
    assert_eq!(from_msgpack(ty, &msgpack).as_ref(), Ok(value), "it comes back from msgpack");
    if value.is_wholly_known() {
        let json = to_json(ty, value).expect("what is known can be written as JSON");
        assert_eq!(from_json(ty, &json).as_ref(), Ok(value), "it comes back from JSON");
        assert_eq!(state_from_json(ty, &json).as_ref(), Ok(value), "it comes back from a state");
    } else {
        assert!(to_json(ty, value).is_err(), "JSON has no unknown values");
    }
}

fn is_told(error: &WireError) {
    assert!(!error.to_string().is_empty(), "an error says something");
    path_to_proto(&error.path);
}
