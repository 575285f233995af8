//! What provider schemas say, and what they do not.

use driftgate::{
    Limits, ReadError, Schemas, WrongKind,
    path::{Path, Step},
    read_schemas,
    schemas::Shape,
    value::Value,
};
use proptest::prelude::*;

const TEXT: &str = r#"{"format_version":"1.0","provider_schemas":{
    "registry.terraform.io/hashicorp/a":{
        "provider":{"version":0,"block":{}},
        "functions":{"f":[]},
        "resource_schemas":{"a_b":{"version":1,"block":{
            "attributes":{
                "id":{"type":"string","computed":true},
                "name":{"type":"string","required":true},
                "tags":{"type":["map","string"],"optional":true,"computed":true},
                "secret":{"type":"string","optional":true,"sensitive":true},
                "wo":{"type":"string","optional":true,"write_only":true,"deprecated":true},
                "any":{"type":"dynamic","optional":true},
                "pair":{"type":["tuple",["string",["set","number"]]],"computed":true},
                "typed":{"type":["list",["object",{"x":["set","string"]},["x"]]],"optional":true},
                "nested":{"nested_type":{"nesting_mode":"map","attributes":{
                    "key":{"type":"string","computed":true,"sensitive":true},
                    "order":{"type":["list","string"],"optional":true}}},"optional":true}
            },
            "block_types":{
                "rule":{"nesting_mode":"set","min_items":1,"block":{"attributes":{"port":{"type":"number","required":true}}}},
                "one":{"nesting_mode":"single","block":{"block_types":{"deep":{"nesting_mode":"list","block":{}}}}},
                "odd":{"nesting_mode":"spiral","block":{}}
            }}}}}}}"#;

fn schemas() -> Schemas {
    read_schemas(TEXT.as_bytes(), Limits::STANDARD).unwrap()
}

fn path(text: &str) -> Path {
    Path(
        text.split('.')
            .filter(|step| !step.is_empty())
            .map(|step| step.parse().map_or_else(|_| Step::Key(step.to_owned()), Step::Index))
            .collect(),
    )
}

#[test]
fn every_place_has_its_shape() {
    let schemas = schemas();
    for (place, shape) in [
        ("", Shape::Object),
        ("id", Shape::Scalar),
        ("tags", Shape::Map),
        ("tags.any key", Shape::Scalar),
        ("any", Shape::Dynamic),
        ("pair.1", Shape::Set),
        ("pair.1.7", Shape::Scalar),
        ("typed.3.x", Shape::Set),
        ("nested", Shape::Map),
        ("nested.k.order", Shape::List),
        ("rule", Shape::Set),
        ("rule.0", Shape::Object),
        ("rule.0.port", Shape::Scalar),
        ("one", Shape::Object),
        ("one.deep", Shape::List),
        ("odd", Shape::Dynamic),
    ] {
        let found = schemas.lookup("registry.terraform.io/hashicorp/a", "a_b", &path(place));
        assert_eq!(found.map(|schema| schema.shape()), Some(shape), "{place}");
    }
    for place in ["no", "id.x", "tags.0", "pair.2", "rule.port", "nested.k.no", "any.x", "odd.0"] {
        let found = schemas.lookup("registry.terraform.io/hashicorp/a", "a_b", &path(place));
        assert!(found.is_none(), "{place}");
    }
}

#[test]
fn every_place_has_its_marks() {
    let schemas = schemas();
    let marks = |place: &str| {
        let found =
            schemas.lookup("registry.terraform.io/hashicorp/a", "a_b", &path(place)).unwrap();
        [
            (found.is_required(), "required"),
            (found.is_optional(), "optional"),
            (found.is_computed(), "computed"),
            (found.is_computed_only(), "computed-only"),
            (found.is_sensitive(), "sensitive"),
            (found.is_write_only(), "write-only"),
            (found.is_deprecated(), "deprecated"),
            (found.is_block(), "block"),
        ]
        .into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect::<Vec<_>>()
        .join(" ")
    };
    for (place, expected) in [
        ("id", "computed computed-only"),
        ("name", "required"),
        ("tags.x", "optional computed"),
        ("secret", "optional sensitive"),
        ("wo", "optional write-only deprecated"),
        ("pair.0", "computed computed-only"),
        ("nested.k.key", "computed computed-only sensitive"),
        ("nested.k.order", "optional"),
        ("rule", "required block"),
        ("rule.0.port", "required"),
        ("one", "optional block"),
    ] {
        assert_eq!(marks(place), expected, "{place}");
    }
}

#[test]
fn a_provider_is_found_under_its_other_names() {
    let schemas = schemas();
    for provider in ["a", "registry.opentofu.org/hashicorp/a"] {
        assert!(schemas.resource(provider, "a_b").is_some(), "{provider}");
    }
    assert!(schemas.resource("registry.terraform.io/hashicorp/b", "a_b").is_none());
    assert!(schemas.resource("a", "a_c").is_none());
    assert_eq!(schemas.len(), 1);
}

#[test]
fn what_is_secret_is_marked_in_a_value() {
    let text = |text: &str| Value::String(text.to_owned());
    let object = |fields: Vec<(&str, Value)>| {
        Value::Object(fields.into_iter().map(|(key, field)| (key.to_owned(), field)).collect())
    };
    let inner = object(vec![("key", text("k")), ("order", Value::List(vec![text("o")]))]);
    let value = object(vec![
        ("id", text("i")),
        ("secret", text("s")),
        ("unknown", text("u")),
        ("nested", object(vec![("n", inner)])),
    ]);
    let mask = schemas().resource("a", "a_b").unwrap().mask(&value);
    let marked = object(vec![
        ("secret", Value::Bool(true)),
        ("nested", object(vec![("n", object(vec![("key", Value::Bool(true))]))])),
    ]);
    assert_eq!(mask, marked);
}

#[test]
fn what_holds_no_schemas_is_refused() {
    for (text, kind) in [
        ("{}", WrongKind::NotSchemas),
        (r#"{"format_version":"1.2","resource_changes":[]}"#, WrongKind::NotSchemas),
        ("", WrongKind::Empty),
    ] {
        match read_schemas(text.as_bytes(), Limits::STANDARD) {
            Err(ReadError::Kind(found)) => assert_eq!(found, kind, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(read_schemas(&b"{\"format_version\":\"2.0\"}"[..], Limits::STANDARD).is_err());
    for length in 0..TEXT.len() {
        assert!(read_schemas(&TEXT.as_bytes()[..length], Limits::STANDARD).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn a_flipped_byte_never_panics(at in 0..TEXT.len(), byte in any::<u8>()) {
        let mut text = TEXT.as_bytes().to_vec();
        text[at] = byte;
        if let Ok(schemas) = read_schemas(text.as_slice(), Limits::STANDARD) {
            for place in ["id", "pair.1.7", "typed.3.x", "nested.k.key", "rule.0.port"] {
                if let Some(found) = schemas.lookup("a", "a_b", &path(place)) {
                    prop_assert!(found.mask(&Value::Null) != Value::Null);
                }
            }
        }
    }
}
