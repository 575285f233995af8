//! What a schema says about plans and configurations: each word of an attribute, one by one.

use provider::{
    framework::{
        Attribute, Diagnostics, Nesting, Plan, Planned, Schema, Type, Validator, Value,
        conformance::{check_plan, check_schema, proposed_new_state},
        plan::plan,
        validate::validate,
    },
    wire::schema_to_proto,
};

fn sound(attributes: impl IntoIterator<Item = Attribute>) -> Schema {
    let schema = Schema::new("A thing.").attributes(attributes);
    assert_eq!(check_schema(&schema), []);
    schema
}

/// A value in full: what is left out is null.
fn full<const N: usize>(schema: &Schema, values: [(&str, Value); N]) -> Value {
    let mut value = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    for (name, given) in values {
        value.set_attribute(name, given);
    }
    value
}

fn planned(schema: &Schema, prior: &Value, config: &Value) -> Planned {
    let proposed = proposed_new_state(schema, prior, config);
    let planned = plan(schema, Plan { prior, config }, &proposed);
    assert_eq!(check_plan(schema, Plan { prior, config }, &planned.state), []);
    planned
}

fn replaced(planned: &Planned) -> Vec<String> {
    planned.replace.iter().map(ToString::to_string).collect()
}

#[test]
fn computed_values_stay_in_both_ways() {
    let computed = |name| Attribute::string(name, "Computed.").computed();
    let schema = sound([
        Attribute::string("name", "Its name.").required(),
        computed("free"),
        computed("kept").keep_prior(),
        computed("late").keep_prior_unless_null(),
        computed("sure").never_null(),
    ]);
    let config = |name: &str| full(&schema, [("name", name.into())]);
    let made = planned(&schema, &Value::Null, &config("a")).state;
    for name in ["free", "kept", "late"] {
        assert_eq!(made.get(name), &Value::UNKNOWN, "{name}");
    }
    assert_eq!(made.get("sure"), &Value::unknown_not_null());

    let prior = full(&schema, [("name", "a".into()), ("free", "f".into()), ("sure", "s".into())]);
    let changed = planned(&schema, &prior, &config("b")).state;
    assert_eq!(changed.get("free"), &Value::UNKNOWN);
    assert_eq!(changed.get("kept"), &Value::Null, "a null that stays");
    assert_eq!(changed.get("late"), &Value::UNKNOWN, "a null that may get a value");
    assert_eq!(changed.get("sure"), &Value::unknown_not_null());

    let mut prior = prior;
    prior.set_attribute("kept", "k");
    prior.set_attribute("late", "l");
    let changed = planned(&schema, &prior, &config("b")).state;
    assert_eq!((changed.text("kept"), changed.text("late")), ("k", "l"));
}

#[test]
fn replacement_has_conditions() {
    let shrinks = |prior: &Value, planned: &Value| prior.as_u32() > planned.as_u32();
    let schema = sound([
        Attribute::number("size", "Can only grow.").required().replace_if(shrinks),
        Attribute::string("zone", "Chosen once.").optional_computed().replace_if_configured(),
        Attribute::string("note", "Anything.").replace_if_configured(),
        Attribute::nested(
            "disks",
            Nesting::Map,
            "Its disks.",
            [Attribute::number("size", "Can only grow.").required().replace_if(shrinks)],
        ),
        Attribute::nested(
            "ports",
            Nesting::Set,
            "Its ports.",
            [
                Attribute::number("number", "Its number.").required(),
                Attribute::string("name", "Its name.").replace_if_configured(),
            ],
        ),
    ]);
    let disks = |size: u32| Value::map([("a", Value::object([("size", size.into())]))]);
    let port = |number: u32, name: Value| {
        Value::set([Value::object([("number", number.into()), ("name", name)])])
    };
    let prior = full(
        &schema,
        [
            ("size", 2_u32.into()),
            ("zone", "a".into()),
            ("note", "x".into()),
            ("disks", disks(5)),
            ("ports", port(1, "web".into())),
        ],
    );
    for (name, value, expected) in [
        ("size", 3_u32.into(), vec![]),
        ("size", 1_u32.into(), vec!["size"]),
        ("zone", "b".into(), vec!["zone"]),
        ("zone", Value::Null, vec![]),
        ("note", "y".into(), vec!["note"]),
        ("note", Value::UNKNOWN, vec!["note"]),
        ("note", Value::Null, vec![]),
        ("disks", disks(6), vec![]),
        ("disks", disks(4), vec![r#"disks["a"].size"#]),
        ("ports", port(2, "web".into()), vec!["ports"]),
        ("ports", port(1, Value::Null), vec![]),
    ] {
        let mut config = prior.clone();
        config.set_attribute(name, value.clone());
        assert_eq!(replaced(&planned(&schema, &prior, &config)), expected, "{name} {value:?}");
    }
    let made = planned(&schema, &Value::Null, &full(&schema, [("size", 1_u32.into())]));
    assert!(made.replace.is_empty());
}

#[test]
fn blocks_come_in_every_nesting() {
    let block = |name, nesting| {
        Attribute::block(
            name,
            nesting,
            "A block.",
            [
                Attribute::string("text", "A text."),
                Attribute::string("color", "A color; `red` if left out.").default("red"),
                Attribute::number("total", "A sum.").computed(),
            ],
        )
    };
    let schema = sound([
        block("one", Nesting::Single),
        block("list", Nesting::List),
        block("set", Nesting::Set),
        block("map", Nesting::Map),
        block("group", Nesting::Group),
    ]);
    let inner = |text: Value| {
        Value::object([("text", text), ("color", Value::Null), ("total", Value::Null)])
    };
    let empty = full(
        &schema,
        [
            ("list", Value::List(vec![])),
            ("set", Value::Set(vec![])),
            ("map", Value::map::<&str, Value>([])),
            ("group", inner(Value::Null)),
        ],
    );
    let made = planned(&schema, &Value::Null, &empty).state;
    assert_eq!(made.get("one"), &Value::Null);
    assert_eq!(made.get("group").text("color"), "red", "a group is always there");
    assert!(made.get("group").get("total").is_unknown());

    let mut config = empty;
    config.set_attribute("one", inner("a".into()));
    config.set_attribute("list", Value::list([inner("b".into())]));
    config.set_attribute("set", Value::set([inner("c".into())]));
    config.set_attribute("map", Value::map([("key", inner("d".into()))]));
    config.set_attribute("group", inner("e".into()));
    let made = planned(&schema, &Value::Null, &config).state;
    let elements = [
        made.get("one"),
        &made.get("list").elements()[0],
        &made.get("set").elements()[0],
        made.get("map").get("key"),
        made.get("group"),
    ];
    for element in elements {
        assert_eq!(element.text("color"), "red");
        assert!(element.get("total").is_unknown());
    }
    let modes: Vec<i32> = schema_to_proto(&schema)
        .block
        .unwrap()
        .block_types
        .iter()
        .map(|block| block.nesting)
        .collect();
    assert_eq!(modes, [1, 2, 3, 4, 5]);
}

fn problems(schema: &Schema, config: &Value) -> Vec<String> {
    let mut diagnostics = Diagnostics::new();
    validate(schema, config, &mut diagnostics);
    diagnostics.iter().map(|d| format!("{}: {}", d.summary, d.detail)).collect()
}

#[test]
fn rules_between_attributes_wait_until_they_are_sure() {
    let text = |name| Attribute::string(name, "A text.");
    let schema = Schema::new("A thing.")
        .attributes([text("a"), text("b"), text("c")])
        .check(Validator::Requires(&["a", "b", "c"]));
    assert_eq!(check_schema(&schema), []);
    let set = |a: Value, b: Value, c: Value| Value::object([("a", a), ("b", b), ("c", c)]);
    let (x, null, unknown) = (|| Value::from("x"), || Value::Null, || Value::UNKNOWN);
    for fine in [
        set(null(), null(), null()),
        set(null(), x(), null()),
        set(x(), x(), x()),
        set(x(), x(), unknown()),
        set(unknown(), null(), null()),
    ] {
        assert_eq!(problems(&schema, &fine), Vec::<String>::new(), "{fine:?}");
    }
    for wrong in [set(x(), null(), x()), set(x(), unknown(), null())] {
        let told = problems(&schema, &wrong);
        assert!(told[0].contains("must set `b`, `c` where it sets `a`"), "{told:?}");
    }
}

#[test]
fn a_write_only_value_goes_with_its_version() {
    let version = || Attribute::number("token_version", "Raise it to send `token` again.");
    let token = Attribute::string("token", "A secret.").write_only_with(version());
    let schema = sound(token);
    let set = |token: Value, version: Value| {
        Value::object([("token", token), ("token_version", version)])
    };
    for fine in [
        set(Value::Null, Value::Null),
        set("x".into(), 1_u32.into()),
        set("x".into(), Value::UNKNOWN),
        set(Value::Null, 1_u32.into()),
    ] {
        assert_eq!(problems(&schema, &fine), Vec::<String>::new(), "{fine:?}");
    }
    for wrong in ["x".into(), Value::UNKNOWN] {
        let told = problems(&schema, &set(wrong, Value::Null));
        assert!(told[0].starts_with("Write-only value without a version: `token`"), "{told:?}");
        assert!(told[0].contains("`token_version`"), "{told:?}");
    }
    let prior = set(Value::Null, 1_u32.into());
    let same = planned(&schema, &prior, &set("other".into(), 1_u32.into())).state;
    assert_eq!(same, prior, "the version tells, not the value");
    let raised = planned(&schema, &prior, &set("other".into(), 2_u32.into())).state;
    assert_eq!(raised, set(Value::Null, 2_u32.into()));
}

#[test]
fn what_is_on_its_way_out_says_what_to_use_instead() {
    let schema = sound([Attribute::string("old", "An old one.").deprecated("Use `new`.")]);
    let block = schema_to_proto(&schema).block.unwrap();
    assert!(block.attributes[0].deprecated);
    assert_eq!(block.attributes[0].deprecation_message, "Use `new`.");
}

#[test]
fn a_schema_that_cannot_work_is_named() {
    let text = |name| Attribute::string(name, "A text.");
    let block = |nesting| Attribute::block("inner", nesting, "A block.", [text("a")]);
    let [token, version] = text("token").write_only_with(text("version"));
    let dynamic = Attribute::value("any", Type::Dynamic, "Anything.");
    for (what, attributes) in [
        ("keeps its prior value, but is not computed", vec![text("a").keep_prior_unless_null()]),
        ("promises a value, but is not computed", vec![text("a").never_null()]),
        ("on its way out, but required", vec![text("a").required().deprecated("Use `b`.")]),
        ("on its way out, but no sentence", vec![text("a").deprecated("b")]),
        (
            "a group that is no block",
            vec![Attribute::nested("inner", Nesting::Group, "Grouped.", [text("a")])],
        ),
        ("a map of blocks or a group that is required", vec![block(Nesting::Map).required()]),
        ("a map of blocks or a group that is required", vec![block(Nesting::Group).required()]),
        (
            "a dynamic type in a list or map of blocks",
            vec![Attribute::block("inner", Nesting::List, "A block.", [dynamic])],
        ),
        ("sent again by what is no ordinary attribute", vec![token.clone()]),
        ("sent again by what is no ordinary attribute", vec![token, version.write_only()]),
        (
            "a rule about an attribute that is not there",
            vec![block(Nesting::List).check(Validator::each(Validator::Requires(&["a", "b"])))],
        ),
    ] {
        let found = check_schema(&Schema::new("A thing.").attributes(attributes));
        assert!(
            found.iter().any(|violation| violation.what.starts_with(what)),
            "{what}: {found:?}"
        );
    }
    let schema = Schema::new("A thing.").check(Validator::Conflicts(&["a", "b"]));
    assert_eq!(check_schema(&schema).len(), 1);
}
