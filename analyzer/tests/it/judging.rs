//! What the configuration makes of a plan, through the program.

use crate::program::{Workspace, case, driftgate};
use std::fs;

/// Runs `driftgate` with a configuration file of its own.
fn run(config: &str, arguments: &[&str]) -> (i32, serde_json::Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("driftgate.toml");
    fs::write(&file, config).unwrap();
    let mut all = arguments.to_vec();
    all.extend(["--format", "json", "--config", file.to_str().unwrap()]);
    let output = driftgate(&all, b"");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), report, String::from_utf8(output.stderr).unwrap())
}

fn plan(name: &str) -> String {
    case(name).join("plan.json").to_str().unwrap().to_owned()
}

#[test]
fn the_configuration_decides_and_options_win() {
    let reverted = plan("reverted");
    for (config, arguments, code) in [
        ("[gate]\nfail-on = [\"pending\"]\n", &[][..], 0),
        ("[gate]\nfail-on = [\"pending\"]\n", &["--fail-on", "drift"], 2),
        ("[gate]\nexit-zero = true\n", &[], 0),
        ("[severity]\nreverted = \"low\"\n[gate]\nfail-on = [\"drift=medium\"]\n", &[], 0),
        ("[severity]\nreverted = \"high\"\n[gate]\nfail-on = [\"drift=high\"]\n", &[], 2),
        (
            "[[override]]\nprovider = \"*\"\nseverity = \"info\"\n[gate]\nfail-on = [\"drift=low\"]\n",
            &[],
            0,
        ),
        ("[gate]\nfail-on = [\"sometimes\"]\n", &[], 1),
    ] {
        let mut all = vec!["check", reverted.as_str()];
        all.extend(arguments);
        let (found, _, message) = run(config, &all);
        assert_eq!(found, code, "{config} {arguments:?} {message}");
    }
}

#[test]
fn the_file_of_the_working_directory_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("driftgate.toml"), "[gate]\nexit-zero = true\n").unwrap();
    let reverted = plan("reverted");
    let code = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_driftgate"));
        command.current_dir(folder.path()).args(["check", &reverted]).args(arguments);
        command.output().unwrap().status.code()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--no-config"]), Some(2));
}

#[test]
fn a_fault_of_the_configuration_has_its_file_and_line() {
    let (code, _, message) = run("\n[gate]\nfail_on = []\u{1b}\n", &["check", &plan("noise")]);
    assert_eq!(code, 1);
    assert!(message.contains("driftgate.toml:3:"), "{message}");
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[test]
fn an_old_plan_proves_nothing() {
    let age =
        |timestamp: &str| format!(r#"{{"format_version":"1.2","resource_changes":[]{timestamp}}}"#);
    let old = age(r#","timestamp":"2020-01-01T00:00:00Z""#);
    let check = |plan: &str, max: &str| {
        let output = driftgate(&["check", "-", "--no-config", "--max-age", max], plan.as_bytes());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = check(&old, "24h");
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("older than --max-age"), "{text}");
    assert_eq!(check(&old, "36500d").0, Some(0));
    // A pipe has no age, and the plan does not tell its own.
    assert_eq!(check(&age(""), "36500d").0, Some(4));
    // A file has one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    fs::write(&file, age("")).unwrap();
    let output = driftgate(&["check", file.to_str().unwrap(), "--max-age", "1h"], b"");
    assert_eq!(output.status.code(), Some(0));
}

/// A plan with drift of two attributes of one object, one of them reverted and one a conflict, and
/// with an object that is gone.
fn two_findings() -> String {
    let entry = |address: &str, actions: &str, before: &str, after: &str| {
        let (kind, name) = address.rsplit_once("b.").unwrap();
        format!(
            r#"{{"address":"{address}","module_address":"{}","mode":"managed","type":"{}b","name":"{name}","provider_name":"registry.example/acme/cloud","change":{{"actions":["{actions}"],"before":{before},"after":{after},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#,
            kind.trim_end_matches(".a_"),
            "a_",
        )
    };
    let web = "module.net.a_b.web";
    let old = r#"{"size":1,"tags":{"team":"red","env":"x"}}"#;
    let real = r#"{"size":2,"tags":{"team":"blue","env":"x"}}"#;
    let wanted = r#"{"size":3,"tags":{"team":"red","env":"x"}}"#;
    format!(
        r#"{{"format_version":"1.2","resource_drift":[{},{}],"resource_changes":[{},{}]}}"#,
        entry(web, "update", old, real),
        entry("module.db.a_b.gone", "delete", old, "null"),
        entry(web, "update", real, wanted),
        entry("module.db.a_b.gone", "create", "null", old),
    )
}

fn ignore(keys: &str) -> String {
    format!("[[ignore]]\n{keys}\nowner = \"@net\"\nreason = \"because\"\n")
}

#[test]
fn an_ignore_rule_takes_out_what_all_its_keys_hit() {
    let both = "module.db.a_b.gone module.net.a_b.web";
    for (keys, left) in [
        (r#"address = "*""#, ""),
        (r#"address = "module.net""#, "module.db.a_b.gone"),
        (r#"module = "module.db""#, "module.net.a_b.web"),
        (r#"type = ["x", "a_*"]"#, ""),
        (r#"type = "x""#, both),
        (r#"provider = "cloud""#, ""),
        (r#"provider = "acme/*""#, ""),
        (r#"provider = "example/acme/cloud""#, both),
        (r#"rule = "deleted-outside""#, "module.net.a_b.web"),
        (r#"attribute = ["size", "tags"]"#, "module.db.a_b.gone"),
        (r#"attribute = "size""#, both),
        ("address = \"module.net\"\nattribute = \"**\"", "module.db.a_b.gone"),
        ("address = \"module.net\"\nrule = \"reverted\"", both),
        (r#"before = "*""#, "module.db.a_b.gone"),
        (r#"after = "blue""#, both),
    ] {
        let workspace = Workspace::new(&ignore(keys), &two_findings());
        let (code, report) = workspace.check(&[]);
        let addresses: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["address"].as_str().unwrap())
            .collect();
        assert_eq!(addresses.join(" "), left, "{keys}");
        assert_eq!(code, if left.is_empty() { 0 } else { 2 }, "{keys}");
        assert_eq!(report["counts"]["drifted"], addresses.len(), "{keys}");
        let used = report["ignores"][0]["state"] == "used";
        assert_eq!(used, left != both || keys.contains("size") || keys.contains("blue"), "{keys}");
    }
}

#[test]
fn what_is_left_of_a_finding_is_judged_anew() {
    let web = |report: &serde_json::Value| report["findings"][1].clone();
    let whole = web(&Workspace::new("", &two_findings()).check(&[]).1);
    let rules = ignore(r#"attribute = "size""#);
    let (_, report) = Workspace::new(&rules, &two_findings()).check(&[]);
    let rest = web(&report);
    assert_eq!((&whole["rule"], &whole["severity"]), (&"conflict".into(), &"high".into()));
    assert_eq!((&rest["rule"], &rest["severity"]), (&"reverted".into(), &"medium".into()));
    assert_ne!(whole["fingerprint"], rest["fingerprint"]);
    assert_eq!(rest["attributes"].as_array().unwrap().len(), 1);
    let taken = &report["suppressed"][0];
    assert!(taken.to_string().contains("because"), "{taken}");
    assert!(!report["findings"].to_string().contains("\"size\""));
}

#[test]
fn an_expired_rule_hits_and_does_nothing_and_an_idle_one_is_told() {
    let rules = ignore("address = \"*\"\nexpires = 2020-01-31") + &ignore("type = \"none\"");
    let workspace = Workspace::new(&rules, &two_findings());
    let (code, report) = workspace.check(&[]);
    assert_eq!(code, 2);
    let states: Vec<String> = report["ignores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| format!("{} {}", rule["state"].as_str().unwrap(), rule["hits"]))
        .collect();
    assert_eq!(states, ["expired 2", "unused 0"]);
}

#[test]
fn a_dry_run_shows_what_each_rule_hits() {
    let rules = ignore("name = \"sizes\"\nattribute = \"size\"")
        + &ignore("name = \"db\"\nmodule = \"module.db\"\nexpires = \"2020-01-31\"")
        + &ignore("name = \"idle\"\ntype = \"none\"");
    let (code, out, _) = Workspace::new(&rules, &two_findings()).run(&["ignores", "plan.json"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "sizes (used): because (@net)\n    module.net.a_b.web: size\n\
         db (expired, expires 2020-01-31): because (@net)\n    module.db.a_b.gone: as a whole\n\
         idle (unused): because (@net)\n"
    );
}

#[test]
fn noise_counts_as_drift_when_asked() {
    let plan = r#"{"format_version":"1.2","resource_drift":[{"address":"a_b.c","mode":"managed","type":"a_b","name":"c","change":{"actions":["update"],"before":{"x":null},"after":{"x":""},"before_sensitive":{},"after_sensitive":{}}}],"resource_changes":[{"address":"a_b.c","mode":"managed","type":"a_b","name":"c","change":{"actions":["update"],"before":{"x":""},"after":{"x":null},"after_unknown":{},"before_sensitive":{},"after_sensitive":{}}}]}"#;
    assert_eq!(Workspace::new("", plan).check(&[]).0, 0);
    let (code, report) = Workspace::new("[noise]\nas-drift = [\"null-empty\"]\n", plan).check(&[]);
    assert_eq!(code, 2);
    assert_eq!(report["findings"][0]["rule"], "reverted");
    assert_eq!(report["counts"]["noise"], serde_json::json!({}));
}

#[test]
fn only_what_the_baseline_does_not_know_fails() {
    let workspace = Workspace::new("", &two_findings());
    let known = ["--baseline", "known.json"];
    let (code, _, message) = workspace.run(&["check", "plan.json", "--baseline", "known.json"]);
    assert_eq!(code, 1);
    assert!(message.contains("driftgate baseline write"), "{message}");
    let write = ["baseline", "write", "plan.json", "--baseline", "known.json"];
    let (code, _, message) = workspace.run(&write);
    assert_eq!(code, 0, "{message}");
    assert!(message.contains("2 accepted, 0 of them known before; 0 resolved"), "{message}");
    let (code, report) = workspace.check(&known);
    assert_eq!(code, 0);
    assert_eq!(report["findings"][0]["standing"]["state"], "known");
    assert_eq!(report["verdict"], "drifted");
    // Another attribute of the same object is new.
    let plan = two_findings();
    workspace.write("plan.json", &plan.replace(r#""env":"x""#, r#""env":"y""#));
    assert_eq!(workspace.check(&known).0, 0);
    let more = plan.replacen(r#""env":"x""#, r#""env":"y""#, 1);
    workspace.write("plan.json", &more);
    assert_eq!(workspace.check(&known).0, 2);
    // What is gone is resolved, unless the plan cannot tell.
    workspace.write("plan.json", r#"{"format_version":"1.2","resource_changes":[]}"#);
    let (code, report) = workspace.check(&known);
    assert_eq!((code, report["resolved"].as_array().unwrap().len()), (0, 2));
    let part = r#"{"format_version":"1.2","errored":true,"resource_changes":[]}"#;
    workspace.write("plan.json", part);
    let (code, report) = workspace.check(&known);
    assert_eq!((code, report["resolved"].as_array().unwrap().len()), (4, 0));
    // Nor does writing it anew forget what the plan does not show.
    let before = workspace.read("known.json");
    assert_eq!(workspace.run(&write).0, 0);
    assert_eq!(workspace.read("known.json"), before);
}

#[test]
fn an_accepted_finding_stays_known_when_it_moves_and_not_when_it_expires() {
    let plan = |address: &str, from: &str| {
        let entry = |actions: &str, before: u32, after: u32| {
            format!(
                r#"{{"address":"{address}",{from}"mode":"managed","type":"a_b","name":"c","change":{{"actions":["{actions}"],"before":{{"n":{before}}},"after":{{"n":{after}}},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
            )
        };
        format!(
            r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
            entry("update", 1, 2),
            entry("update", 2, 1)
        )
    };
    let workspace = Workspace::new("[baseline]\nfile = \"known.json\"\n", &plan("a_b.c[3]", ""));
    assert_eq!(workspace.run(&["baseline", "write", "plan.json", "--reason", "fine"]).0, 0);
    for (address, from, code) in [
        ("a_b.c[2]", "", 0),
        ("module.m.a_b.c", r#""previous_address":"a_b.c[3]","#, 0),
        ("module.m.a_b.c", "", 2),
    ] {
        workspace.write("plan.json", &plan(address, from));
        assert_eq!(workspace.check(&[]).0, code, "{address} {from}");
    }
    workspace.write("plan.json", &plan("a_b.c[2]", ""));
    let again = ["baseline", "write", "plan.json", "--expires", "2020-01-31"];
    assert_eq!(workspace.run(&again).0, 0);
    assert!(workspace.read("known.json").contains("\"fine\""));
    assert_eq!(workspace.check(&[]).0, 2);
}

#[test]
fn two_alike_take_two_entries() {
    let entry = |index: u32| {
        format!(
            r#"{{"address":"a_b.c[{index}]","mode":"managed","type":"a_b","name":"c","index":{index},"change":{{"actions":["update"],"before":{{"n":1}},"after":{{"n":2}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#
        )
    };
    let plan = |count| {
        let entries: Vec<String> = (0..count).map(entry).collect();
        format!(r#"{{"format_version":"1.2","resource_drift":[{}]}}"#, entries.join(","))
    };
    let workspace = Workspace::new("[baseline]\nfile = \"known.json\"\n", &plan(2));
    assert_eq!(workspace.run(&["baseline", "write", "plan.json"]).0, 0);
    assert_eq!(workspace.check(&[]).0, 0);
    workspace.write("plan.json", &plan(3));
    assert_eq!(workspace.check(&[]).0, 2);
    workspace.write("plan.json", &plan(1));
    let (code, report) = workspace.check(&[]);
    assert_eq!((code, report["resolved"].as_array().unwrap().len()), (0, 1));
}

#[test]
fn an_alert_waits_for_the_runs_that_it_was_asked_to_wait_for() {
    let config = "[history]\nfile = \"runs.json\"\nmin-consecutive = 3\n";
    let workspace = Workspace::new(config, &two_findings());
    assert_eq!(workspace.check(&[]).0, 0);
    let (code, report) = workspace.check(&[]);
    assert_eq!((code, &report["findings"][0]["standing"]["state"]), (0, &"awaiting".into()));
    // A run that proves nothing forgets nothing.
    let plan = two_findings();
    workspace
        .write("plan.json", r#"{"format_version":"1.2","errored":true,"resource_changes":[]}"#);
    assert_eq!(workspace.check(&[]).0, 4);
    workspace.write("plan.json", &plan);
    assert_eq!(workspace.check(&[]).0, 2);
    // One that sees it no more does.
    workspace.write("plan.json", r#"{"format_version":"1.2","resource_changes":[]}"#);
    assert_eq!(workspace.check(&[]).0, 0);
    workspace.write("plan.json", &plan);
    assert_eq!(workspace.check(&[]).0, 0);
    let names: Vec<_> = fs::read_dir(workspace.path()).unwrap().collect();
    assert_eq!(names.len(), 3);
    let (code, _, message) =
        Workspace::new("", &plan).run(&["check", "plan.json", "--min-consecutive", "2"]);
    assert_eq!(code, 1);
    assert!(message.contains("--history"), "{message}");
}

#[test]
fn a_kept_file_that_is_not_ours_is_an_error_and_stays() {
    for (text, words) in [
        ("", "cut off"),
        (r#"{"schema_version":1,"work"#, "cut off"),
        (r#"{"hello":"world"}"#, "not written by driftgate"),
        ("hello", "not written by driftgate"),
        (r#"{"schema_version":2,"workspace":null,"entries":[],"runs_in_a_row":{}}"#, ""),
        (r#"{"schema_version":1,"workspace":"other","KEY":VALUE}"#, "workspace `other`"),
        (r#"{"schema_version":9,"workspace":null,"KEY":VALUE}"#, "version 9"),
    ] {
        for (option, key, value) in
            [("--baseline", "entries", "[]"), ("--history", "runs_in_a_row", "{}")]
        {
            let text = text.replace("KEY", key).replace("VALUE", value);
            let workspace = Workspace::new("workspace = \"mine\"\n", &two_findings());
            workspace.write("kept.json", &text);
            let (code, out, message) = workspace.run(&["check", "plan.json", option, "kept.json"]);
            assert_eq!((code, out.as_str()), (1, ""), "{text}");
            assert!(message.contains(words) && message.contains("kept.json"), "{message}");
            assert_eq!(workspace.read("kept.json"), text);
        }
    }
}

#[test]
fn a_finding_is_explained_by_its_address_or_fingerprint() {
    let config = "[[override]]\ntype = \"a_*\"\nowner = \"@net\"\n[severity]\nconflict = \"low\"\n"
        .to_owned()
        + &ignore("name = \"old\"\nmodule = \"module.net\"\nexpires = \"2020-01-31\"")
        + &ignore("name = \"db\"\nmodule = \"module.db\"")
        + "[[policy]]\nname = \"no-creation\"\neach = \"change\"\ndeny = \"action == 'create'\"\n";
    let workspace = Workspace::new(&config, &two_findings());
    let (_, report) = workspace.check(&[]);
    let fingerprint = report["findings"][0]["fingerprint"].as_str().unwrap().to_owned();
    let explain = |what: &str| workspace.run(&["explain", what, "--plan", "plan.json"]);
    let (code, by_address, _) = explain("module.net.a_b.web");
    assert_eq!((code, &by_address), (0, &explain(&fingerprint).1));
    assert_eq!(by_address, explain(&fingerprint[..8]).1);
    for words in [
        "last known: 1",
        "real:       2",
        "wanted:     3",
        "rule: conflict: ",
        "severity: low: [severity] of the configuration",
        "owner: @net",
        "standing: new",
        "the rule `old` expired on 2020-01-31",
        "what to do: ",
        "terraform apply",
    ] {
        assert!(by_address.contains(words), "{words}: {by_address}");
    }
    let (_, ignored, _) = explain("module.db.a_b.gone");
    assert!(ignored.contains("it was deleted outside"), "{ignored}");
    assert!(ignored.contains("ignored: by the rule `db`: because"), "{ignored}");
    assert!(explain("no-creation").1.contains("breaks the policy `no-creation`"));
    assert_eq!(explain("module.net.a_b.nobody").0, 1);
    // A word stays a word.
    assert!(explain("conflict").1.contains("(outcomes)"));
    assert_eq!(workspace.run(&["explain", "module.net.a_b.web"]).0, 1);
}

#[test]
fn nothing_that_judging_prints_or_keeps_holds_a_secret() {
    const SECRET: &str = "hunter2-hunter2";
    let values = |n: u32| {
        format!(r#"{{"n":{n},"copy":"x {SECRET} {n}","{SECRET}":{n},"password":"{SECRET}"}}"#)
    };
    let entry = |before: u32, after: u32| {
        format!(
            r#"{{"address":"a_b.c[\"{SECRET}\u001b[2J\"]","mode":"managed","type":"a_b","name":"c","index":"{SECRET}","change":{{"actions":["update"],"before":{},"after":{},"after_unknown":{{}},"before_sensitive":{{"password":true}},"after_sensitive":{{"password":true}}}}}}"#,
            values(before),
            values(after),
        )
    };
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(1, 2),
        entry(2, 1)
    );
    let config = format!(
        "workspace = \"w\"\n[[override]]\ntype = \"*\"\nowner = \"{SECRET}\"\n\
         [[ignore]]\nname = \"{SECRET}\"\nattribute = \"n\"\nowner = \"{SECRET}\"\n\
         reason = \"{SECRET}\\u001b[2J\"\n\
         [[policy]]\nname = \"p\"\neach = \"change\"\ndeny = \"'no ' + after.copy\"\n\
         [baseline]\nfile = \"known.json\"\n[history]\nfile = \"runs.json\"\n"
    );
    let workspace = Workspace::new(&config, &plan);
    assert_eq!(workspace.run(&["baseline", "write", "plan.json"]).0, 0);
    let (_, report) = workspace.check(&[]);
    let fingerprint = report["findings"][0]["fingerprint"].as_str().unwrap();
    let mut printed = report.to_string();
    for arguments in [
        &["ignores", "plan.json"][..],
        &["explain", fingerprint, "--plan", "plan.json"],
        &["explain", "p", "--plan", "plan.json"],
        &["baseline", "write", "plan.json"],
        &["check", "plan.json"],
        &["check", "plan.json", "--format", "markdown"],
    ] {
        let (_, out, message) = workspace.run(arguments);
        assert!(out.contains("(sensitive)") || message.contains("wrote"), "{arguments:?}: {out}");
        printed += &(out + &message);
    }
    printed += &workspace.read("known.json");
    printed += &workspace.read("runs.json");
    assert!(!printed.contains("hunter2"), "{printed}");
    assert!(!printed.contains('\u{1b}'), "{printed}");
}
