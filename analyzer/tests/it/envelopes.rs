//! What a plan is packed in, and what stands around it, makes no difference.

use driftgate::{
    Limits, ReadError, Report, check, check_file, check_stream,
    formats::{self, Style},
    report::Verdict,
};
use flate2::{Compression, write::GzEncoder};
use std::{
    io::{Cursor, Write as _},
    path::PathBuf,
};

fn plan(case: &str) -> Vec<u8> {
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    std::fs::read(cases.join(case).join("plan.json")).unwrap()
}

fn json(report: &Report) -> String {
    (formats::find("json").unwrap().render)(report, &Style::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn wide(bytes: &[u8], unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    str::from_utf8(bytes).unwrap().encode_utf16().flat_map(unit).collect()
}

/// The input in every form in which it may come.
fn forms(plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let marked = [b"\xef\xbb\xbf", plain].concat();
    let little = wide(&marked, u16::to_le_bytes);
    let big = wide(&marked, u16::to_be_bytes);
    vec![
        ("with a mark", marked),
        ("UTF-16, little end first, without a mark", wide(plain, u16::to_le_bytes)),
        ("UTF-16, big end first, without a mark", wide(plain, u16::to_be_bytes)),
        ("gzip", gzip(plain)),
        ("gzip in two members", [gzip(&plain[..40]), gzip(&plain[40..])].concat()),
        ("gzip of UTF-16", gzip(&little)),
        ("UTF-16, little end first", little),
        ("UTF-16, big end first", big),
    ]
}

#[test]
fn every_form_gives_the_same_report() {
    for case in ["changes_first", "hostile_text", "sensitive"] {
        let plain = plan(case);
        let wanted = json(&check(plain.as_slice(), Limits::STANDARD).unwrap());
        for (form, bytes) in forms(&plain) {
            let streamed = check(bytes.as_slice(), Limits::STANDARD);
            assert_eq!(json(&streamed.unwrap()), wanted, "{case}, {form}");
            let filed = check_file(Cursor::new(bytes), Limits::STANDARD);
            assert_eq!(json(&filed.unwrap().report), wanted, "{case}, {form}, from a file");
        }
    }
}

#[test]
fn every_form_is_an_error_when_it_is_cut() {
    let plain = plan("noise");
    for (form, bytes) in forms(plain.trim_ascii_end()) {
        for length in (0..bytes.len()).step_by(17).chain([bytes.len() - 1]) {
            let outcome = check(&bytes[..length], Limits::STANDARD);
            assert!(outcome.is_err(), "{form} cut at {length}");
        }
    }
}

#[test]
fn damage_is_found_where_it_is() {
    let broken = br#"{"format_version":"1.2","resource_changes":[}"#;
    for (form, bytes) in forms(broken) {
        let error = check(bytes.as_slice(), Limits::STANDARD).unwrap_err().to_string();
        let byte = if form == "with a mark" { "byte 47" } else { "byte 44" };
        assert!(error.contains(byte), "{form}: {error}");
    }
    let lonely: Vec<u8> = [b'{'.into(), b'"'.into(), 0xd800, b'x'.into()]
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    let error = check(lonely.as_slice(), Limits::STANDARD).unwrap_err();
    assert!(matches!(error, ReadError::Io { .. }), "{error}");
    let mut packed = gzip(&plan("noise"));
    let middle = packed.len() / 2;
    packed[middle] ^= 0x55;
    assert!(check(packed.as_slice(), Limits::STANDARD).is_err());
}

#[test]
fn a_small_file_that_holds_a_huge_text_is_refused() {
    let text =
        [br#"{"format_version":"1.2","resource_changes":[""#, &[b'x'; 3_000_000][..]].concat();
    let limits = Limits { entry_bytes_max: 1_000_000, ..Limits::STANDARD };
    let outcome = check(gzip(&text).as_slice(), limits);
    assert!(matches!(outcome, Err(ReadError::TooLarge { .. })), "{outcome:?}");
}

#[test]
fn a_plan_is_found_in_whatever_stands_around_it() {
    let plain = plan("reverted");
    let mut wanted = check(plain.as_slice(), Limits::STANDARD).unwrap();
    wanted.warnings.push(String::new());
    for (before, behind) in [
        ("[command]/bin/terraform show -json p\n", "\n::debug::exitcode: 0\n"),
        ("  + tags = {\n      + a = \"b\" }\n{\"a\": 1} {", "}"),
        ("[1, {\"level\":\"info\"}]\n", "{\"level\":\"info\"}"),
        ("x", ""),
        ("", "\ndone"),
    ] {
        let text = [before.as_bytes(), plain.as_slice(), behind.as_bytes()].concat();
        let mut report = check(text.as_slice(), Limits::STANDARD).unwrap();
        assert!(report.warnings[0].contains("terraform_wrapper"), "{before}");
        report.warnings[0].clear();
        assert_eq!(json(&report), json(&wanted), "{before}");
    }
}

#[test]
fn several_plans_make_one_report_and_the_worst_verdict_wins() {
    let [clean, drifted, targeted] = ["noise", "reverted", "targeted"].map(plan);
    for (between, wrapped) in [(&b""[..], false), (b"\n", false), (b"\nunit b\n", true)] {
        for (documents, verdict) in [
            ([&clean, &clean, &clean], Verdict::Clean),
            ([&clean, &targeted, &clean], Verdict::Inconclusive),
            ([&clean, &targeted, &drifted], Verdict::Drifted),
        ] {
            let text = documents.map(|it| it.trim_ascii_end()).join(between);
            let report = check(text.as_slice(), Limits::STANDARD).unwrap();
            assert_eq!((report.verdict, report.documents), (verdict, 3));
            let named = report.warnings.iter().any(|it| it.contains("terraform_wrapper"));
            assert_eq!(named, wrapped);
            for finding in &report.findings {
                assert_eq!(finding.document, Some(3));
            }
            let filed = check_file(Cursor::new(text), Limits::STANDARD).unwrap();
            assert_eq!(json(&filed.report), json(&report));
        }
    }
}

#[test]
fn each_of_several_plans_may_have_its_sections_in_any_order() {
    let [forth, back] = ["reverted", "changes_first"].map(plan);
    let wanted: usize = [&forth, &back]
        .map(|it| check(it.as_slice(), Limits::STANDARD).unwrap().counts.fates["reverted"])
        .iter()
        .sum();
    for text in [[forth.clone(), back.clone()].concat(), [back, forth].concat()] {
        let piped = check(text.as_slice(), Limits::STANDARD).unwrap();
        let filed = check_file(Cursor::new(text), Limits::STANDARD).unwrap();
        assert_eq!(piped.counts.fates["reverted"], wanted);
        assert_eq!(json(&piped), json(&filed.report));
    }
}

#[test]
fn a_secret_of_one_plan_is_hidden_in_the_others() {
    let entry = |value: &str, mask: &str| {
        format!(
            r#"{{"format_version":"1.2","resource_drift":[{{"address":"a.b","mode":"managed","type":"a","name":"b","change":{{"actions":["update"],"before":{{"x":"old"}},"after":{{"x":"{value}"}},"before_sensitive":{{}},"after_sensitive":{{{mask}}}}}}}]}}"#
        )
    };
    let text = entry("in hunter22 clear", "") + &entry("hunter22", r#""x":true"#);
    let checked = check_stream(text.as_bytes(), Limits::STANDARD).unwrap();
    assert!(!json(&checked.report).contains("hunter22"));
    assert_eq!(checked.secrets.text("hunter22"), "(sensitive)");
}

#[test]
fn what_is_not_only_plans_is_refused() {
    let plain = plan("noise");
    for other in [
        &b"{\"a\":1}"[..],
        b"[]",
        b"{\"format_version\":\"1.0\",\"values\":{}}",
        b"{\"version\":4,\"terraform_version\":\"1\",\"serial\":1}",
        b"{\"format_version\":\"1.2\",\"resource_cha",
    ] {
        assert!(check([plain.as_slice(), other].concat().as_slice(), Limits::STANDARD).is_err());
    }
    let behind =
        [b"text ", plain.as_slice(), b"text {\"format_version\":\"1.2\",\"planned"].concat();
    assert!(matches!(check(behind.as_slice(), Limits::STANDARD), Err(ReadError::CutOff { .. })));
}
