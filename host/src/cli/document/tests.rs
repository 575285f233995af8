//! Files as trees, and their faults.

use proptest::prelude::*;

use super::*;

/// The tree on one line, or the faults with their places.
fn read(text: &str) -> String {
    let parsed = parse(text);
    match &parsed.faults[..] {
        [] => {
            let shown = parsed.blocks.iter().map(|block| {
                format!(
                    "{} {}: {}",
                    block.kind.text,
                    block.name.text,
                    show(&Value::Map(block.body.clone()))
                )
            });
            shown.collect::<Vec<_>>().join("\n")
        }
        faults => {
            let shown = faults.iter().map(|fault| {
                let (line, column) = position(text, fault.at);
                format!("{line}:{column}: {}", fault.message)
            });
            shown.collect::<Vec<_>>().join("\n")
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Unreadable => "unreadable".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.clone(),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| show(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entry = |entry: &Entry| format!("{} = {}", entry.name, show(&entry.node.value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn blocks_of_hcl_become_a_tree() {
    let text = r#"
# A comment
quota "team-a" {
  limits = { cpu = { hard = "2" }, "memory" = { hard : "1Gi" }, workers = { hard = 20 } }
}
worker_pool "dev/web" {
  size = (3)
  worker {
    command   = ["sh", "-c", "echo \"$PORT_HTTP\" $${HOME}"]
    variables = { TEXT = <<-END
      two
        lines
      END
    }
  }
  nothing = null
  minus = -1
  yes = true
}
"#;
    insta::assert_snapshot!(read(text), @r#"
    quota team-a: {limits = {cpu = {hard = "2"}, memory = {hard = "1Gi"}, workers = {hard = 20}}}
    worker_pool dev/web: {size = 3, worker = {command = ["sh", "-c", "echo \"$PORT_HTTP\" ${HOME}"], variables = {TEXT = "two\n  lines\n"}}, nothing = null, minus = -1, yes = true}
    "#);
}

#[test]
fn documents_of_json_become_the_same_tree() {
    let one = r#"{"kind": "quota", "name": "q", "labels": {"a": "b"}, "id": "quota_1", "observed": {"x": [1, {}]},
        "spec": {"limits": {"cpu": {"hard": "2"}}, "text": "\u00e4 \"q\" \\ \/ ${x}", "list": [1.5, -2, true, null, [], "a,]}"]}}"#;
    insta::assert_snapshot!(read(one), @r#"
    quota q: {labels = {a = "b"}, limits = {cpu = {hard = "2"}}, text = "ä \"q\" \\ / ${x}", list = [1.5, -2, true, null, [], "a,]}"]}
    "#);
    let hcl = "quota \"q\" {\n labels = { a = \"b\" }\n}\n";
    let json = r#"{"kind": "quota", "name": "q", "labels": {"a": "b"}}"#;
    assert_eq!(read(hcl), read(json));
    assert_eq!(read(&format!("{json}\n{json}")), read(&format!("[{json}, {json}]")));
    assert_eq!(read(""), "");
}

#[test]
fn every_fault_of_hcl_has_its_place() {
    let text = r#"
size = 3
quota {
}
quota "a" "b" {
}
environment "dev" {
  quota = var.quota
  description = "x ${y}"
  a = upper("b")
  b = true ? 1 : 2
  inner "named" {
  }
  f = -"g"
}
"#;
    insta::assert_snapshot!(read(text), @r#"
    2:1: `size` stands alone: declare it in a block such as `environment "dev" { … }`
    3:1: a block `quota` has one name, as in `quota "name" { … }`, not 0
    5:1: a block `quota` has one name, as in `quota "name" { … }`, not 2
    8:11: this is a reference, and only plain values can stand here
    9:17: `${…}` in a string is computed (`$${` writes it), and only plain values can stand here
    10:7: `upper` is a function, and only plain values can stand here
    11:7: this is computed, and only plain values can stand here
    12:3: the inner block `inner` has no name of its own
    14:7: `-` needs a number, not a string
    "#);
    insta::assert_snapshot!(read("quota \"a\" {\n c = 1\n c = 2\n}"), @r"
    3:2: this is not HCL: invalid attribute; expected unique attribute key; found redefined attribute
    ");
    insta::assert_snapshot!(read("quota \"a\" {\n  limits = {\n"), @r"
    2:3: this is not HCL: invalid block body; expected `}`, newline or identifier
    ");
    insta::assert_snapshot!(read("quota \"ä\" { x = 1, y = 2 }"), @r"
    1:18: this is not HCL: invalid block body; expected `}`, newline or identifier
    ");
}

#[test]
fn every_fault_of_json_has_its_place() {
    insta::assert_snapshot!(read("{\"kind\": \"quota\",\n  \"name\": }"), @r"
    2:11: this is not JSON: expected value
    ");
    insta::assert_snapshot!(read("{\"kind\": \"quota\"} {\"kind\""), @r"
    1:25: this is not JSON: EOF while parsing an object
    ");
    insta::assert_snapshot!(read("[\n {\"kind\": 1, \"name\": \"a\", \"name\": \"b\", \"spec\": [], \"sise\": 3},\n 7\n]"), @r"
    2:27: `name` is given twice
    2:11: `kind` is a string, not a number
    2:48: `spec` is an object, not a list
    2:52: `sise` is not known here: a declaration has `kind`, `name`, `labels` and `spec`
    3:2: a declaration is an object, not a number
    ");
    insta::assert_snapshot!(read("{}"), @r"
    1:1: the declaration has no `kind`
    ");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    insta::assert_snapshot!(read(&deep), @r"
    1:128: this is not JSON: recursion limit exceeded
    ");
}

#[test]
fn hcl_that_is_nested_too_deep_is_refused() {
    let deep = format!("a \"b\" {{ c = {}{} }}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(parse(&deep).faults.len(), 1);
}

#[test]
fn positions_count_lines_and_characters() {
    assert_eq!(position("äb\nc", 0), (1, 1));
    assert_eq!(position("äb\nc", 2), (1, 2));
    assert_eq!(position("äb\nc", 4), (2, 1));
    assert_eq!(position("äb\nc", 99), (2, 2));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}|[\\[\\]{}\":, a0\\\\\n=\"$%-]{0,80}") {
        let parsed = parse(&text);
        prop_assert!(parsed.faults.iter().all(|fault| fault.at <= text.len()));
    }

    #[test]
    fn any_json_is_walked_to_its_end(value in any_json()) {
        let text = serde_json::json!({"kind": "quota", "name": "q", "spec": {"x": value}}).to_string();
        let blocks = parse(&text).blocks;
        prop_assert_eq!(to_json(&blocks[0].body[0].node.value), value);
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "\\PC{0,10}|[\\\\\"\n,{}\\[\\]]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("\\PC{0,4}|[\\\\\"]", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null | Value::Unreadable => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.parse::<i64>().unwrap().into(),
        Value::Text(text) => text.clone().into(),
        Value::List(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.name.clone(), to_json(&entry.node.value))).collect()
        }
    }
}
