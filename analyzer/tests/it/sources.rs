//! Wherever an attribute's value comes from: it is written there, or it is said why not.

use driftgate::{
    Configuration, Limits, Selection, check_stream,
    proposal::{ProposalKind, Refusal},
    propose_selected,
};
use std::collections::BTreeMap;

/// A change outside of one object, in a configuration of some files.
struct Story {
    address: &'static str,
    before: &'static str,
    after: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// What came of it: the lines that changed, and the reasons for what did not.
struct Outcome {
    changed: String,
    refusals: Vec<Refusal>,
}

fn plan(story: &Story, action: (&str, &str)) -> String {
    let address = serde_json::to_string(story.address).unwrap();
    let (path, name) = story.address.rsplit_once("t_x.").unwrap();
    let module = serde_json::to_string(path.trim_end_matches('.')).unwrap();
    let name = name.split('[').next().unwrap();
    let entry = |actions: &str, before: &str, after: &str| {
        format!(
            r#"{{"address":{address},"module_address":{module},"mode":"managed","type":"t_x","name":"{name}","change":{{"actions":["{actions}"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    let (drifted, planned) = action;
    let (back, rest) = match planned {
        "delete" => (
            "null",
            r#",{"address":"t_x.other","mode":"managed","type":"t_x","name":"other","change":{"actions":["create"],"before":null,"after":{},"before_sensitive":false,"after_sensitive":{}}}"#,
        ),
        _ => (story.before, ""),
    };
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","resource_drift":[{}],"resource_changes":[{}{rest}]}}"#,
        entry(drifted, story.before, story.after),
        entry(planned, story.after, back)
    )
}

fn run(story: &Story, action: (&str, &str), selection: &Selection) -> Outcome {
    let files: BTreeMap<String, String> =
        story.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let plan = plan(story, action);
    let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
    let configuration = Configuration::of(files.clone());
    propose_selected(&mut checked.report, &configuration, &checked.secrets, selection);
    let patch = checked.report.patch.unwrap();
    let is_change = |line: &&str| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
            || line.starts_with("+++")
    };
    let changed: Vec<&str> = patch.lines().filter(is_change).collect();
    let proposals = checked.report.findings.into_iter().flat_map(|it| it.proposals);
    let refusals = proposals.filter(|it| it.kind == selection.kind).flat_map(|it| it.refusals);
    Outcome { changed: changed.join("\n").replace("+++ b/", "in "), refusals: refusals.collect() }
}

fn adopt(story: &Story) -> Outcome {
    run(story, ("update", "update"), &Selection::default())
}

const ONE: &str = "t_x.n";

/// A story, and the lines that change.
const WRITTEN: &[(Story, &str)] = &[
    // Variables: the default, the file that wins, the argument of the module.
    (
        Story {
            address: ONE,
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[(
                "main.tf",
                "variable \"v\" {\n  default = 1\n}\nresource \"t_x\" \"n\" {\n  a = var.v\n}\n",
            )],
        },
        "in main.tf\n-  default = 1\n+  default = 2",
    ),
    (
        Story {
            address: ONE,
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[
                ("main.tf", "variable \"v\" {}\nresource \"t_x\" \"n\" {\n  a = var.v\n}\n"),
                ("terraform.tfvars", "v = 0\n"),
                ("a.auto.tfvars", "v = 3\n"),
                ("b.auto.tfvars.json", "{\"v\": 1}\n"),
            ],
        },
        "in b.auto.tfvars.json\n-{\"v\": 1}\n+{\"v\": 2}",
    ),
    (
        Story {
            address: ONE,
            before: r#"{"a":"x"}"#,
            after: r#"{"a":"y"}"#,
            files: &[
                (
                    "main.tf",
                    "variable \"v\" {}\nresource \"t_x\" \"n\" {\n  a = \"${var.v.k[1]}\"\n}\n",
                ),
                ("terraform.tfvars", "long = 1\nv    = { k = [\"w\", \"x\"] } # c\n"),
            ],
        },
        "in terraform.tfvars\n-v    = { k = [\"w\", \"x\"] } # c\n+v    = { k = [\"w\", \"y\"] } # c",
    ),
    (
        Story {
            address: "module.m[\"k\"].t_x.n",
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[
                (
                    "main.tf",
                    "module \"m\" {\n  source   = \"./m\"\n  for_each = { k = { size = 1 }, l = { size = 1 } }\n  v        = each.value.size\n}\n",
                ),
                ("m/main.tf", "variable \"v\" {}\nresource \"t_x\" \"n\" {\n  a = var.v\n}\n"),
            ],
        },
        "in main.tf\n-  for_each = { k = { size = 1 }, l = { size = 1 } }\n+  for_each = { k = { size = 2 }, l = { size = 1 } }",
    ),
    // Locals, alone and by the key of the instance.
    (
        Story {
            address: "t_x.n[\"b\"]",
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[(
                "main.tf",
                "locals {\n  all = {\n    a = { size = 1 }\n    b = { size = 1 }\n  }\n}\nresource \"t_x\" \"n\" {\n  for_each = local.all\n  a        = each.value.size\n}\n",
            )],
        },
        "in main.tf\n-    b = { size = 1 }\n+    b = { size = 2 }",
    ),
    (
        Story {
            address: "t_x.n[1]",
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[(
                "main.tf",
                "locals {\n  sizes = [1, 1]\n}\nresource \"t_x\" \"n\" {\n  count = 2\n  a     = local.sizes[count.index]\n}\n",
            )],
        },
        "in main.tf\n-  sizes = [1, 1]\n+  sizes = [1, 2]",
    ),
    // merge, with tags that the provider repeats.
    (
        Story {
            address: ONE,
            before: r#"{"tags":{"a":"1"},"tags_all":{"a":"1","z":"9"}}"#,
            after: r#"{"tags":{"a":"2","b":"3"},"tags_all":{"a":"2","b":"3","z":"9"}}"#,
            files: &[(
                "main.tf",
                "resource \"t_x\" \"n\" {\n  tags = merge(var.tags, { a = \"1\" })\n}\n",
            )],
        },
        "in main.tf\n-  tags = merge(var.tags, { a = \"1\" })\n+  tags = merge(var.tags, { a = \"2\", b = \"3\" })",
    ),
    // Documents.
    (
        Story {
            address: ONE,
            before: r#"{"p":"{\"a\":1,\"b\":[\"x\"]}"}"#,
            after: r#"{"p":"{\"a\":2,\"b\":[\"x\",\"y\"]}"}"#,
            files: &[(
                "main.tf",
                "resource \"t_x\" \"n\" {\n  p = jsonencode({\n    a = 1\n    b = [\"x\"]\n    c = var.c\n  })\n}\n",
            )],
        },
        "in main.tf\n-    a = 1\n-    b = [\"x\"]\n+    a = 2\n+    b = [\"x\", \"y\"]",
    ),
    (
        Story {
            address: ONE,
            before: r#"{"p":"{\"a\":1}\n"}"#,
            after: r#"{"p":"{\"a\":2}"}"#,
            files: &[
                ("main.tf", "resource \"t_x\" \"n\" {\n  p = file(\"${path.module}/p.json\")\n}\n"),
                ("p.json", "{\n  \"a\":   1\n}\n"),
            ],
        },
        "in p.json\n-  \"a\":   1\n+  \"a\":   2",
    ),
    // Overrides win; x.tofu stands for x.tf.
    (
        Story {
            address: ONE,
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[
                ("main.tf", "resource \"t_x\" \"n\" {\n  a = 0\n}\n"),
                ("x_override.tf", "resource \"t_x\" \"n\" {\n  a = 1\n}\n"),
            ],
        },
        "in x_override.tf\n-  a = 1\n+  a = 2",
    ),
    (
        Story {
            address: ONE,
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: &[
                ("main.tf", "resource \"t_x\" \"n\" {\n  a = 0\n}\n"),
                ("main.tofu", "resource \"t_x\" \"n\" {\n  a = 1\n}\n"),
            ],
        },
        "in main.tofu\n-  a = 1\n+  a = 2",
    ),
    // Blocks come and go.
    (
        Story {
            address: ONE,
            before: r#"{"r":[{"p":1,"d":""},{"p":2,"d":""}]}"#,
            after: r#"{"r":[{"p":2,"d":""}]}"#,
            files: &[(
                "main.tf",
                "resource \"t_x\" \"n\" {\n  r {\n    p = 1\n  }\n\n  r {\n    p = 2\n  }\n}\n",
            )],
        },
        "in main.tf\n-    p = 1\n-  }\n-\n-  r {",
    ),
    (
        Story {
            address: ONE,
            before: r#"{"r":[{"p":2,"d":""},{"p":1,"d":""}]}"#,
            after: r#"{"r":[{"p":1,"d":""},{"p":2,"d":""},{"p":3,"d":"new"}]}"#,
            files: &[(
                "main.tf",
                "resource \"t_x\" \"n\" {\n  r {\n    p = 1\n  }\n  r {\n    p = 2\n  }\n}\n",
            )],
        },
        "in main.tf\n+  r {\n+    d = \"new\"\n+    p = 3\n+  }",
    ),
    // The JSON syntax.
    (
        Story {
            address: ONE,
            before: r#"{"a":1,"b":"x"}"#,
            after: r#"{"a":2,"b":"${y}"}"#,
            files: &[(
                "main.tf.json",
                "{\"resource\": {\"t_x\": {\"n\": {\"a\": 1, \"//\": \"c\", \"b\": \"x\"}}}}\n",
            )],
        },
        "in main.tf.json\n-{\"resource\": {\"t_x\": {\"n\": {\"a\": 1, \"//\": \"c\", \"b\": \"x\"}}}}\n+{\"resource\": {\"t_x\": {\"n\": {\"a\": 2, \"//\": \"c\", \"b\": \"$${y}\"}}}}",
    ),
];

#[test]
fn a_value_is_written_where_it_comes_from() {
    for (story, changed) in WRITTEN {
        let outcome = adopt(story);
        assert_eq!(outcome.changed, *changed, "{:?} {:?}", story.files, outcome.refusals);
        assert_eq!(outcome.refusals, [], "{:?}", story.files);
    }
}

#[test]
fn what_cannot_be_written_is_refused_with_its_reason_and_place() {
    let resource = "resource \"t_x\" \"n\" {\n  a = var.v\n}\n";
    for (address, main, more, reason, place) in [
        (ONE, format!("variable \"v\" {{\n  default = 1\n}}\n{resource}output \"o\" {{\n  value = var.v\n}}\n"), &[][..], "var.v, which sets it, is used 2 times", 5),
        (ONE, format!("variable \"v\" {{\n  default = 3\n}}\n{resource}"), &[], "it says something else than the plan, so another value wins (-var, -var-file or the environment), or the plan is older", 2),
        (ONE, format!("variable \"v\" {{\n  default   = 1\n  sensitive = true\n}}\n{resource}"), &[], "var.v, which sets it, is sensitive", 6),
        (ONE, format!("variable \"v\" {{}}\n{resource}"), &[], "var.v, which sets it, has no default and stands in no file", 3),
        (ONE, "resource \"t_x\" \"n\" {\n  a = local.x\n}\nlocals {\n  x = 1 + 0\n}\n".into(), &[], "it is set by an operation", 5),
        (ONE, "resource \"t_x\" \"n\" {\n  a = templatefile(\"x\", {})\n}\n".into(), &[], "it is set by a function call", 2),
        (ONE, "locals {\n  l = { a = 1 }\n}\nresource \"t_x\" \"n\" {\n  a = local.l.a\n  b = local.l.a\n}\n".into(), &[], "local.l, which sets it, is used 2 times", 5),
        ("t_x.n[\"k\"]", "resource \"t_x\" \"n\" {\n  for_each = toset([\"k\"])\n  a        = each.value\n}\n".into(), &[], "it is the key of its instance", 2),
        ("module.m.t_x.n", "module \"m\" {\n  source = \"./m\"\n}\nmodule \"o\" {\n  source = \"./m\"\n}\n".into(), &[("m/main.tf", "resource \"t_x\" \"n\" {\n  a = 1\n}\n")], "its module is called 2 times", 1),
    ] {
        let main: &'static str = Box::leak(main.into_boxed_str());
        let files: Vec<(&'static str, &'static str)> =
            [("main.tf", main)].into_iter().chain(more.iter().copied()).collect();
        let outcome = adopt(&Story {
            address,
            before: r#"{"a":1}"#,
            after: r#"{"a":2}"#,
            files: Box::leak(files.into_boxed_slice()),
        });
        let refusal = outcome.refusals.first().ok_or(main).unwrap();
        assert_eq!((refusal.reason.as_str(), outcome.changed.as_str()), (reason, ""), "{main}");
        assert_eq!(refusal.place.as_ref().map(|it| it.line), Some(place), "{main}");
        assert_eq!(refusal.instead, Some(ProposalKind::Ignore));
    }
}

fn of_kind(kind: ProposalKind, id: Option<&str>) -> Selection {
    Selection { kind, id: id.map(str::to_owned), ..Selection::default() }
}

#[test]
fn other_remedies_are_edits_too() {
    let (before, after) = (r#"{"a":1,"m":{"k":"v"}}"#, r#"{"a":2,"m":{"k":"w"}}"#);
    let block = "resource \"t_x\" \"n\" {\n  a = 1\n  m = { k = \"v\" }\n}\n";
    let listed = "resource \"t_x\" \"n\" {\n  a = 1\n  m = { k = \"v\" }\n  lifecycle {\n    ignore_changes = [a]\n  }\n}\n";
    let json = "{\n  \"resource\": {\"t_x\": {\"n\": {\"a\": 1}}}\n}\n";
    let update = ("update", "update");
    for (address, kind, action, file, text, changed) in [
        (
            ONE,
            ProposalKind::Ignore,
            update,
            "main.tf",
            block,
            "in main.tf\n+\n+  lifecycle {\n+    ignore_changes = [a, m[\"k\"]]\n+  }",
        ),
        (
            ONE,
            ProposalKind::Ignore,
            update,
            "main.tf",
            listed,
            "in main.tf\n-    ignore_changes = [a]\n+    ignore_changes = [a, m[\"k\"]]",
        ),
        (
            ONE,
            ProposalKind::Ignore,
            update,
            "main.tf.json",
            json,
            "in main.tf.json\n-  \"resource\": {\"t_x\": {\"n\": {\"a\": 1}}}\n+  \"resource\": {\"t_x\": {\"n\": {\"a\": 1, \"lifecycle\": {\"ignore_changes\": [\"a\", \"m\"]}}}}",
        ),
        (
            ONE,
            ProposalKind::Remove,
            update,
            "main.tf",
            "resource \"t_x\" \"n\" {\n  a = 1\n}\n",
            "in main.tf\n-resource \"t_x\" \"n\" {\n-  a = 1\n+removed {\n+  from = t_x.n\n+\n+  lifecycle {\n+    destroy = false\n+  }",
        ),
        (
            "t_x.n[0]",
            ProposalKind::Move,
            ("update", "delete"),
            "main.tf",
            "resource \"t_x\" \"other\" {\n}\n",
            "in main.tf\n+\n+moved {\n+  from = t_x.n[0]\n+  to   = t_x.other\n+}",
        ),
    ] {
        let files: &'static [(&str, &str)] = Box::leak(Box::new([(file, text)]));
        let outcome = run(&Story { address, before, after, files }, action, &of_kind(kind, None));
        assert_eq!(outcome.changed, changed, "{} {:?}", kind.name(), outcome.refusals);
    }
    let gone = Story {
        address: ONE,
        before,
        after: "null",
        files: &[("main.tf", "resource \"t_x\" \"n\" {\n}\n")],
    };
    let outcome = run(&gone, ("delete", "create"), &of_kind(ProposalKind::Import, Some("i-${1}")));
    assert_eq!(outcome.changed, "in main.tf\n+\n+import {\n+  to = t_x.n\n+  id = \"i-$${1}\"\n+}");
    let outcome = run(&gone, ("delete", "create"), &of_kind(ProposalKind::Import, None));
    assert!(outcome.refusals[0].reason.contains("--id"), "{:?}", outcome.refusals);
    let outcome = run(&gone, ("delete", "create"), &of_kind(ProposalKind::Adopt, None));
    assert_eq!(outcome.changed, "in main.tf\n-resource \"t_x\" \"n\" {\n-}");
}

#[test]
fn patches_of_variables_and_documents_show_no_secret() {
    let files = BTreeMap::from([
        ("main.tf".to_owned(), "variable \"v\" {}\nvariable \"pw\" {\n  sensitive = true\n}\nresource \"t_x\" \"n\" {\n  a = var.v\n  p = <<-E\n    {\"k\": 1, \"token\": \"hunter2-long\"}\n  E\n}\n".to_owned()),
        ("terraform.tfvars".to_owned(), "v  = 1\npw = \"1234\"\n".to_owned()),
    ]);
    let values = |n: u32| {
        format!(r#"{{"a":{n},"s":"hunter2-long","p":"{{\"k\":{n},\"token\":\"hunter2-long\"}}"}}"#)
    };
    let entry = |before: u32, after: u32| {
        format!(
            r#"{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{},"after":{},"after_unknown":{{}},"before_sensitive":{{"s":true}},"after_sensitive":{{"s":true}}}}}}"#,
            values(before),
            values(after)
        )
    };
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(1, 2),
        entry(2, 1)
    );
    for kind in ProposalKind::EDITS {
        let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
        let configuration = Configuration::of(files.clone());
        let selection = of_kind(*kind, Some("x"));
        propose_selected(&mut checked.report, &configuration, &checked.secrets, &selection);
        for format in driftgate::formats::FORMATS {
            let style = driftgate::formats::Style { width: 200, ..Default::default() };
            let printed = (format.render)(&checked.report, &style);
            for secret in ["hunter2", "1234"] {
                assert!(!printed.contains(secret), "{} {}:\n{printed}", kind.name(), format.name);
            }
        }
        let patch = checked.report.patch.unwrap();
        assert!(!patch.contains("hunter2") && !patch.contains("1234"), "{patch}");
    }
}

#[test]
fn schemas_tell_what_may_be_inserted() {
    let schemas = r#"{"format_version":"1.0","provider_schemas":{"registry.terraform.io/x/t":{"resource_schemas":{"t_x":{"version":0,"block":{"attributes":{
        "arn":{"type":"string","computed":true},
        "note":{"type":"string","optional":true},
        "pin":{"type":"string","optional":true,"write_only":true},
        "rules":{"type":["list",["object",{"p":"number"}]],"optional":true}
    }}}}}}}"#;
    let entry = |before: &str, after: &str| {
        format!(
            r#"{{"address":"t_x.n","mode":"managed","type":"t_x","name":"n","provider_name":"registry.terraform.io/x/t","change":{{"actions":["update"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    let none = r#"{"arn":null,"note":null,"pin":null,"rules":null}"#;
    let real = r#"{"arn":"x","note":"y","pin":"z","rules":[{"p":1}]}"#;
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(none, real),
        entry(real, none)
    );
    let text = "resource \"t_x\" \"n\" {\n  size = 1\n}\n";
    for (schemas, added, refused) in [
        (Some(schemas), "  note  = \"y\"\n  rules = [{ p = 1 }]\n", &["arn", "pin"][..]),
        (None, "  arn  = \"x\"\n  note = \"y\"\n  pin  = \"z\"\n", &["rules"]),
    ] {
        let schemas = schemas.map(|text| {
            std::sync::Arc::new(driftgate::read_schemas(text.as_bytes(), Limits::STANDARD).unwrap())
        });
        let files = BTreeMap::from([("main.tf".to_owned(), text.to_owned())]);
        let configuration = Configuration::of(files).with_schemas(schemas);
        let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
        let selection = Selection::default();
        let edited =
            propose_selected(&mut checked.report, &configuration, &checked.secrets, &selection);
        let width = added.find('=').unwrap();
        let size = format!("  size{} = 1\n", " ".repeat(width - 7));
        let wanted = text.replace("  size = 1\n", &(size + added));
        assert_eq!(edited["main.tf"], wanted);
        let proposals = checked.report.findings.iter().flat_map(|it| &it.proposals);
        let left: Vec<&str> =
            proposals.flat_map(|it| &it.refusals).map(|it| it.path.as_str()).collect();
        assert_eq!(left, refused);
    }
}
