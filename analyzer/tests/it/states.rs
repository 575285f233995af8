//! States of every format are read as one model; whatever else comes is an error, never a panic.

use driftgate::{
    Limits, ReadError, WrongKind, read_state,
    state::{Format, Info, Object, Receiver},
    value::Value,
};
use proptest::{collection, prelude::*};

#[derive(Default)]
struct Gathered {
    objects: Vec<Object>,
    outputs: Vec<(String, bool)>,
}

impl Receiver for Gathered {
    fn object(&mut self, object: Object) {
        self.objects.push(object);
    }

    fn output(&mut self, name: &str, _: Value, sensitive: bool) {
        self.outputs.push((name.to_owned(), sensitive));
    }
}

fn read(text: &[u8]) -> Result<(Info, Gathered), ReadError> {
    let mut gathered = Gathered::default();
    let info = read_state(text, Limits::STANDARD, &mut gathered)?;
    Ok((info, gathered))
}

fn addresses(text: &str) -> Vec<String> {
    let (_, gathered) = read(text.as_bytes()).unwrap();
    gathered.objects.iter().map(|object| object.address.to_string()).collect()
}

const JSON: &str = r#"{"format_version":"1.0","terraform_version":"1.11.4","values":{"outputs":{"o":{"sensitive":true,"value":"x"}},"root_module":{"resources":[{"address":"a_b.c[0]","mode":"managed","type":"a_b","name":"c","index":0,"provider_name":"registry.terraform.io/x/a","values":{"id":"1","pw":"s"},"sensitive_values":{"pw":true}},{"address":"a_b.c[0]","mode":"managed","type":"a_b","name":"c","index":0,"provider_name":"registry.terraform.io/x/a","deposed_key":"0a1b2c3d","tainted":true}],"child_modules":[{"resources":[{"address":"module.m[\"k.1\"].data.d.e","mode":"data","type":"d","name":"e","values":{}}],"address":"module.m[\"k.1\"]","child_modules":[{"address":"module.m[\"k.1\"].module.n","resources":[{"address":"module.m[\"k.1\"].module.n.a_b.f","mode":"managed","type":"a_b","name":"f"}]}]}]}},"checks":[{"status":"fail"}]}"#;

const RAW: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"l-1","outputs":{"o":{"value":"x","type":"string","sensitive":true}},"resources":[{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"registry.terraform.io/x/a\"]","instances":[{"index_key":0,"schema_version":0,"attributes":{"id":"1","pw":"s"},"sensitive_attributes":[[{"type":"get_attr","value":"pw"}]]},{"index_key":0,"deposed":"0a1b2c3d","status":"tainted","attributes":null}]},{"module":"module.m[\"k.1\"]","mode":"data","type":"d","name":"e","provider":"provider.x","instances":[{"attributes":{}}]},{"module":"module.m[\"k.1\"].module.n","mode":"managed","type":"a_b","name":"f","provider":"provider.x","instances":[{"attributes":{}}]}],"check_results":null}"#;

const OLD: &str = r#"{"version":3,"terraform_version":"0.11.14","serial":3,"lineage":"l-0","modules":[{"path":["root"],"outputs":{"o":{"sensitive":true,"type":"string","value":"x"}},"resources":{"a_b.c.0":{"type":"a_b","primary":{"id":"1","attributes":{"id":"1","pw":"s"},"tainted":false},"deposed":[],"provider":"provider.a"}},"depends_on":[]},{"path":["root","m","n"],"outputs":{"o":{"value":"not of the root"}},"resources":{"a_b.f":{"type":"a_b","primary":{"id":"2"}}}}]}"#;

#[test]
fn the_same_objects_have_the_same_addresses_in_every_format() {
    let new = [
        "a_b.c[0]",
        "a_b.c[0] (deposed 0a1b2c3d)",
        r#"module.m["k.1"].data.d.e"#,
        r#"module.m["k.1"].module.n.a_b.f"#,
    ];
    assert_eq!(addresses(JSON), new);
    assert_eq!(addresses(RAW), new);
    assert_eq!(addresses(OLD), ["a_b.c[0]", "module.m.module.n.a_b.f"]);
    for text in [JSON, RAW, OLD] {
        let (_, gathered) = read(text.as_bytes()).unwrap();
        assert_eq!(gathered.outputs, [("o".to_owned(), true)], "{text}");
        assert_eq!(gathered.objects[0].values.get("id").and_then(Value::as_str), Some("1"));
    }
}

#[test]
fn what_a_state_says_about_itself_is_kept() {
    let (info, gathered) = read(RAW.as_bytes()).unwrap();
    assert_eq!((info.serial, info.lineage.as_deref()), (Some(7), Some("l-1")));
    assert_eq!((info.format, info.tool_version.as_deref()), (Format::Raw(4), Some("1.11.4")));
    assert!(gathered.objects[1].tainted);
    assert!(!format!("{:?}", gathered.objects).contains("pw"), "values are not for logs");
    let empty = read(br#"{"format_version":"1.0"}"#).unwrap();
    assert_eq!((empty.0.format, empty.1.objects.len()), (Format::Json("1.0".into()), 0));
}

#[test]
fn addresses_of_version_0_12_are_completed_from_their_modules() {
    let state = r#"{"format_version":"0.1","terraform_version":"0.12.31","values":{"root_module":{"child_modules":[{"resources":[{"address":"a_b.c","mode":"managed","type":"a_b","name":"c","index":"k","provider_name":"a","values":{}}],"address":"module.m","child_modules":[{"resources":[{"address":"data.a_b.d","mode":"data","type":"a_b","name":"d"}],"address":"module.m.module.n"}]}]}}}"#;
    // Those that waited come when their module ends.
    assert_eq!(addresses(state), ["module.m.module.n.data.a_b.d", r#"module.m.a_b.c["k"]"#]);
}

#[test]
fn values_of_flat_states_and_masks_are_read() {
    let raw = r#"{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"n","provider":"provider.t","instances":[{"attributes_flat":{"id":"1","tags.%":"1","tags.a.b":"c"}}]}]}"#;
    let (_, gathered) = read(raw.as_bytes()).unwrap();
    let object = &gathered.objects[0];
    assert!(object.is_flat && !object.has_mask);
    assert!(object.values.get("tags").and_then(|tags| tags.get("a.b")).is_some());
}

#[test]
fn other_inputs_are_refused_with_what_they_are() {
    for (text, kind) in [
        ("", WrongKind::Empty),
        ("{}", WrongKind::NotState),
        (r#"{"format_version":"1.2","planned_values":{}}"#, WrongKind::Plan),
        (r#"{"version":1,"modules":[]}"#, WrongKind::OldState(1)),
        (r#"{"version":2,"modules":[]}"#, WrongKind::OldState(2)),
        (r#"{"version":5,"resources":[]}"#, WrongKind::StateVersion("5".into())),
        (r#"{"version":"x"}"#, WrongKind::StateVersion("0".into())),
        (r#"{"format_version":"2.0"}"#, WrongKind::StateVersion("2.0".into())),
        (
            r#"{"version":3,"serial":1,"backend":{"type":"s3"},"modules":[{"path":["root"],"resources":{}}]}"#,
            WrongKind::BackendStub,
        ),
        (
            r#"{"serial":7,"lineage":"l","meta":{},"encrypted_data":"x","encryption_version":"v0"}"#,
            WrongKind::Encrypted("a state (serial 7, lineage l)".into()),
        ),
        (r#"{"@level":"info"}"#, WrongKind::NotState),
        (r#"{"provider_schemas":{}}"#, WrongKind::Schemas),
        (r#"{"plan_format_version":"1.2"}"#, WrongKind::Plan),
        (r#"{"format_version":"1.0"}{"format_version":"1.0"}"#, WrongKind::SeveralDocuments),
    ] {
        match read(text.as_bytes()) {
            Err(ReadError::Kind(found)) => assert_eq!(found, kind, "{text}"),
            other => panic!("{text}: {other:?}", other = other.map(|(info, _)| info)),
        }
    }
}

#[test]
fn what_is_misshapen_is_an_error() {
    for text in [
        r#"{"version":4,"resources":[1]}"#,
        r#"{"version":4,"resources":[{"mode":"managed","type":"t"}]}"#,
        r#"{"version":4,"resources":[{"module":"x","mode":"managed","type":"t","name":"n"}]}"#,
        r#"{"version":3,"modules":[1]}"#,
        r#"{"version":3,"modules":[{"resources":{"a.b":{}},"path":["root"]}]}"#,
        r#"{"version":3,"modules":[{"path":["root"],"resources":{"a":{}}}]}"#,
        r#"{"format_version":"1.0","values":{"root_module":{"resources":[{"name":"x"}]}}}"#,
        r#"{"format_version":"1.0","values":{"root_module":{"resources":["x"]}}}"#,
    ] {
        assert!(matches!(read(text.as_bytes()), Err(ReadError::Shape { .. })), "{text}");
    }
    let modules = |depth: usize| {
        let (open, close) = (r#"{"child_modules":["#.repeat(depth), "]}".repeat(depth));
        format!(r#"{{"format_version":"1.0","values":{{"root_module":{open}{close}}}}}"#)
    };
    assert!(read(modules(100).as_bytes()).is_ok());
    assert!(read(modules(100_000).as_bytes()).is_err());
}

#[test]
fn a_state_cut_anywhere_is_an_error() {
    for text in [JSON, RAW, OLD] {
        for length in 0..text.len() {
            assert!(read(&text.as_bytes()[..length]).is_err(), "cut at {length}: {text}");
        }
    }
}

#[test]
fn objects_of_unknown_kinds_are_counted() {
    let state = RAW.replace("\"mode\":\"data\"", "\"mode\":\"daydream\"");
    let (info, gathered) = read(state.as_bytes()).unwrap();
    assert_eq!((info.unknown, gathered.objects.len()), (1, 3));
}

proptest! {
    #[test]
    fn a_flipped_byte_never_panics(at in 0_usize..2_000, byte in any::<u8>()) {
        for text in [JSON, RAW, OLD] {
            let mut state = text.as_bytes().to_vec();
            let at = at % state.len();
            state[at] = byte;
            drop(read(&state));
        }
    }

    #[test]
    fn random_bytes_are_never_a_state(bytes in collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
    }
}
