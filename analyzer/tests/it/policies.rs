//! Policies, through the program.

use crate::program::{Workspace, driftgate};
use driftgate::policy::LIBRARY;

/// An entry of `resource_changes`.
fn change(kind: &str, actions: &str, before: &str, after: &str) -> String {
    format!(
        r#"{{"address":"{kind}.x","mode":"managed","type":"{kind}","name":"x","provider_name":"p","change":{{"actions":[{actions}],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{"password":true}},"after_sensitive":{{"password":true}}}}}}"#
    )
}

fn plan(changes: &[String]) -> String {
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","resource_changes":[{}]}}"#,
        changes.join(",")
    )
}

fn policy(keys: &str) -> String {
    format!("[[policy]]\n{keys}\n")
}

fn own(each: &str, deny: &str) -> String {
    policy(&format!("name = \"p\"\neach = \"{each}\"\ndeny = '''{deny}'''"))
}

/// The messages of what is broken, and the exit code.
fn messages(config: &str, plan: &str) -> (i32, Vec<String>) {
    let (code, report) = Workspace::new(config, plan).check(&[]);
    let violations = report["violations"].as_array().unwrap();
    (code, violations.iter().map(|it| it["message"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn an_expression_sees_the_change() {
    let changes = [
        change("a_b", r#""update""#, r#"{"n":1,"t":"x"}"#, r#"{"n":2,"t":"x","l":[1,2]}"#),
        change("c_d", r#""delete","create""#, r#"{"n":1}"#, r#"{"n":1}"#),
        change("e_f", r#""delete""#, r#"{"n":12345678901234567890}"#, "null"),
        change("g_h", r#""no-op""#, r#"{"n":7}"#, r#"{"n":7}"#),
        change("i_j", r#""no-op""#, r#"{"n":8}"#, "null"),
    ];
    let plan = plan(&changes);
    for (deny, broken) in [
        ("type == 'a_b'", 1),
        ("action == 'replace' && actions == ['delete', 'create']", 1),
        ("after == null", 2),
        ("action == 'gone'", 1),
        ("action == 'no-op'", 0),
        ("before.n == 7", 0),
        ("before.n == 12345678901234567890u", 1),
        ("address.startsWith('a_b.') && after.n > before.n && 2 in after.l", 1),
        ("like(type, '*_?') || like(type, '*_d')", 1),
        ("mode == 'managed' && provider == 'p' && module == '' && name == 'x'", 4),
        ("true", 4),
        ("false", 0),
        ("type == 'a_b' ? ['two', 'one', 'two'] : []", 2),
        ("type == 'a_b' ? 'because of ' + after.t : ''", 1),
    ] {
        let (code, messages) = messages(&own("change", deny), &plan);
        assert_eq!(messages.len(), broken, "{deny}: {messages:?}");
        assert_eq!(code, if broken == 0 { 0 } else { 3 }, "{deny}");
    }
    let (_, said) =
        messages(&own("change", "type == 'a_b' ? 'n is ' + string(after.n) : ''"), &plan);
    assert_eq!(said, ["n is 2"]);
    let unchanged = own("change", "action == 'no-op'") + "no-op = true\n";
    assert_eq!(messages(&unchanged, &plan).1.len(), 1);
}

#[test]
fn an_expression_sees_the_plan_and_the_findings() {
    let changes = [
        change("a_b", r#""create""#, "null", "{}"),
        change("a_b", r#""delete""#, "{}", "null").replace("a_b.x", "a_b.y"),
        change("c_d", r#""no-op""#, "{}", "{}"),
    ];
    let plan = plan(&changes);
    for (deny, broken) in [
        ("actions['create'] == 1 && actions['delete'] == 1 && actions['update'] == 0", 1),
        ("types['a_b']['create'] == 1 && types['c_d']['no-op'] == 1", 1),
        ("planned == 2 && resources == 3 && drifted == 0 && reasons == []", 1),
        ("tool_version.startsWith('1.11') && mode == 'normal'", 1),
        ("workspace == 'w'", 1),
    ] {
        let config = "workspace = \"w\"\n".to_owned() + &own("plan", deny);
        assert_eq!(messages(&config, &plan).1.len(), broken, "{deny}");
    }
    let drift = change("a_b", r#""update""#, r#"{"n":1}"#, r#"{"n":2}"#);
    let back = change("a_b", r#""update""#, r#"{"n":2}"#, r#"{"n":1}"#);
    let drifted = format!(
        r#"{{"format_version":"1.2","resource_drift":[{drift}],"resource_changes":[{back}]}}"#
    );
    let fine = own(
        "finding",
        "rule == 'reverted' && severity == 'medium' && attributes.exists(a, a.path == 'n' && a.after == 2)",
    );
    let gate = "[gate]\nfail-on = [\"policy\"]\n".to_owned() + &fine;
    assert_eq!(messages(&gate, &drifted), (3, vec!["it is not allowed".to_owned()]));
    // Drift is worse.
    assert_eq!(messages(&fine, &drifted).0, 2);
    // What is ignored is no finding.
    let ignored = gate + "[[ignore]]\naddress = \"*\"\nowner = \"a\"\nreason = \"b\"\n";
    assert_eq!(messages(&ignored, &drifted), (0, vec![]));
}

#[test]
fn what_cannot_be_evaluated_counts_as_broken() {
    let list: Vec<String> = (0..2_000).map(|it| it.to_string()).collect();
    let after = format!(r#"{{"l":[{}],"t":"secret-text"}}"#, list.join(","));
    let plan = plan(&[change("a_b", r#""create""#, "null", &after)]);
    for (deny, words) in [
        ("after.none == 1", "there is no `none`; ask first"),
        ("after.l.all(a, after.l.all(b, a + b >= 0))", "more than 200000 steps"),
        ("after.l.exists(a, after.l.exists(b, a + b < 0)) || true", "more than 200000 steps"),
        ("after.t + 1 == 2", "cannot be evaluated"),
        ("after.t < 3", "cannot be evaluated"),
        ("love(after.t)", "nothing is called `love`"),
        ("1 / (size(after.l) - 2000) == 1", "divides by zero"),
        ("after.l[5000] == 1", "cannot be evaluated"),
        ("after.l", "it gives a int"),
        ("7", "it gives a int"),
        ("after.t.matches('(')", "cannot be evaluated"),
    ] {
        let (code, messages) = messages(&own("change", deny), &plan);
        assert_eq!(code, 3, "{deny}");
        assert!(messages[0].contains(words), "{deny}: {messages:?}");
        assert!(!messages[0].contains("secret-text"), "{deny}: {messages:?}");
    }
}

#[test]
fn a_wrong_policy_is_an_error_of_the_configuration() {
    let deep = [
        "(".repeat(5_000),
        "[".repeat(500),
        "true ? 1 : ".repeat(500) + "1",
        "x".repeat(20_000),
        "!".repeat(4_000) + "true",
        "-".repeat(4_000) + "1",
        "1+".repeat(2_000) + "1",
        "true&&".repeat(650) + "true",
        "workspace".to_owned() + &".a".repeat(2_000),
    ];
    for text in deep {
        let config = own("plan", &text);
        let (code, _, message) = Workspace::new(&config, "{}").run(&["check", "plan.json"]);
        assert_eq!(code, 1, "{message}");
    }
    for (keys, words) in [
        ("name = \"p\"", "neither `use` nor `deny`"),
        ("use = \"required-tags\"\ndeny = \"true\"\neach = \"plan\"", "both `use` and `deny`"),
        ("deny = \"true\"\neach = \"plan\"", "lacks a `name`"),
        ("deny = \"true\"\nname = \"p\"", "lacks `each`"),
        ("deny = \"true\"\nname = \"p\"\neach = \"day\"", "unknown variant `day`"),
        ("name = \"p\"\neach = \"plan\"\ndeny = \"1 +\"", "`p` is no expression: 1:"),
        (
            "name = \"p\"\neach = \"plan\"\ndeny = \"after == null\"",
            "`p` names `after`; for each plan",
        ),
        ("name = \"p\"\neach = \"change\"\ndeny = \"[1].all(x, y == x)\"", "`p` names `y`"),
        ("use = \"love\"", "`love` is no built-in policy; there are deletions-limited"),
        ("use = \"deletions-limited\"\nparams = { min = 1 }", "`min` is no parameter"),
        ("use = \"deletions-limited\"\nparams = { max = \"x\" }", "should be a whole number"),
        ("use = \"required-tags\"\nparams = { keys = [1] }", "should be a list of texts"),
        ("use = \"required-tags\"\neach = \"plan\"", "says itself what it is asked for"),
    ] {
        let (code, _, message) = Workspace::new(&policy(keys), "{}").run(&["check", "plan.json"]);
        assert_eq!(code, 1, "{keys}");
        assert!(message.contains(words), "{keys}: {message}");
    }
    let twice = own("plan", "true") + &own("plan", "true");
    let (_, _, message) = Workspace::new(&twice, "{}").run(&["check", "plan.json"]);
    assert!(message.contains("[[policy]] 2: another policy is named `p`"), "{message}");
}

#[test]
fn a_policy_never_says_a_secret() {
    let values = r#"{"password":"hunter2-hunter2","copy":"hunter2-hunter2"}"#;
    let plan = plan(&[change("a_b", r#""create""#, "null", values)]);
    for (deny, said) in [
        ("'it is ' + after.password", "it is (sensitive)"),
        ("'it is ' + after.copy", "it is (sensitive)"),
        ("after.password.contains('hunter') ? 'yes' : 'no'", "no"),
        ("'\\u001b[2J' + after.copy", "\u{1b}[2J(sensitive)"),
    ] {
        let workspace = Workspace::new(&own("change", deny), &plan);
        assert_eq!(workspace.check(&[]).1["violations"][0]["message"], said, "{deny}");
        for format in driftgate::formats::FORMATS {
            let (_, out, _) = workspace.run(&["check", "plan.json", "--format", format.name]);
            assert!(!out.contains("hunter2") && !out.contains('\u{1b}'), "{}: {out}", format.name);
        }
    }
}

#[test]
fn accepted_violations_do_not_fail_and_severities_are_weighed() {
    let deny = own("change", "true");
    let plan = plan(&[change("a_b", r#""create""#, "null", "{}")]);
    let workspace = Workspace::new(&deny, &plan);
    assert_eq!(workspace.check(&["--fail-on", "policy=critical"]).0, 0);
    assert_eq!(workspace.check(&["--fail-on", "policy=high"]).0, 3);
    assert_eq!(workspace.check(&["--fail-on", "drift"]).0, 0);
    assert_eq!(workspace.run(&["baseline", "write", "plan.json", "--baseline", "b.json"]).0, 0);
    assert_eq!(workspace.check(&["--baseline", "b.json"]).0, 0);
}

/// A built-in policy, its parameters, a change that it allows and one that it does not: type, verbs
/// and values afterwards.
type Row = (&'static str, &'static str, [&'static str; 3], [&'static str; 3]);

const CREATE: &str = r#""create""#;
const UPDATE: &str = r#""update""#;
const REPLACE: &str = r#""delete","create""#;
const SG: &str = "aws_security_group";
const SG_RULE: &str = "aws_security_group_rule";
const INGRESS_RULE: &str = "aws_vpc_security_group_ingress_rule";
const FIREWALL: &str = "google_compute_firewall";
const NSR: &str = "azurerm_network_security_rule";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("deletions-limited", "{ max = 0 }", ["a_b", UPDATE, "{}"], ["a_b", REPLACE, "{}"]),
    ("no-replacement-of-stateful", "{}",
        ["aws_s3_bucket", UPDATE, "{}"], ["aws_s3_bucket", REPLACE, "{}"]),
    ("no-replacement-of-stateful", "{ types = [\"a_*\"] }",
        ["aws_s3_bucket", REPLACE, "{}"], ["a_b", r#""delete""#, "null"]),
    ("required-tags", "{ keys = [\"team\"] }",
        ["a_b", CREATE, "{}"], ["a_b", CREATE, r#"{"tags":null}"#]),
    ("required-tags", "{ keys = [\"team\"] }",
        ["a_b", CREATE, r#"{"tags":null,"tags_all":{"team":"x"}}"#],
        ["a_b", CREATE, r#"{"labels":{"Team":"x"}}"#]),
    ("no-public-ingress", "{}",
        [SG, UPDATE, r#"{"ingress":[{"cidr_blocks":["10.0.0.0/8"],"ipv6_cidr_blocks":null}]}"#],
        [SG, UPDATE, r#"{"ingress":[{"cidr_blocks":null,"ipv6_cidr_blocks":["::/0"]}]}"#]),
    ("no-public-ingress", "{}",
        [SG_RULE, CREATE, r#"{"type":"egress","cidr_blocks":["0.0.0.0/0"]}"#],
        [SG_RULE, CREATE, r#"{"type":"ingress","cidr_blocks":["0.0.0.0/0"]}"#]),
    ("no-public-ingress", "{}",
        [INGRESS_RULE, CREATE, r#"{"cidr_ipv4":null,"cidr_ipv6":"fd00::/8"}"#],
        [INGRESS_RULE, CREATE, r#"{"cidr_ipv4":"0.0.0.0/0","cidr_ipv6":null}"#]),
    ("no-public-ingress", "{}",
        [FIREWALL, CREATE, r#"{"direction":"EGRESS","source_ranges":["0.0.0.0/0"]}"#],
        [FIREWALL, CREATE, r#"{"source_ranges":["0.0.0.0/0"]}"#]),
    ("no-public-ingress", "{}",
        [NSR, CREATE, r#"{"direction":"Inbound","access":"Deny","source_address_prefix":"*"}"#],
        [NSR, CREATE, r#"{"direction":"Inbound","access":"Allow","source_address_prefix":"*"}"#]),
];

#[test]
fn the_built_in_policies_do_what_they_say() {
    for (name, params, allowed, denied) in ROWS {
        let config = policy(&format!("use = \"{name}\"\nparams = {params}"));
        let ask = |[kind, actions, after]: &[&str; 3]| {
            messages(&config, &plan(&[change(kind, actions, "{}", after)])).1
        };
        assert_eq!(ask(allowed), [""; 0], "{name} {allowed:?}");
        let broken = ask(denied);
        assert_eq!(broken.len(), 1, "{name} {denied:?}: {broken:?}");
        assert!(!broken[0].contains("cannot be evaluated"), "{name}: {broken:?}");
    }
    let drift = change("a_b", r#""update""#, r#"{"n":1}"#, r#"{"n":2}"#);
    let drifted = format!(r#"{{"format_version":"1.2","resource_drift":[{drift}]}}"#);
    for (params, broken) in [
        ("{}", 0),
        ("{ types = [\"a_*\"] }", 1),
        ("{ addresses = [\"*.x\"] }", 1),
        ("{ addresses = [\"*.y\"] }", 0),
    ] {
        let config = policy(&format!("use = \"no-drift-on-protected\"\nparams = {params}"));
        assert_eq!(messages(&config, &drifted).1.len(), broken, "{params}");
    }
    let tried: Vec<&str> = ROWS.iter().map(|(name, ..)| *name).collect();
    for built_in in LIBRARY.iter().filter(|it| it.name != "no-drift-on-protected") {
        assert!(tried.contains(&built_in.name), "{} is not tried", built_in.name);
    }
}

#[test]
fn the_built_in_policies_are_listed() {
    let out = String::from_utf8(driftgate(&["policies"], b"").stdout).unwrap();
    for built_in in LIBRARY {
        assert!(out.contains(&format!("{} (each ", built_in.name)), "{out}");
    }
    assert!(LIBRARY.is_sorted_by(|left, right| left.name < right.name));
}

#[test]
fn the_documentation_names_every_variable_and_built_in_policy() {
    use driftgate::config::Each;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/driftgate.md");
    let page = std::fs::read_to_string(path).unwrap();
    let variables = [Each::Change, Each::Finding, Each::Plan].map(Each::variables).concat();
    for word in variables.into_iter().chain(LIBRARY.iter().map(|it| it.name)) {
        assert!(page.contains(&format!("`{word}`")), "docs/driftgate.md does not name {word}");
    }
}
