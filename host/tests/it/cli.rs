//! The operator's command line against a real host.

mod docs;
mod program;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};

use crate::world::World;

const WORLD: &str = r#"
capacity_target "local" {
  driver = { process = {} }
  labels = { region = "here" }
}
quota "team-a" {
  limits = { workers = { hard = 5 } }
}
environment "dev" {
  quota           = "team-a"
  target_selector = { region = "here" }
}
worker_pool "dev/web" {
  size   = 2
  worker = { command = ["sh", "-c", "echo hello from $GREETING; exec sleep 1000"], variables = { GREETING = "here" } }
  stop   = { grace = "2s" }
}
"#;

/// A host with the above.
fn world() -> World {
    let host = World::start();
    host.file("world.hcl", WORLD);
    host.ok(&["apply", "-f", "world.hcl", "--wait"]);
    host
}

#[test]
fn quotas_are_shown_as_a_tree_and_recounted() {
    let host = World::start();
    host.file(
        "tree.hcl",
        r#"
        quota "a-team" {
          parent = "org"
          limits = { cpu = { share = "2", borrowing = "1", lending = "500m" } }
        }
        quota "org" {
          limits         = { cpu = { hard = "4" } }
          reclaim_notice = "1m"
        }
        quota "other" {
          parent = "org"
          limits = { cpu = { share = "2" } }
        }
        quota "sub" {
          parent = "a-team"
          limits = {}
        }
        environment "dev" {
          quota = "sub"
        }
        capacity_lease "dev/batch" {
          amounts    = { cpu = "2500m" }
          preemption = "reclaimable"
        }
        "#,
    );
    host.ok(&["apply", "-f", "tree.hcl"]);
    assert_eq!(host.json(&["apply", "-f", "tree.hcl"])[0]["result"], "unchanged");
    let tree = host.ok(&["quota", "tree"]);
    let lines: Vec<_> = tree.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(lines, ["NAME", "org", "├─ a-team", "│", "└─ other"], "{tree}");
    assert!(tree.contains("│  └─ sub"), "{tree}");
    assert!(tree.contains("cpu 2500m of 2"), "{tree}");
    assert!(tree.contains("cpu 500m"), "{tree}");
    let one = host.json(&["quota", "tree", "a-team"]);
    assert_eq!(one[0]["observed"]["resources"]["cpu"]["borrowed"], "500m");
    assert_eq!(one[0]["children"][0]["name"], "sub");
    let listed = host.ok(&["get", "quotas"]);
    assert!(listed.lines().next().unwrap().starts_with("NAME    PARENT  USED"), "{listed}");
    assert_eq!(
        host.ok(&["quota", "recount"]),
        "what is booked is what is used: 4 quotas, 1 environments, 0 worker pools and 1 granted leases \
         were counted\n"
    );
}

#[test]
fn apply_creates_then_changes_nothing_then_changes_what_differs() {
    let host = World::start();
    host.file("world.hcl", WORLD);
    let dry = host.ok(&["apply", "-f", "world.hcl", "--dry-run"].map(|arg| arg));
    assert!(dry.starts_with("capacity target `local` would be created\n"), "{dry}");
    let created = host.ok(&["apply", "-f", "world.hcl", "--wait"]);
    assert_eq!(
        created,
        "capacity target `local` created\nquota `team-a` created\nenvironment `dev` created\n\
         worker pool `dev/web` created\n"
    );
    let again = host.json(&["apply", "-f", "world.hcl"]);
    let again = again.as_array().unwrap();
    assert!(again.iter().all(|one| one["result"] == "unchanged"), "{again:?}");

    // What is printed can be applied.
    let printed = host.ok(&["get", "pools", "--output", "json"]);
    let unchanged = host.ok_with_input(&["apply", "-f", "-"], &printed);
    assert_eq!(unchanged, "worker pool `dev/web` unchanged\n");

    let changed = WORLD.replace("size   = 2", "size   = 3").replace("hard = 5", "hard = 6");
    host.file("world.hcl", &changed);
    let said = host.ok(&["apply", "-f", "world.hcl", "--dry-run"]);
    assert!(said.contains("worker pool `dev/web` would be changed: size 2 -> 3\n"), "{said}");
    let said = host.ok(&["apply", "-f", "world.hcl", "--wait"]);
    assert!(said.contains("quota `team-a` changed: limits.workers.hard 5 -> 6\n"), "{said}");
    assert!(said.contains("worker pool `dev/web` changed: size 2 -> 3\n"), "{said}");
    assert_eq!(host.json(&["get", "pool", "dev/web"])["observed"]["ready_workers"], 3);
}

#[test]
fn a_fault_in_a_file_is_shown_with_its_place_and_nothing_is_done() {
    let host = World::start();
    let faulty = WORLD.replace("size   = 2", "size   = two").replace("hard = 5", "hard = -5");
    host.file("world.hcl", &faulty);
    let failed = host.run(&["apply", "-f", "world.hcl"]);
    assert_eq!(failed.code, 2);
    assert!(failed.stderr.contains("world.hcl:7:33: `-5` is not an amount"), "{}", failed.stderr);
    assert!(failed.stderr.contains("world.hcl:14:12: `two` is a reference"), "{}", failed.stderr);
    assert_eq!(host.json(&["get", "quotas"]), json!([]));

    // What only the host can know is shown in the file too.
    host.file(
        "world.hcl",
        &WORLD.replace("\"region\"", "\"a region\"").replace("region = ", "\"a region\" = "),
    );
    let failed = host.run(&["apply", "-f", "world.hcl"]);
    assert_eq!(failed.code, 2, "{}", failed.stderr);
    assert!(failed.stderr.contains("world.hcl:4:3: labels"), "{}", failed.stderr);
}

#[test]
fn each_refusal_has_its_exit_code_and_says_what_to_do() {
    let host = world();
    let pool = ["create", "pool", "dev/big", "--size", "9", "--", "sleep", "1"];
    for (args, code, texts) in [
        (&["get", "pools", "--bad"][..], 2, &["--bad"][..]),
        (&["get", "pols"], 2, &["did you mean `pools`?"]),
        (&["get", "pool", "dev/none"], 3, &["there is no worker pool `dev/none`"]),
        (&["describe", "quota", "none"], 3, &["there is no quota `none`"]),
        (&["logs", "dev/none"], 3, &["dev/none"]),
        (&["scale", "dev/none", "--size", "1"], 3, &["dev/none"]),
        (&["delete", "env", "none"], 3, &["none"]),
        (
            &["get", "pools", "--endpoint", "http://127.0.0.1:1"],
            4,
            &["http://127.0.0.1:1", "serve"],
        ),
        (&["get", "pools", "--endpoint", "nonsense"], 2, &["`nonsense`", "http://"]),
        (&["get", "pools", "--token", "wrong"], 5, &["token", "--data-dir"]),
        (&["get", "pools", "--token", "wr\nong"], 5, &["line breaks"]),
        (&["create", "env", "dev"], 6, &["exists already", "apply"]),
        (&["delete", "env", "dev"], 6, &["in use by"]),
        (&["delete", "quota", "team-a"], 6, &["in use by"]),
        (&pool, 7, &["`team-a`", "2 of at most 5", "raise the quota"]),
        (&["create", "quota", "Bad", "--limit", "cpu=1"], 2, &["name: `Bad`"]),
        (&["create", "quota", "q", "--limit", "cpu=1", "--limit", "cpu=2"], 2, &["twice"]),
        (&["create", "pool", "web", "--", "x"], 2, &["ENVIRONMENT/NAME"]),
        (&["apply", "-f", "nothing.hcl"], 2, &["`nothing.hcl`"]),
    ] {
        let failed = host.run(args);
        assert_eq!(failed.code, code, "{args:?}: {}", failed.stderr);
        assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
        for text in texts {
            assert!(
                failed.stderr.contains(text),
                "{args:?} does not say {text}: {}",
                failed.stderr
            );
        }
        assert_eq!(failed.stdout, "");
    }
    let unready =
        ["create", "pool", "dev/bad", "--wait", "--timeout", "1s", "--", "no-such-program"];
    let failed = host.run(&unready);
    assert_eq!(failed.code, 8);
    assert!(failed.stderr.contains("CommandNotFound: `no-such-program`"), "{}", failed.stderr);
}

#[test]
fn a_pool_is_made_scaled_looked_at_and_removed() {
    let host = world();
    let args = ["create", "pool", "dev/api", "--size", "1", "--port", "http", "--wait"];
    let command = [
        "--shape",
        "cpu=50m",
        "--label",
        "a=b",
        "--",
        "sh",
        "-c",
        "printf 'one\\ntwo\\nthree'; exec sleep 1000",
    ];
    let args: Vec<_> = args.iter().chain(&command).copied().collect();
    assert_eq!(host.ok(&args), "worker pool `dev/api` created\n");
    assert_eq!(
        host.ok(&["scale", "dev/api", "-n", "2", "--wait"]),
        "worker pool `dev/api` scaled: size 1 -> 2\n"
    );
    assert_eq!(
        host.ok(&["scale", "dev/api", "-n", "2"]),
        "worker pool `dev/api` unchanged: size is 2\n"
    );

    let workers = host.json(&["workers", "dev/api"]);
    let workers = workers.as_array().unwrap();
    assert_eq!(workers.len(), 2);
    assert!(
        workers.iter().all(|worker| worker["ready"] == true && worker["ports"]["http"].is_u64())
    );
    let id = workers[0]["id"].as_str().unwrap();
    assert_eq!(host.json(&["get", "worker", id])["id"], id);

    let mut logs = String::new();
    while !logs.ends_with("three") {
        logs = host.ok(&["logs", id]);
    }
    assert_eq!(logs, "one\ntwo\nthree");
    let both = host.ok(&["logs", "dev/api", "--tail", "1"]);
    assert_eq!(both.lines().filter(|line| line.ends_with(" | three")).count(), 2, "{both}");
    let line = host.ok(&["logs", id, "--tail", "1", "--output", "json"]);
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line, json!({"worker": id, "line": "three"}));

    let described = host.ok(&["describe", "pool", "dev/api"]);
    for text in
        ["Labels:     a=b", "size: 2", "cpu: 50m", "AllWorkersReady", id, "SpecificationDeclared"]
    {
        assert!(described.contains(text), "no `{text}` in {described}");
    }
    assert!(host.ok(&["describe", "target", "local"]).contains("  driver: process\n"));
    let described = host.json(&["describe", "pool", "dev/api"]);
    assert_eq!(described["workers"].as_array().unwrap().len(), 2);

    assert_eq!(host.json(&["get", "pools", "--label", "a=b"]).as_array().unwrap().len(), 1);
    assert_eq!(host.json(&["get", "pools", "--in", "dev"]).as_array().unwrap().len(), 2);
    assert_eq!(
        host.ok(&["delete", "pool", "dev/api", "--wait"]),
        "worker pool `dev/api` deleted\n"
    );
    assert_eq!(host.run(&["get", "pool", "dev/api"]).code, 3);
    assert_eq!(host.ok(&["get", "pools"]).lines().count(), 2);
}

#[test]
fn followed_events_go_on_after_the_host_was_killed_and_none_comes_twice() {
    let mut host = world();
    let mut follower = host
        .command(&["events", "--follow", "--output", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, lines) = mpsc::channel();
    let reader = BufReader::new(follower.stdout.take().unwrap());
    std::thread::spawn(move || {
        reader.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    let mut seen = Vec::new();
    let mut until_declared = |name: &str| loop {
        let line = lines.recv_timeout(Duration::from_secs(60)).expect("the event comes");
        let event: Value = serde_json::from_str(&line).unwrap();
        let is_it = event["type"] == "SpecificationDeclared" && event["subject"]["name"] == name;
        seen.push(event);
        if is_it {
            return;
        }
    };
    until_declared("dev/web");
    for round in 0..3 {
        host.kill();
        host.restart(&[]);
        let name = format!("after-{round}");
        host.ok(&["create", "quota", &name]);
        until_declared(&name);
    }
    follower.kill().unwrap();
    follower.wait().unwrap();

    let positions: Vec<_> = seen.iter().map(|event| event["position"].as_u64().unwrap()).collect();
    let all = host.ok(&["events", "--output", "json"]);
    let all: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = *positions.last().unwrap();
    let expected: Vec<_> = all
        .iter()
        .map(|event| event["position"].as_u64().unwrap())
        .filter(|at| *at <= last)
        .collect();
    assert_eq!(positions, expected);

    let after =
        host.ok(&["events", "--after", &last.to_string(), "--type", "SpecificationDeclared"]);
    assert_eq!(after, "");
}

#[test]
fn tokens_are_made_and_revoked() {
    let host = World::start();
    let made = host.json(&["token", "create", "ci", "--role", "editor", "--expires-in", "1h"]);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(made["role"], "editor");
    host.ok(&["create", "quota", "q", "--limit", "cpu=1", "--token", secret]);
    let failed = host.run(&["token", "list", "--token", secret]);
    assert_eq!(failed.code, 5);
    assert!(failed.stderr.contains("--role"), "{}", failed.stderr);
    let listed = host.ok(&["token", "list"]);
    assert!(listed.contains("ci") && !listed.contains(secret), "{listed}");
    assert_eq!(host.ok(&["token", "revoke", "ci"]), "token `ci` revoked\n");
    assert_eq!(host.run(&["get", "quotas", "--token", secret]).code, 5);

    // The secret alone is what a script gets.
    let secret = host.ok(&["token", "create", "other"]);
    assert_eq!(secret.lines().count(), 1);
    host.ok(&["get", "quotas", "--token", secret.trim()]);
}

#[test]
fn a_service_account_is_declared_and_its_tokens_are_made_rotated_and_end_with_it() {
    let host = World::start();
    let account = "service_account \"ci\" {\n  role = \"editor\"\n  description = \"builds\"\n}\n";
    host.file("ci.hcl", account);
    assert_eq!(host.ok(&["apply", "-f", "ci.hcl"]), "service account `ci` created\n");
    assert_eq!(host.ok(&["apply", "-f", "ci.hcl"]), "service account `ci` unchanged\n");
    let secret = host.ok(&["token", "create", "deploy", "--service-account", "ci"]);
    host.ok(&["create", "quota", "q", "--limit", "cpu=1", "--token", secret.trim()]);
    let rotated = host.json(&["token", "rotate", "ci/deploy"]);
    assert_eq!((&rotated["name"], &rotated["role"]), (&json!("ci/deploy"), &json!("editor")));
    assert_eq!(host.run(&["get", "quotas", "--token", secret.trim()]).code, 5);
    host.ok(&["get", "quotas", "--token", rotated["secret"].as_str().unwrap()]);
    assert_eq!(
        host.json(&["token", "list", "--service-account", "ci"])[0],
        host.json(&["get", "token", "ci/deploy"])
    );
    assert_eq!(host.json(&["get", "account", "ci"])["observed"]["tokens"], 1);

    host.file("ci.hcl", &account.replace("editor", "boss"));
    let failed = host.run(&["apply", "-f", "ci.hcl"]);
    assert!(failed.stderr.contains("ci.hcl:2:10: `role` is one of `viewer`"), "{}", failed.stderr);
    let created = ["create", "service-account", "other", "--role", "viewer", "--disabled"];
    assert_eq!(host.ok(&created), "service account `other` created\n");
    let both = ["token", "create", "x", "--service-account", "ci", "--role", "admin"];
    assert_eq!(host.run(&both).code, 2);
    host.ok(&["delete", "sa", "ci"]);
    let listed = host.ok(&["token", "list"]);
    assert!(listed.contains("Revoked"), "{listed}");
}

#[test]
fn followed_output_of_a_pool_has_its_new_workers_and_ends_with_it() {
    let host = world();
    let mut follower =
        host.command(&["logs", "dev/web", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let (send, lines) = mpsc::channel();
    let reader = BufReader::new(follower.stdout.take().unwrap());
    std::thread::spawn(move || {
        reader.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    host.ok(&["scale", "dev/web", "-n", "3", "--wait"]);
    for _ in 0..3 {
        let line = lines.recv_timeout(Duration::from_secs(60)).expect("each worker says hello");
        assert!(line.ends_with(" | hello from here"), "{line}");
    }
    host.ok(&["delete", "pool", "dev/web", "--wait"]);
    assert!(follower.wait().unwrap().success());
}

#[test]
fn what_is_being_deleted_is_not_what_a_file_declares() {
    let host = World::start();
    // Its worker ends when the test lets it.
    let go = host.dir.path().join("go");
    let script = format!("trap '' TERM; until [ -e {} ]; do sleep 0.05; done", go.display());
    let stubborn = WORLD.replace("exec sleep 1000", &script).replace("2s", "5m");
    host.file("world.hcl", &stubborn);
    host.ok(&["apply", "-f", "world.hcl", "--wait"]);
    let said = host.ok(&["delete", "pool", "dev/web"]);
    assert_eq!(said, "worker pool `dev/web` is being deleted\n");
    let refused = host.run(&["apply", "-f", "world.hcl"]);
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert!(refused.stderr.contains("is being deleted"), "{}", refused.stderr);
    let late = host.run(&["delete", "pool", "dev/web", "--wait", "--timeout", "100ms"]);
    assert_eq!(late.code, 8, "{}", late.stderr);
    std::fs::write(go, "").unwrap();
    host.ok(&["delete", "pool", "dev/web", "--wait"]);
}

#[test]
fn work_is_finished_when_nobody_hears_of_it_and_that_is_a_failure() {
    let host = World::start();
    host.file("world.hcl", WORLD);
    let run = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = host.command(args);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["apply", "-f", "world.hcl", "--wait"]);
    assert!(code == 1 && said.contains("cannot write the output"), "{code}: {said}");
    assert_eq!(host.json(&["get", "pool", "dev/web"])["observed"]["ready_workers"], 2);
    for name in ["a", "b"] {
        let made = run(&["create", "quota", name]);
        assert_eq!(made.0, 1, "{}", made.1);
    }
    assert_eq!(run(&["delete", "quota", "a", "b", "--wait"]).0, 1);
    assert_eq!(host.json(&["get", "quotas"]).as_array().unwrap().len(), 1);
    assert_eq!(run(&["token", "create", "ci"]).0, 1);
    assert_eq!(run(&["scale", "dev/web", "-n", "1"]).0, 1);
    assert_eq!(run(&["get", "pools"]), (0, String::new()));
}

#[test]
fn no_token_is_sent_to_another_machine() {
    let host = World::start();
    for endpoint in ["http://192.0.2.1:7443", "http://cloud.example", "http://127.0.0.1@192.0.2.1"]
    {
        let failed = host.run(&["get", "quotas", "--endpoint", endpoint]);
        assert_eq!(failed.code, 2, "{}", failed.stderr);
        assert!(failed.stderr.contains("another machine"), "{}", failed.stderr);
    }
    for name in ["localhost", "LOCALHOST"] {
        let endpoint = host.endpoint.replace("127.0.0.1", name);
        host.ok(&["get", "quotas", "--endpoint", &endpoint]);
    }
}

#[test]
fn what_needs_no_host_works_without_one() {
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runtimecloud"));
        command.args(args).env_remove("RUNTIMECLOUD_DATA_DIR").env_remove("RUNTIMECLOUD_TOKEN");
        command.output().unwrap()
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completion", shell]);
        assert!(script.status.success());
        assert!(String::from_utf8(script.stdout).unwrap().contains("worker-pool"));
    }
    let version = run(&["version", "--output", "json"]);
    let version: Value = serde_json::from_slice(&version.stdout).unwrap();
    assert_eq!(version, json!({"client": env!("CARGO_PKG_VERSION"), "host": null}));
    let failed = run(&["get", "pools"]);
    assert_eq!(failed.status.code(), Some(5));
    assert!(String::from_utf8(failed.stderr).unwrap().contains("no token was given"));
}

#[test]
fn a_lease_is_taken_renewed_checked_waited_for_and_released() {
    let host = world();
    let made = host.ok(&[
        "create",
        "lease",
        "dev/batch",
        "--amount",
        "workers=3",
        "--ttl",
        "1h",
        "--holder",
        "ci",
    ]);
    assert_eq!(made, "capacity lease `dev/batch` created\n");
    let shown = host.ok(&["get", "leases"]);
    assert!(shown.contains("dev/batch  granted  workers 3  ci      OK"), "{shown}");
    let refused = host.run(&["create", "lease", "dev/more", "--amount", "workers=1"]);
    assert_eq!(refused.code, 7, "{}", refused.stderr);
    let line = ["create", "lease", "dev/more", "--amount", "workers=1", "--max-wait", "1h"];
    host.ok(&line);
    let refused = host.run(&["create", "lease", "dev/last", "--amount", "workers=1"]);
    assert_eq!(refused.code, 7);
    assert!(refused.stderr.contains("--max-wait"), "{}", refused.stderr);
    let late = [&line[..], &["--wait", "--timeout", "1s"]].concat();
    let taken = host.run(&late);
    assert_eq!(taken.code, 6, "{}", taken.stderr);
    let described = host.ok(&["describe", "lease", "dev/more"]);
    assert!(described.contains("position: 1") && described.contains("NoRoom"), "{described}");

    let renewed = host.ok(&["lease", "renew", "dev/batch", "--fencing-token", "1"]);
    assert!(renewed.starts_with("capacity lease `dev/batch` renewed until 2"), "{renewed}");
    host.ok(&["lease", "check", "dev/batch", "--fencing-token", "1"]);
    let stale = host.run(&["lease", "check", "dev/batch", "--fencing-token", "2"]);
    assert_eq!(stale.code, 1);
    assert!(stale.stderr.contains("StaleToken"), "{}", stale.stderr);

    let released = host.ok(&["delete", "lease", "dev/batch", "--wait"]);
    assert_eq!(released, "capacity lease `dev/batch` released\n");
    assert_eq!(host.json(&["get", "lease", "dev/more"])["observed"]["state"], "granted");
    host.file(
        "lease.hcl",
        "capacity_lease \"dev/batch\" {\n  amounts = { workers = 2 }\n  wait = \"1h\"\n  priority = -3\n}\n",
    );
    let again = host.ok(&["apply", "-f", "lease.hcl", "--wait"]);
    assert_eq!(again, "capacity lease `dev/batch` created\n");
    assert_eq!(host.ok(&["apply", "-f", "lease.hcl"]), "capacity lease `dev/batch` unchanged\n");
    assert_eq!(host.json(&["get", "lease", "dev/batch"])["observed"]["fencing_token"], 3);
}
