//! Two states or two plans: what differs is found, named, and shown without its secrets.

use driftgate::{
    Checked, CompareError, Limits, Options, check_file, check_with_previous, compare,
    compare_with_live,
    formats::{FORMATS, Style, find},
    read_schemas,
    report::{Report, Verdict},
};
use std::{io::Cursor, sync::Arc};

/// A resource of a stored state: address parts, attributes, and whatever else its instance has.
fn resource(name: &str, attributes: &str, more: &str) -> String {
    format!(
        r#"{{"mode":"managed","type":"a_b","name":"{name}","provider":"provider[\"registry.terraform.io/x/a\"]","instances":[{{"attributes":{attributes},"sensitive_attributes":[[{{"type":"get_attr","value":"pw"}}]]{more}}}]}}"#
    )
}

fn state(serial: u32, resources: &[String]) -> String {
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"l","outputs":{{}},"resources":[{}]}}"#,
        resources.join(",")
    )
}

fn both(first: &str, second: &str) -> Checked {
    compare(Cursor::new(first), Cursor::new(second), &Options::default()).unwrap()
}

fn summary(report: &Report) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|finding| {
            let paths: Vec<&str> = finding.attributes.iter().map(|it| it.path.as_str()).collect();
            let moved = finding.moved_from.as_deref().map(|from| format!(" from {from}"));
            format!(
                "{} {} {}{}",
                finding.rule.id,
                finding.address,
                paths.join(","),
                moved.unwrap_or_default()
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

#[test]
fn what_differs_between_two_states_is_found_and_named() {
    let first = state(
        1,
        &[
            resource("same", r#"{"id":"1","n":1}"#, ""),
            resource("changed", r#"{"id":"2","n":1,"l":[1,2]}"#, ""),
            resource("gone", r#"{"id":"3"}"#, ""),
            resource("old", r#"{"id":"4","n":1}"#, ""),
            resource("sick", r#"{"id":"6"}"#, ""),
        ],
    );
    let second = state(
        2,
        &[
            resource("same", r#"{"id":"1","n":1.0}"#, ""),
            resource("changed", r#"{"id":"2","n":2,"l":[2,1]}"#, ""),
            resource("new", r#"{"id":"4","n":1}"#, ""),
            resource("added", r#"{"id":"5"}"#, ""),
            resource("sick", r#"{"id":"6"}"#, r#","status":"tainted""#),
        ],
    );
    let report = both(&first, &second).report;
    assert_eq!(
        summary(&report),
        [
            "appeared a_b.added",
            "changed-between a_b.changed n",
            "vanished a_b.gone",
            "changed-between a_b.new  from a_b.old",
            "changed-between a_b.sick tainted",
        ]
    );
    assert_eq!((report.verdict, report.counts.resources), (Verdict::Drifted, 5));
    let noise: Vec<String> = report
        .noise
        .iter()
        .map(|it| format!("{} {} {}", it.address, it.path, it.kind.name()))
        .collect();
    assert_eq!(noise, ["a_b.changed l reordered", "a_b.same n number-spelling"]);
    assert_eq!(report.counts.fates["observed"], 2);
    let same = both(&first, &first).report;
    assert_eq!((same.verdict, same.findings.len(), same.noise.len()), (Verdict::Clean, 0, 0));
}

#[test]
fn states_of_different_formats_are_compared_by_what_they_mean() {
    let old = r#"{"version":3,"terraform_version":"0.11.14","serial":1,"lineage":"l","modules":[{"path":["root"],"outputs":{},"resources":{"a_b.c.0":{"type":"a_b","primary":{"id":"i","attributes":{"id":"i","port":"80","on":"true","tags.%":"1","tags.k":"v","set.#":"2","set.9":"x","set.11":"y"}},"provider":"provider.a"}}}]}"#;
    let new = |port: u32| {
        format!(
            r#"{{"format_version":"1.0","terraform_version":"1.11.4","values":{{"root_module":{{"resources":[{{"address":"a_b.c[0]","mode":"managed","type":"a_b","name":"c","index":0,"provider_name":"registry.terraform.io/x/a","values":{{"id":"i","port":{port},"on":true,"tags":{{"k":"v"}},"set":["y","x"],"extra":null}},"sensitive_values":{{}}}}]}}}}}}"#
        )
    };
    assert_eq!(both(old, &new(80)).report.verdict, Verdict::Clean);
    assert_eq!(both(&new(80), old).report.verdict, Verdict::Clean);
    assert_eq!(summary(&both(old, &new(81)).report), ["changed-between a_b.c[0] port"]);
}

#[test]
fn outputs_are_compared_between_states_only() {
    let with = |value: &str| {
        format!(
            r#"{{"version":4,"serial":1,"lineage":"l","outputs":{{"o":{{"value":"{value}","type":"string"}},"s":{{"value":"hidden-{value}","type":"string","sensitive":true}}}},"resources":[]}}"#
        )
    };
    let (first, second) = (with("one"), with("two"));
    let checked = both(&first, &second);
    assert_eq!(
        summary(&checked.report),
        ["changed-between output.o value", "changed-between output.s value"]
    );
    let text = (find("text").unwrap().render)(&checked.report, &Style::default());
    assert!(!text.contains("hidden"), "{text}");
    let live =
        compare_with_live(Cursor::new(&first), second.as_bytes(), &Options::default()).unwrap();
    assert_eq!(live.report.verdict, Verdict::Clean);
}

#[test]
fn of_an_address_that_stands_twice_the_first_object_counts() {
    let [one, two] = [1, 2].map(|n| resource("c", &format!(r#"{{"id":"{n}"}}"#), ""));
    let first = state(1, &[one.clone(), two.clone()]);
    let same = both(&first, &first).report;
    assert_eq!((same.verdict, same.warnings.len()), (Verdict::Clean, 1));
    let second = state(1, &[two, one]);
    assert_eq!(summary(&both(&first, &second).report), ["changed-between a_b.c id"]);
}

#[test]
fn a_live_state_tells_what_was_changed_outside() {
    let deposed = resource("c", r#"{"id":"0"}"#, r#","deposed":"00000001""#);
    let first = state(
        1,
        &[resource("c", r#"{"id":"1","n":1}"#, ""), resource("d", r#"{"id":"2"}"#, ""), deposed],
    );
    let second =
        state(2, &[resource("c", r#"{"id":"1","n":2}"#, ""), resource("e", r#"{"id":"3"}"#, "")]);
    let report = compare_with_live(Cursor::new(&first), second.as_bytes(), &Options::default())
        .unwrap()
        .report;
    assert_eq!(summary(&report), ["changed-between a_b.c n", "vanished a_b.d"]);
    let other = second.replace("\"l\"", "\"other\"");
    let error =
        compare_with_live(Cursor::new(&first), other.as_bytes(), &Options::default()).unwrap_err();
    assert!(matches!(error, CompareError::Lineage(..)), "{error}");
}

#[test]
fn strange_pairs_are_warned_about() {
    let (first, second) = (state(7, &[]), state(3, &[]));
    let report = both(&first, &second).report;
    assert!(report.warnings[0].contains("older"), "{:?}", report.warnings);
    let other = second.replace("\"l\"", "\"other\"");
    assert!(both(&first, &other).report.warnings[0].contains("different workspaces"));
    let plan = r#"{"format_version":"1.2","resource_changes":[]}"#;
    for (left, right) in [(first.as_str(), plan), (plan, &first)] {
        let error =
            compare(Cursor::new(left), Cursor::new(right), &Options::default()).unwrap_err();
        assert!(matches!(error, CompareError::Kinds), "{error}");
    }
}

/// A plan with one drifted resource and one planned change.
fn plan(drift: &str, changes: &[(&str, &str, &str)]) -> String {
    let changes: Vec<String> = changes
        .iter()
        .map(|(name, action, after)| {
            format!(
                r#"{{"address":"a_b.{name}","mode":"managed","type":"a_b","name":"{name}","provider_name":"p","change":{{"actions":["{action}"],"before":null,"after":{after},"after_unknown":{{"id":true}},"before_sensitive":{{}},"after_sensitive":{{"pw":true}}}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","resource_drift":[{drift}],"resource_changes":[{}],"timestamp":"2026-01-02T03:04:05Z"}}"#,
        changes.join(",")
    )
}

fn drifted(name: &str) -> String {
    format!(
        r#"{{"address":"a_b.{name}","mode":"managed","type":"a_b","name":"{name}","provider_name":"p","change":{{"actions":["update"],"before":{{"n":1}},"after":{{"n":2}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
    )
}

#[test]
fn two_plans_are_compared_by_their_findings_and_their_changes() {
    let first = plan(
        &[drifted("kept"), drifted("gone")].join(","),
        &[
            ("same", "create", r#"{"n":1}"#),
            ("other", "create", r#"{"n":1}"#),
            ("dropped", "delete", "null"),
        ],
    );
    let second = plan(
        &[drifted("kept"), drifted("new")].join(","),
        &[
            ("same", "create", r#"{"n":1}"#),
            ("other", "update", r#"{"n":2}"#),
            ("added", "create", r#"{"n":1}"#),
        ],
    );
    let report = both(&first, &second).report;
    assert_eq!(
        summary(&report),
        [
            "appeared a_b.added",
            "vanished a_b.dropped",
            "undecidable a_b.new n",
            "changed-between a_b.other action,after.n",
        ]
    );
    assert_eq!(report.resolved[0].address, "a_b.gone");
    assert_eq!((report.counts.drifted, report.verdict), (4, Verdict::Drifted));
    let same = both(&first, &first).report;
    assert_eq!((same.verdict, same.counts.drifted), (Verdict::Clean, 0));
    assert!(same.warnings[0].contains("2 findings are in both"), "{:?}", same.warnings);
}

#[test]
fn a_previous_state_gives_drift_to_a_plan_without_any() {
    let previous = state(
        4,
        &[
            resource("c", r#"{"id":"1","n":1,"m":1}"#, ""),
            resource("d", r#"{"id":"2"}"#, ""),
            resource("same", r#"{"id":"9"}"#, ""),
        ],
    );
    let object = |name: &str, values: &str| {
        format!(
            r#"{{"address":"a_b.{name}","mode":"managed","type":"a_b","name":"{name}","provider_name":"registry.terraform.io/x/a","values":{values},"sensitive_values":{{}}}}"#
        )
    };
    let change = |name: &str, action: &str, before: &str, after: &str| {
        format!(
            r#"{{"address":"a_b.{name}","mode":"managed","type":"a_b","name":"{name}","provider_name":"registry.terraform.io/x/a","change":{{"actions":["{action}"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    let real = r#"{"id":"1","n":2,"m":2}"#;
    let plan = format!(
        r#"{{"format_version":"0.1","terraform_version":"0.15.0","resource_changes":[{},{}],"prior_state":{{"format_version":"0.1","values":{{"root_module":{{"resources":[{},{},{}]}}}}}}}}"#,
        change("c", "update", real, r#"{"id":"1","n":1,"m":2}"#),
        change("d", "create", "null", r#"{"id":null}"#),
        object("c", real),
        object("same", r#"{"id":"9"}"#),
        object("imported", r#"{"id":"7"}"#),
    );
    let options = Options::default();
    let alone = check_file(Cursor::new(&plan), options.clone()).unwrap().report;
    assert_eq!(alone.verdict, Verdict::Inconclusive);
    let report =
        check_with_previous(Cursor::new(&plan), Cursor::new(&previous), &options).unwrap().report;
    assert_eq!(summary(&report), ["reverted a_b.c m,n", "deleted-outside a_b.d"]);
    let fates: Vec<(&str, &str)> =
        report.findings[0].attributes.iter().map(|it| (it.path.as_str(), it.fate.name())).collect();
    assert_eq!(fates, [("m", "absorbed"), ("n", "reverted")]);
    assert_eq!((report.verdict, report.reasons.len()), (Verdict::Drifted, 0));
}

#[test]
fn a_schema_tells_a_list_from_a_set_and_what_is_secret() {
    let schemas = br#"{"format_version":"1.0","provider_schemas":{"registry.terraform.io/x/a":{"resource_schemas":{"a_b":{"block":{"attributes":{"list":{"type":["list","string"]},"set":{"type":["set","string"]},"key":{"type":"string","sensitive":true}}}}}}}}"#;
    let schemas = Arc::new(read_schemas(&schemas[..], Limits::STANDARD).unwrap());
    let options = Options { schemas: Some(schemas), ..Options::default() };
    let values = |list: &str, key: &str| {
        format!(r#"{{"id":"1","list":{list},"set":{list},"key":"{key}","plain":"see {key}"}}"#)
    };
    let (before, after) =
        (values(r#"["a","b"]"#, "topsecret-1"), values(r#"["b","a"]"#, "topsecret-2"));
    let first = state(1, &[resource("c", &before, "")]);
    let second = state(2, &[resource("c", &after, "")]);
    let checked = compare(Cursor::new(&first), Cursor::new(&second), &options).unwrap();
    assert_eq!(summary(&checked.report), ["changed-between a_b.c key,list,plain"]);
    assert_eq!(checked.report.counts.noise["reordered"], 1);
    for format in FORMATS {
        let text = (format.render)(&checked.report, &Style::default());
        assert!(!text.contains("topsecret"), "{}: {text}", format.name);
    }
    let drift = format!(
        r#"{{"address":"a_b.c","mode":"managed","type":"a_b","name":"c","provider_name":"registry.terraform.io/x/a","change":{{"actions":["update"],"before":{before},"after":{after},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
    );
    let plan = plan(&drift, &[]);
    let checked = check_file(Cursor::new(&plan), options.clone()).unwrap();
    assert_eq!(summary(&checked.report), ["undecidable a_b.c key,list,plain"]);
    for format in FORMATS {
        let text = (format.render)(&checked.report, &Style::default());
        assert!(!text.contains("topsecret"), "{}: {text}", format.name);
    }
    let plain = check_file(Cursor::new(&plan), Options::default()).unwrap().report;
    assert_eq!(summary(&plain), ["undecidable a_b.c key,plain"]);
}

#[test]
fn no_format_prints_a_secret_or_a_control_character_of_a_state() {
    let secret = "Tr0ub4dor&3";
    let attributes = |n: u32| {
        format!(
            r#"{{"id":"1","pw":"{secret}","plain":"{secret}","inside":"u:{secret}@h{n}","map":{{"{secret}":{n}}},"evil":"\u001b[31m\u202e{n}"}}"#
        )
    };
    let keyed = format!(r#","index_key":"{secret}\u0007""#);
    let first = state(1, &[resource("c", &attributes(1), &keyed)]);
    let second = state(2, &[resource("c", &attributes(2), &keyed)]);
    let checked = both(&first, &second);
    assert_eq!(checked.report.counts.drifted, 1);
    for format in FORMATS {
        let text = (format.render)(&checked.report, &Style { width: 200, ..Style::default() });
        assert!(!text.contains("Tr0ub4dor"), "{} prints it:\n{text}", format.name);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{}:\n{text}", format.name);
    }
}

#[test]
fn damage_in_either_input_is_an_error_that_says_which() {
    let good = state(1, &[resource("c", r#"{"id":"1"}"#, "")]);
    for length in 0..good.len() {
        let cut = &good[..length];
        let pair = |left: &str, right: &str| {
            compare(
                Cursor::new(left.as_bytes().to_vec()),
                Cursor::new(right.as_bytes().to_vec()),
                &Options::default(),
            )
        };
        assert!(matches!(pair(cut, &good), Err(CompareError::First(_))), "{length}");
        assert!(matches!(pair(&good, cut), Err(CompareError::Second(_))), "{length}");
    }
}
