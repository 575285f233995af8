//! Whatever the bytes are: an error or a report, never a panic, never a false "clean".

use driftgate::{Configuration, Limits, check, check_stream, propose, report::Verdict};
use proptest::{collection, prelude::*};
use std::path::PathBuf;

fn cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn plan(case: &str) -> Vec<u8> {
    std::fs::read(cases().join(case).join("plan.json")).unwrap()
}

#[test]
fn a_plan_cut_anywhere_is_an_error() {
    for case in ["reverted", "sensitive", "hostile_text", "noise"] {
        let plan = plan(case);
        let whole = plan.trim_ascii_end().len();
        for length in 0..whole {
            assert!(check(&plan[..length], Limits::STANDARD).is_err(), "{case} cut at {length}");
        }
        assert!(check(&plan[..whole], Limits::STANDARD).is_ok());
    }
}

#[test]
fn a_stream_cut_anywhere_is_never_clean() {
    for case in ["stream", "stream_clean", "stream_errored", "stream_targeted", "stream_in_text"] {
        let stream = plan(case);
        let told = memchr::memmem::find(&stream, b"change_summary").unwrap();
        for length in 0..stream.len() {
            let Ok(report) = check(&stream[..length], Limits::STANDARD) else { continue };
            let is_proven = report.verdict == Verdict::Clean;
            assert!(!is_proven || length > told, "{case} cut at {length}");
        }
    }
}

#[test]
fn sections_of_any_shape_are_tolerated() {
    let items = [
        "null",
        "1",
        "\"x\"",
        "[]",
        "[null,1,\"x\",[],{}]",
        "{}",
        r#"{"a":1}"#,
        r#"[{"address":7,"status":[],"instances":{},"problems":[1],"reason":{},"resource_change":1,"action_invocation":"x","resource":[],"attribute":{}}]"#,
        r#"[{"instances":[{"address":{"to_display":[]},"status":"fail","problems":[{"message":{}}]}],"resource_change":{"change":{}},"action_invocation":{"lifecycle_action_trigger":{"triggering_resource_address":1}},"resource":"a.b","attribute":[1.5,-1,"x",{}]}]"#,
    ];
    for section in [
        "checks",
        "action_invocations",
        "deferred_action_invocations",
        "deferred_changes",
        "relevant_attributes",
        "planned_values",
        "output_changes",
        "variables",
        "configuration",
    ] {
        for item in items {
            let plan = format!(
                r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","change":{{"actions":["update"],"before":{{"n":1}},"after":{{"n":2}}}}}}],"{section}":{item}}}"#
            );
            let report = check(plan.as_bytes(), Limits::STANDARD).unwrap();
            assert_eq!(report.verdict, Verdict::Drifted, "{plan}");
        }
    }
}

#[test]
fn events_of_any_shape_are_tolerated_and_prove_nothing() {
    for event in [
        r#"{"@level":7}"#,
        r#"{"@level":"info","type":"resource_drift"}"#,
        r#"{"@level":"info","type":"resource_drift","change":[1]}"#,
        r#"{"@level":"info","type":"planned_change","change":{"resource":{"addr":{"a":"}"},"resource":7},"action":[],"reason":"\"x","importing":5}}"#,
        r#"{"@level":"info","type":"outputs","outputs":{"a":1,"b":{"action":2}}}"#,
        r#"{"@level":"info","type":"change_summary","changes":{"operation":7}}"#,
        r#"{"@level":"info","type":"diagnostic","diagnostic":{"severity":[]}}"#,
        r#"{"@level":"info","type":{"a":"version"}}"#,
    ] {
        let stream = format!("{{\"@level\":\"info\",\"type\":\"version\"}}\n{event}\n{event}");
        let report = check(stream.as_bytes(), Limits::STANDARD).unwrap();
        assert_ne!(report.verdict, Verdict::Clean, "{event}");
    }
}

#[test]
fn depth_is_refused_before_the_stack_ends() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [100, 400, 100_000] {
            let bomb = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let section = format!(r#"{{"format_version":"1.2","planned_values":{bomb}}}"#);
            let value = format!(
                r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","change":{{"actions":["update"],"before":{bomb},"after":{{"a":[{bomb}]}},"after_sensitive":{bomb}}}}}]}}"#
            );
            for plan in [section, value] {
                let outcome = check(plan.as_bytes(), Limits::STANDARD);
                assert_eq!(outcome.is_ok(), depth < 500, "{depth}");
            }
        }
    }
}

#[test]
fn numbers_of_any_size_are_compared() {
    for (before, after, verdict) in [
        ("1e999999999", "1e999999999", Verdict::Clean),
        ("1e999999999", "10e999999998", Verdict::Clean),
        ("1e999999999", "1e999999998", Verdict::Drifted),
        ("1e99999999999999999999999", "2", Verdict::Drifted),
        ("-0", "0.000", Verdict::Clean),
    ] {
        let plan = format!(
            r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","change":{{"actions":["update"],"before":{{"n":{before}}},"after":{{"n":{after}}}}}}}]}}"#
        );
        let report = check(plan.as_bytes(), Limits::STANDARD).unwrap();
        assert_eq!(report.verdict, verdict, "{before} {after}");
    }
    let long = "9".repeat(1_000_000);
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","change":{{"actions":["update"],"before":{{"n":{long}}},"after":{{"n":{long}.0}}}}}}]}}"#
    );
    assert_eq!(check(plan.as_bytes(), Limits::STANDARD).unwrap().verdict, Verdict::Clean);
}

#[test]
fn a_large_reordered_set_is_noise_and_quick() {
    let rules = |order: &mut dyn Iterator<Item = usize>| {
        order
            .map(|port| format!(r#"{{"port":{port},"cidr":["10.0.0.0/8"]}}"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    let (forth, back) = (rules(&mut (0..10_000)), rules(&mut (0..10_000).rev()));
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","change":{{"actions":["update"],"before":{{"r":[{forth}]}},"after":{{"r":[{back}]}}}}}}]}}"#
    );
    let report = check(plan.as_bytes(), Limits::STANDARD).unwrap();
    assert_eq!((report.verdict, report.counts.noise["reordered"]), (Verdict::Clean, 1));
}

#[test]
fn missing_and_odd_fields_are_tolerated() {
    for entry in [
        r#"{"change":{}}"#,
        r#"{"address":null,"change":{"actions":null,"before":1,"after":[2]}}"#,
        r#"{"address":"a.b","change":{"actions":["update","x"],"after":{"a":1}}}"#,
        r#"{"address":"a.b","index":-1.5e3,"mode":7,"change":{"actions":{"a":1},"before":null}}"#,
        r#"{"address":"a.b","change":{"actions":["update"],"before":{"a":1},"after":{"a":2},"after_unknown":true,"before_sensitive":"yes","after_sensitive":[true]}}"#,
    ] {
        for section in ["resource_drift", "resource_changes"] {
            let plan = format!(r#"{{"format_version":"1.2","{section}":[{entry},{entry}]}}"#);
            assert!(check(plan.as_bytes(), Limits::STANDARD).is_ok(), "{plan}");
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_never_a_clean_plan(bytes in collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(check(bytes.as_slice(), Limits::STANDARD).is_err());
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0_usize..4_000, byte in any::<u8>()) {
        for case in ["sensitive", "noise", "hostile_text"] {
            let mut plan = plan(case);
            let at = at % plan.len();
            plan[at] = byte;
            drop(check(plan.as_slice(), Limits::STANDARD));
        }
    }
    #[test]
    fn broken_configuration_is_refused_or_edited_and_stays_readable(
        at in 0_usize..2_000,
        byte in prop_oneof![Just(b'{'), Just(b'}'), Just(b'"'), Just(b'\n'), Just(b'='), Just(b'#'), Just(b'\\'), Just(b'$'), any::<u8>()],
    ) {
        for case in ["refusals", "windows_file", "reverted", "shared_block"] {
            let folder = tempfile::tempdir().unwrap();
            let mut config = std::fs::read(cases().join(case).join("config/main.tf")).unwrap();
            let at = at % config.len();
            config[at] = byte;
            std::fs::write(folder.path().join("main.tf"), config).unwrap();
            let mut checked = check_stream(plan(case).as_slice(), Limits::STANDARD).unwrap();
            let configuration = Configuration::load(folder.path()).unwrap();
            for text in propose(&mut checked.report, &configuration, &checked.secrets).values() {
                let text = text.trim_start_matches('\u{feff}');
                prop_assert!(hcl_edit::parser::parse_body(text).is_ok(), "{}", text);
            }
        }
    }
}
