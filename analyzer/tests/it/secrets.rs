//! A secret planted everywhere comes out nowhere.

use driftgate::{
    Checked, Configuration, Limits, check_stream,
    formats::{FORMATS, Style},
    propose,
};
use std::fs;

const SECRET: &str = "Tr0ub4dor&3-\"quoted\"";

/// Puts the secret wherever a plan has a text, masked in one place only.
fn plan() -> String {
    let text = serde_json::to_string(SECRET).unwrap();
    let inside = serde_json::to_string(&format!("url://u:{SECRET}@h")).unwrap();
    let json = serde_json::to_string(&format!("{{\"p\":{text}}}")).unwrap();
    let key = serde_json::to_string(&format!("a_b.c[{text}]")).unwrap();
    let values = |n: u32| {
        format!(
            r#"{{"n":{n},"plain":{text},"inside":[{inside},{n}],"json":{json},"map":{{{text}:{n}}},"deep":[{{"x":{{"y":{text},"n":{n}}}}}],"password":{text}}}"#
        )
    };
    let entry = |before: u32, after: u32| {
        format!(
            r#"{{"address":{key},"previous_address":{key},"mode":"managed","type":"a_b","name":"c","index":{text},"provider_name":"p","change":{{"actions":["update"],"before":{},"after":{},"after_unknown":{{}},"before_sensitive":{{"password":true}},"after_sensitive":{{"password":true}}}},"action_reason":{text}}}"#,
            values(before),
            values(after)
        )
    };
    let unknown_action = entry(1, 2).replace(r#"["update"]"#, &format!("[{text}]"));
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","variables":{{"v":{{"value":{text}}}}},"resource_drift":[{}],"resource_changes":[{},{}],"output_changes":{{"o":{{"actions":["update"],"before":{text},"after":{inside}}}}},"checks":[{{"address":{{"to_display":{key}}},"status":"fail","problems":[{{"message":{inside}}}]}}],"action_invocations":[{{"address":{key},"lifecycle_action_trigger":{{"triggering_resource_address":{key},"action_trigger_event":"x"}}}}],"deferred_changes":[{{"reason":{text},"resource_change":{}}}],"timestamp":"2026-01-02T03:04:05Z"}}"#,
        entry(1, 2),
        entry(2, 1),
        unknown_action.replace("a_b.c[", "a_b.d[").replace("\"name\":\"c\"", "\"name\":\"d\""),
        entry(1, 2).replace("a_b.c[", "a_b.e["),
    )
}

#[test]
fn sensitive_variables_are_hidden_wherever_the_configuration_stands() {
    let entry = r#"{"address":"a_b.c","change":{"actions":["update"],"before":{"n":"was-secret-1"},"after":{"n":"b"},"before_sensitive":{},"after_sensitive":{}}}"#;
    let mut sections = [
        format!(r#""resource_drift":[{entry}]"#),
        r#""variables":{"v":{"value":{"deep":["was-secret-1"]}}}"#.to_owned(),
        r#""configuration":{"root_module":{"variables":{"v":{"sensitive":true}}}}"#.to_owned(),
    ];
    for _ in 0..3 {
        sections.rotate_left(1);
        let plan = format!(r#"{{"format_version":"1.2",{}}}"#, sections.join(","));
        let checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
        assert_eq!(
            checked.report.findings[0].attributes[0].before,
            driftgate::report::Shown::Sensitive
        );
    }
}

#[test]
fn configuration_of_an_action_is_hidden_by_its_mask() {
    let plan = r#"{"format_version":"1.2","resource_changes":[{"address":"a_b.c[\"was-secret-1\"]","change":{"actions":["create"],"before":null,"after":{}}}],"deferred_action_invocations":[{"reason":"x","action_invocation":{"address":"action.a.b","config_values":{"p":["was-secret-1"]},"config_sensitive":{"p":true}}}]}"#;
    let checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
    assert_eq!(checked.secrets.text("was-secret-1"), "(sensitive)");
    assert!(checked.report.planned.iter().any(|it| it.address == r#"a_b.c["(sensitive)"]"#));
}

#[test]
fn what_stands_for_a_secret_in_a_redacted_plan_is_none() {
    let plan = r#"{"plan_format_version":"1.1","resource_drift":[{"address":"a_b.c","change":{"actions":["update"],"before":{"p":"replaced","q":"was replaced"},"after":{"p":"replaced","q":"is replaced"},"before_sensitive":{"p":true},"after_sensitive":{"p":true}}}]}"#;
    let checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
    let [attribute] = checked.report.findings[0].attributes.as_slice() else { panic!() };
    assert_eq!(attribute.after, driftgate::report::Shown::String("is replaced".to_owned()));
}

#[test]
fn no_format_prints_a_planted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let literal = serde_json::to_string(SECRET).unwrap();
    fs::write(
        folder.path().join("main.tf"),
        format!("resource \"a_b\" \"c\" {{\n  plain = {literal}\n  n     = 1\n  # {SECRET}\n}}\n"),
    )
    .unwrap();
    let Checked { mut report, secrets } =
        check_stream(plan().as_bytes(), Limits::STANDARD).unwrap();
    propose(&mut report, &Configuration::load(folder.path()).unwrap(), &secrets);
    assert_eq!(report.counts.drifted, 1);
    for format in FORMATS {
        let printed = (format.render)(&report, &Style { width: 200, ..Style::default() });
        let names_it = printed.contains("a_b");
        assert_eq!(printed.contains("(sensitive)"), names_it, "{} hides it", format.name);
        for part in ["Tr0ub4dor", "quoted"] {
            assert!(!printed.contains(part), "{} prints it:\n{printed}", format.name);
        }
    }
    assert!(!format!("{secrets:?}").contains("Tr0ub4dor"));
}

/// What each reader of a log, a page or a comment might take for its own.
const HOSTILE: &str = "x\n::error::boo\n::set-output name=a::b\r\n##vso[task.complete result=Failed;]y\
    ##[error]z</script><script>alert(1)</script><img src=x>]]>&amp;@everyone `b` | \u{202e}\u{1b}[31m\
    \u{0}\u{7}\u{9b}\u{ffff}--> a\n# TYPE x y\nDRIFTGATE_VERDICT=clean\n<!-- driftgate:other -->";

#[test]
fn no_format_lets_a_text_of_the_plan_act() {
    let text = serde_json::to_string(HOSTILE).unwrap();
    let entry = format!(
        r#"{{"address":{text},"mode":"managed","type":{text},"provider_name":{text},"previous_address":{text},"action_reason":{text},"change":{{"actions":["update"],"before":{{"a":"x"}},"after":{{"a":{text},{text}:[{text}]}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
    );
    let plan = format!(
        r#"{{"format_version":"1.2","terraform_version":{text},"timestamp":{text},"resource_drift":[{entry}],"resource_changes":[{entry}]}}"#
    );
    let mut report = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap().report;
    report.workspace = Some(HOSTILE.to_owned());
    report.warnings.push(HOSTILE.to_owned());
    report.findings[0].owner = Some(HOSTILE.to_owned());
    report.findings[0].dependents = vec![HOSTILE.to_owned()];
    report.violations.push(driftgate::report::Violation {
        policy: HOSTILE.to_owned(),
        address: HOSTILE.to_owned(),
        message: HOSTILE.to_owned(),
        severity: driftgate::rule::Severity::High,
        fingerprint: HOSTILE.to_owned(),
        standing: driftgate::report::Standing::Known { since: HOSTILE.to_owned() },
        place: Some(driftgate::report::Place { file: HOSTILE.to_owned(), line: 1 }),
    });
    for format in FORMATS {
        let style = Style { width: 60, ..Style::default() };
        acts_not(format.name, &(format.render)(&report, &style));
    }
    acts_not("summary", &driftgate::formats::step_summary(&report));
    acts_not("outputs", &driftgate::formats::github_outputs(&report, "delimiter"));
}

fn acts_not(format: &str, printed: &str) {
    let hidden = |c: &char| *c != '\n' && driftgate::formats::is_hidden(*c);
    assert_eq!(printed.chars().find(hidden), None, "{format} holds a hidden character");
    for line in printed.lines() {
        let line = line.trim_start();
        let commands = line.matches("##vso[").count() + line.matches("##[").count();
        let own = usize::from(format == "azure" && line.starts_with("##vso[task."));
        assert_eq!(commands, own, "{format}: {line}");
        let own = format == "github"
            && ["::error ", "::warning ", "::notice "].iter().any(|it| line.starts_with(it));
        assert!(!line.starts_with("::") || own, "{format}: {line}");
        assert!(!line.starts_with("DRIFTGATE_VERDICT=clean"), "{format}: {line}");
        assert!(!line.starts_with("# TYPE x"), "{format}: {line}");
    }
    let scripts = if format == "html" { 2 } else { 0 };
    if ["html", "junit"].contains(&format) {
        assert_eq!(printed.matches("</script>").count(), scripts, "{format}");
        assert!(!printed.contains("<img"), "{format}");
        assert!(format == "html" || !printed.contains("]]>"), "{format}");
    }
    if ["markdown", "summary"].contains(&format) {
        let comments = usize::from(format == "markdown");
        let (outside, _): (Vec<_>, Vec<_>) = printed.lines().partition(|line| !line.contains('`'));
        let outside = outside.join("\n");
        assert_eq!(outside.matches("<!--").count(), comments, "{outside}");
        assert!(!outside.contains("@everyone") && !outside.contains("<script"), "{outside}");
    }
}
