//! Values on the wire: what goes out comes back, and nothing that comes in can do harm.

use crate::tape::{Tape, Unknowns};
use proptest::prelude::*;
use provider::{
    framework::{Bound, Path, Refinement, Schema, Step, Type, Value},
    wire::{
        from_json, from_msgpack, parse_type, path_to_proto, state_from_json, to_json, to_msgpack,
        type_to_json,
    },
};

fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap())
}

#[test]
fn numbers_are_read_in_every_form() {
    let cases: [(&[u8], &str); 14] = [
        (&[0x07], "7"),
        (&[0xff], "-1"),
        (&[0xcc, 0xff], "255"),
        (&[0xcd, 0x01, 0x00], "256"),
        (&[0xce, 0, 1, 0, 0], "65536"),
        (&[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "18446744073709551615"),
        (&[0xd0, 0x80], "-128"),
        (&[0xd1, 0x80, 0x00], "-32768"),
        (&[0xd2, 0x80, 0, 0, 0], "-2147483648"),
        (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], "-9223372036854775808"),
        (&[0xca, 0x3f, 0xc0, 0, 0], "1.5"),
        (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], "1.5"),
        (b"\xa30.1", "0.1"),
        (b"\xbe123456789012345678901234567890", "123456789012345678901234567890"),
    ];
    for (bytes, text) in cases {
        assert_eq!(from_msgpack(&Type::Number, bytes), Ok(number(text)), "{bytes:?}");
    }
}

#[test]
fn unknowns_are_read_whatever_their_code_and_refinement() {
    let plain: &[u8] = &[0xd4, 0, 0];
    assert_eq!(from_msgpack(&Type::String, plain), Ok(Value::UNKNOWN));
    let other: &[u8] = &[0xc7, 3, 99, 1, 2, 3];
    assert_eq!(from_msgpack(&Type::String, other), Ok(Value::UNKNOWN));
    // Not null, and a key that nobody knows, whose value is skipped.
    let refined: &[u8] = &[0xc7, 7, 12, 0x82, 1, 0xc2, 77, 0x92, 1, 2];
    assert_eq!(from_msgpack(&Type::String, refined), Ok(Value::unknown_not_null()));
    let null: &[u8] = &[0xc7, 3, 12, 0x81, 1, 0xc3];
    assert_eq!(from_msgpack(&Type::String, null), Ok(Value::Null));
}

#[test]
fn refinements_come_back() {
    let bound = |text: &str| Bound { number: text.parse().unwrap(), inclusive: true };
    let all = Refinement {
        not_null: true,
        prefix: Some("pool_".to_owned()),
        lower: Some(bound("-0.5")),
        upper: Some(bound("1000000000000000000000")),
        length_min: Some(1),
        length_max: Some(70_000),
    };
    let value = Value::Unknown(Some(Box::new(all)));
    let bytes = to_msgpack(&Type::String, &value).unwrap();
    assert_eq!(from_msgpack(&Type::String, &bytes), Ok(value.clone()));
    let dynamic = to_msgpack(&Type::Dynamic, &value).unwrap();
    assert_eq!(dynamic, [0xd4, 0, 0], "dynamic unknowns carry no refinement");
    let long = Refinement { prefix: Some("x".repeat(2000)), ..Refinement::default() };
    let bytes = to_msgpack(&Type::String, &Value::Unknown(Some(Box::new(long)))).unwrap();
    assert_eq!(bytes, [0xd4, 0, 0], "too long a refinement is left out");
}

#[test]
fn hostile_bytes_are_errors_that_name_the_place() {
    let object = Schema::new("").attributes([]).value_type();
    let strings = Type::list(Type::String);
    let nested = Type::Object([("a".to_owned(), Type::map(Type::Bool))].into());
    let cases: [(&Type, &[u8], &str); 14] = [
        (&Type::String, b"\xa5ab", "bytes that end too early"),
        (&Type::String, b"\xa2\xff\xfe", "a string that is not UTF-8"),
        (&Type::String, b"\xc1", "a byte that msgpack doesn't use"),
        (&Type::String, b"\xa1a\xc0", "bytes after the value's end"),
        (&Type::String, b"\x05", "a number where another type belongs"),
        (&Type::String, b"\xdb\xff\xff\xff\xffa", "bytes that end too early"),
        (&strings, b"\xdd\xff\xff\xff\xff\xc0", "bytes that end too early at `[1]`"),
        (&strings, b"\x92\xa1a\x05", "a number where another type belongs at `[1]`"),
        (&object, b"\x81\xa1x\xc0", "an attribute that the schema doesn't have"),
        (&nested, b"\x80", "an object without its attribute `a`"),
        (&nested, b"\x82\xa1a\xc0\xa1a\xc0", "an object with an attribute twice"),
        (&nested, b"\x81\xa1a\x81\xa1k\x01", "a number where another type belongs at `a[\"k\"]`"),
        (&Type::Number, b"\xcb\x7f\xf0\0\0\0\0\0\0", "an infinite number or none at all"),
        (&Type::Dynamic, b"\x92\xc4\x01x\xc0", "a type that is not JSON"),
    ];
    for (ty, bytes, expected) in cases {
        let error = from_msgpack(ty, bytes).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{bytes:?}: {error}");
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let mut bytes = Vec::new();
    for _ in 0..100_000 {
        bytes.extend(b"\x92\xc4\x09\"dynamic\"");
    }
    assert!(from_msgpack(&Type::Dynamic, &bytes).is_err());
    let json = format!("{}{}", "[\"list\",".repeat(100_000), "\"string\"");
    assert!(parse_type(json.as_bytes()).is_err());
    // A refinement's unknown keys may hold anything but must not recurse.
    let mut payload = vec![0x81, 77];
    payload.extend([0x91; 900]);
    let mut bytes = vec![0xc8, 0x03, 0x86, 12];
    bytes.extend(&payload);
    assert!(from_msgpack(&Type::String, &bytes).is_err());
}

#[test]
fn a_stored_state_may_have_more_or_less_than_the_schema() {
    let ty = Type::Object([("a".to_owned(), Type::Number), ("b".to_owned(), Type::String)].into());
    let text = br#"{"a":0.1000000000000000000000000000001,"gone":{"x":[1]}}"#;
    let read = state_from_json(&ty, text).unwrap();
    assert_eq!(read.get("a"), &number("0.1000000000000000000000000000001"));
    assert!(read.get("b").is_null());
    assert!(from_json(&ty, text).is_err());
}

#[test]
fn paths_end_before_a_set() {
    let path = Path::attribute("rules").join(Step::SetElement).child("port");
    assert_eq!(path_to_proto(&path), path_to_proto(&Path::attribute("rules")));
}

fn types() -> impl Strategy<Value = Type> {
    let leaf =
        prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String), Just(Type::Dynamic)];
    leaf.prop_recursive(4, 20, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::map),
            prop::collection::btree_map("[a-c]", inner.clone(), 0..3).prop_map(Type::Object),
            prop::collection::vec(inner, 0..3).prop_map(Type::Tuple),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn types_come_back(ty in types()) {
        prop_assert_eq!(parse_type(&type_to_json(&ty)), Ok(ty));
    }

    #[test]
    fn values_come_back(ty in types(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let value = Tape::new(&bytes).value_of(&ty, Unknowns::Sometimes);
        let encoded = to_msgpack(&ty, &value).unwrap();
        prop_assert_eq!(from_msgpack(&ty, &encoded), Ok(value));
    }

    #[test]
    fn known_values_come_back_through_json(
        ty in types(),
        bytes in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let value = Tape::new(&bytes).value_of(&ty, Unknowns::Never);
        prop_assert_eq!(from_json(&ty, &to_json(&ty, &value).unwrap()), Ok(value));
    }

    #[test]
    fn no_bytes_panic(ty in types(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _read = from_msgpack(&ty, &bytes);
        let _read = from_json(&ty, &bytes);
    }

    /// Damage to good bytes gets further into the decoder than noise does.
    #[test]
    fn no_damage_panics(
        ty in types(),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        (at, with) in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let value = Tape::new(&bytes).value_of(&ty, Unknowns::Sometimes);
        let mut encoded = to_msgpack(&ty, &value).unwrap();
        let at = at.index(encoded.len());
        encoded[at] = with;
        let _read = from_msgpack(&ty, &encoded);
        encoded.truncate(at);
        prop_assert!(from_msgpack(&ty, &encoded).is_err());
    }
}
