//! The program: arguments, streams and exit codes.

use crate::program::{case, driftgate};
use std::{fs, path::Path};

fn check(name: &str, arguments: &[&str]) -> i32 {
    let plan = case(name).join("plan.json");
    let mut all = vec!["check", plan.to_str().unwrap()];
    all.extend(arguments);
    driftgate(&all, b"").status.code().unwrap()
}

#[test]
fn exit_codes_are_as_promised() {
    for (name, arguments, code) in [
        ("noise", &[][..], 0),
        ("planned_details", &[][..], 0),
        ("planned_details", &["--fail-on", "pending"], 3),
        ("planned_details", &["--fail-on", "drift,pending"], 3),
        ("planned_details", &["--fail-on", "drift", "--fail-on", "pending"], 3),
        ("planned_details", &["--fail-on", "pending", "--exit-zero"], 0),
        ("reverted", &[][..], 2),
        ("reverted", &["--fail-on", "pending"], 0),
        ("reverted", &["--fail-on", "drift=medium"], 2),
        ("reverted", &["--fail-on", "drift=high"], 0),
        ("reverted", &["--fail-on", "severity=medium"], 2),
        ("reverted", &["--fail-on", "severity=high,policy"], 0),
        ("reverted", &["--fail-on", "policy"], 0),
        ("reverted", &["--exit-zero"], 0),
        ("reverted", &["--max-age", "1m"], 2),
        ("absorbed", &[][..], 2),
        ("absorbed", &["--fail-on", "actionable"], 0),
        ("one_way", &["--fail-on", "actionable=critical"], 2),
        ("targeted", &[][..], 4),
        ("targeted", &["--fail-on", "inconclusive"], 4),
        ("targeted", &["--fail-on", "policy"], 4),
        ("targeted", &["--allow-inconclusive"], 0),
        ("targeted", &["--allow-inconclusive", "--fail-on", "inconclusive"], 4),
        ("targeted", &["--exit-zero"], 0),
        ("errored", &[][..], 2),
        ("errored", &["--fail-on", "actionable"], 2),
        ("errored", &["--fail-on", "pending"], 4),
        ("old_version", &["--fail-on", "pending"], 4),
        ("noise", &["--max-age", "36500d"], 0),
        ("redacted_without_drift", &[][..], 4),
        ("stream_clean", &[][..], 0),
        ("stream_cut", &[][..], 2),
        ("stream_errored", &[][..], 4),
        ("stream_targeted", &[][..], 4),
        ("stream_without_summary", &[][..], 4),
        ("several_plans", &[][..], 2),
        ("noise", &["--fail-on", "sometimes"], 1),
        ("noise", &["--fail-on", "pending=high"], 1),
        ("noise", &["--max-age", "soon"], 1),
        ("noise", &["--config", "there_is_no_such_file.toml"], 1),
        ("noise", &["--format", "sonnet"], 1),
        ("there_is_no_such_case", &[][..], 1),
        ("there_is_no_such_case", &["--exit-zero"], 1),
    ] {
        assert_eq!(check(name, arguments), code, "{name} {arguments:?}");
    }
}

#[test]
fn standard_input_is_read_and_the_report_goes_where_it_should() {
    let plan = fs::read(case("reverted").join("plan.json")).unwrap();
    let piped = driftgate(&["check", "-", "--format", "json"], &plan);
    assert_eq!(piped.status.code(), Some(2));
    assert!(piped.stderr.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let written =
        driftgate(&["check", "-", "--format", "json", "--output", file.to_str().unwrap()], &plan);
    assert_eq!(written.status.code(), Some(2));
    assert!(written.stdout.is_empty());
    assert_eq!(fs::read(file).unwrap(), piped.stdout);
}

#[test]
fn colours_come_when_asked_for_and_never_into_a_file() {
    let plan = case("reverted").join("plan.json");
    let run = |color| driftgate(&["check", plan.to_str().unwrap(), "--color", color], b"").stdout;
    assert!(run("always").contains(&0x1b));
    assert!(!run("never").contains(&0x1b));
    assert!(!run("auto").contains(&0x1b));
}

#[test]
fn each_wrong_input_gets_its_own_advice() {
    let utf16: Vec<u8> = "\u{feff}{]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (input, words) in [
        (&b""[..], "empty"),
        (b" \n ", "empty"),
        (b"PK\x03\x04rest", "terraform show -json"),
        (b"\x1f\x8b\x08rest", "byte 0 of the unpacked text"),
        (&utf16, "byte 1 of the text as UTF-8"),
        (b"Terraform will perform the following actions", "byte 0"),
        (b"{\"format_version\":\"1.2\",\"resource_changes\":[{]}", "byte 45"),
        (b"{\"format_version\":\"1.2\",\"resource_changes\":[{\"addr", "cut off at byte 50"),
        (b"{\"format_version\":\"2.0\",\"resource_changes\":[]}", "`2.0`"),
        (b"{\"format_version\":\"1.0\"}", "state in JSON"),
        (b"{\"format_version\":\"1.0\",\"values\":{}}", "state in JSON"),
        (b"{\"version\":4,\"terraform_version\":\"1.5.0\",\"serial\":1,\"lineage\":\"x\",\"resources\":[]}", "raw state"),
        (b"{\"version\":3,\"terraform_version\":\"1.9.0\",\"backend\":{\"type\":\"s3\"}}", ".terraform/terraform.tfstate"),
        (b"{\"meta\":{\"key_provider.pbkdf2.a\":\"eA==\"},\"encrypted_data\":\"eA==\",\"encryption_version\":\"v0\"}", "a plan (key_provider.pbkdf2.a), encrypted"),
        (b"{\"serial\":7,\"lineage\":\"x-y\",\"meta\":{},\"encrypted_data\":\"eA==\",\"encryption_version\":\"v0\"}", "a state (serial 7, lineage x-y), encrypted"),
        (b"{\"serial\":1,\"lineage\":\"x\",\"meta\":{},\"encrypted_data\":\"eA==\",\"encryption_version\":\"v0\"}", "tofu show -json"),
        (b"{\"type\":\"version\",\"@level\":\"info\"}", "an event of"),
        (b"{\"@level\":\"info\",\"type\":\"version\"}\n{\"format_version\":\"1.2\",\"resource_changes\":[]}", "more than one"),
        (b"{\"format_version\":\"1.0\",\"provider_schemas\":{}}", "schema"),
        (b"{\"hello\":\"world\"}", "not a plan"),
        (b"[1,2]", "byte 0"),
        (b"{\"format_version\":\"1.2\",\"resource_changes\":[]}{\"a\":1}", "more than one"),
        (b"{\"format_version\":\"1.2\",\"resource_changes\":[1]}", "resource_changes[0]"),
        (b"{\"format_version\":\"1.2\",\"resource_changes\":\"\xff\"}", "UTF-8, at byte 44"),
    ] {
        let output = driftgate(&["check", "-"], input);
        let message = String::from_utf8(output.stderr).unwrap();
        // Of these it is known what they are, and that nothing can be known of them.
        let is_plan = ["encrypted", "cut off"].iter().any(|it| message.contains(it));
        assert_eq!(output.status.code(), Some(if is_plan { 4 } else { 1 }), "{message}");
        assert_eq!(output.stdout.starts_with(b"inconclusive"), is_plan, "{message}");
        assert!(message.contains(words), "{words}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(message.matches(words).count(), 1, "said twice: {message}");
    }
}

#[test]
fn no_message_holds_a_control_character() {
    let plan = |kind: &str| {
        let change = |before: &str, after: &str| {
            format!(
                r#"{{"address":"a_b.c","mode":"managed","type":"{kind}","name":"c","change":{{"actions":["update"],"before":{{"x\u001b[2J":"{before}"}},"after":{{"x\u001b[2J":"{after}"}},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
            )
        };
        format!(
            r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
            change("1", "2"),
            change("2", "1")
        )
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("main.tf"),
        "resource \"a_b\" \"c\" {\n  dynamic \"x\\u001b[2J\" {\n  }\n}\n",
    )
    .unwrap();
    let config = ["--config-dir", folder.path().to_str().unwrap()];
    let cut = br#"{"format_version":"1.2","\u001b[2J\u202e":[1"#;
    for (arguments, input) in [
        (&["check", "-"][..], plan("a_b").as_bytes()),
        (&["check", "-", config[0], config[1]], plan("a_b").as_bytes()),
        (&["propose", "-", config[0], config[1]], plan("a_b").as_bytes()),
        (&["check", "-"], cut),
    ] {
        let output = driftgate(arguments, input);
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(printed.contains("[2J"), "{arguments:?}: {printed}");
        let hidden = |c: char| c != '\n' && driftgate::formats::is_hidden(c);
        assert!(!printed.contains(hidden), "{arguments:?}: {printed:?}");
    }
}

#[test]
fn a_byte_order_mark_and_text_around_the_plan_are_read() {
    let plan = fs::read(case("noise").join("plan.json")).unwrap();
    let marked = [b"\xef\xbb\xbf", plan.as_slice()].concat();
    assert_eq!(driftgate(&["check", "-"], &marked).status.code(), Some(0));
    let wrapped =
        [b"[command]/bin/terraform show -json p\n", plan.as_slice(), b"\n::debug::exitcode: 0\n"]
            .concat();
    let output = driftgate(&["check", "-"], &wrapped);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("terraform_wrapper"));
}

#[test]
fn an_entry_beyond_the_limit_is_an_error() {
    let text = "x".repeat(2_000_000);
    let plan = format!(
        r#"{{"format_version":"1.2","resource_changes":[{{"address":"a.b","change":{{"actions":["no-op"],"before":{{"t":"{text}"}},"after":{{"t":"{text}"}}}}}}]}}"#
    );
    assert_eq!(driftgate(&["check", "-"], plan.as_bytes()).status.code(), Some(0));
    let output = driftgate(&["check", "-", "--max-entry", "1000000"], plan.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--max-entry"));
}

#[test]
fn there_is_a_manual_page_for_the_program_and_each_command() {
    let page = |arguments: &[&str]| {
        let output = driftgate(arguments, b"");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let program = page(&["man"]);
    assert!(program.contains(".TH driftgate 1") && program.contains("Exit codes"), "{program}");
    for command in ["check", "fleet", "propose", "completion", "man"] {
        assert!(program.contains(&format!("driftgate\\-{command}(1)")), "{command}: {program}");
        let page = page(&["man", command]);
        assert!(page.contains(&format!(".TH driftgate-{command} 1")), "{page}");
        assert!(page.contains(".SH OPTIONS"), "{page}");
    }
    assert_eq!(driftgate(&["man", "love"], b"").status.code(), Some(1));
}

#[test]
fn words_are_explained_and_completion_is_printed() {
    let all = driftgate(&["explain"], b"").stdout;
    let one = driftgate(&["explain", "conflict"], b"").stdout;
    assert!(all.len() > 10 * one.len());
    assert!(String::from_utf8(one).unwrap().contains("neither the old nor the real value"));
    assert_eq!(driftgate(&["explain", "love"], b"").status.code(), Some(1));
    for shell in ["bash", "zsh", "fish"] {
        let script = driftgate(&["completion", shell], b"");
        assert!(String::from_utf8(script.stdout).unwrap().contains("fail-on"));
    }
    assert!(
        String::from_utf8(driftgate(&["--version"], b"").stdout).unwrap().starts_with("driftgate ")
    );
}

#[test]
fn propose_prints_the_patch_or_writes_it() {
    let plan = case("reverted").join("plan.json");
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.tf");
    fs::copy(case("reverted").join("config/main.tf"), &main).unwrap();
    let run = |write: &[&str]| {
        let root = folder.path().to_str().unwrap();
        let mut all = vec!["propose", plan.to_str().unwrap(), "--config-dir", root];
        all.extend(write);
        driftgate(&all, b"")
    };
    let patch = String::from_utf8(run(&[]).stdout).unwrap();
    assert!(patch.starts_with("--- a/main.tf\n+++ b/main.tf\n@@ "), "{patch}");
    let before = fs::read_to_string(&main).unwrap();
    let output = run(&["--write"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("edited main.tf"));
    let after = fs::read_to_string(&main).unwrap();
    assert_eq!(after, before.replace("size        = 3", "size        = 5").replace("100m", "250m"));
    // Done is done: a second run has nothing left to write.
    assert!(String::from_utf8(run(&["--write"]).stderr).unwrap().is_empty());
    assert_eq!(names(folder.path()), ["main.tf"]);
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}
