//! What a worker gets, and how it comes back.

use std::{collections::BTreeSet, time::Duration};

use host::drivers::{CapacityDriver, SeenPhase};

use super::fixture::{Fixture, running_programs, shell, sleeper, template, until};
use super::stops::LEAVE_GROUPS;

pub(super) async fn a_worker_gets_its_variables_and_not_those_of_the_host(fixture: Fixture) {
    let mut template = shell("env; pwd; cat; echo end; exec sleep 1000");
    template.variables.insert("GREETING".to_owned(), "good morning\n".to_owned());
    template.variables.insert("PORT_HTTP".to_owned(), "an environment's".to_owned());
    template.ports = vec!["http".to_owned(), "side-door".to_owned()];
    let id = fixture.start(&template).await;
    let printed = fixture.until_printed(id, "end\n").await;
    let worker = fixture.until_ready(id).await;
    let has = |line: &str| assert!(printed.contains(&format!("{line}\n")), "no {line}: {printed}");
    has("GREETING=good morning");
    has(&format!("RUNTIMECLOUD_WORKER_ID={id}"));
    has(&format!("PORT_HTTP={}", worker.ports["http"]));
    has(&format!("PORT_SIDE_DOOR={}", worker.ports["side-door"]));
    has(&fixture.folder(id).join("work").display().to_string());
    assert!(printed.contains("PATH="));
    assert!(!printed.contains("CARGO"), "{printed}");
}

pub(super) async fn ports_are_free_and_differ(fixture: Fixture) {
    let mut template = sleeper();
    template.ports = vec!["a".to_owned(), "b".to_owned()];
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(fixture.start(&template).await);
    }
    let mut ports = BTreeSet::new();
    for id in ids {
        ports.extend(fixture.until_ready(id).await.ports.into_values());
    }
    assert_eq!(ports.len(), 20);
    assert!(ports.iter().all(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()));
}

pub(super) async fn workers_of_two_targets_get_no_port_twice(fixture: Fixture) {
    let mut template = sleeper();
    template.ports = vec!["http".to_owned()];
    let port = fixture.until_ready(fixture.start(&template).await).await.ports["http"];
    let neighbour = fixture.neighbour();
    let id = neighbour.start(&template).await;
    let before = neighbour.until_ready(id).await.ports["http"];
    assert_ne!(before, port);
    // Its next supervisor finds the other's port in the record, where nobody listens.
    neighbour.kill_supervisor(id).await;
    let record = neighbour.folder(id).join("seen.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace(&before.to_string(), &port.to_string())).unwrap();
    neighbour.driver.ensure(id, &template).await.unwrap();
    let after = neighbour.until(id, "up", |worker| worker.restarts == 1 && worker.ready).await;
    assert_ne!(after.ports["http"], port);
}

pub(super) async fn an_ended_worker_starts_again_after_growing_delays(fixture: Fixture) {
    let mut template = shell("echo $PORT_HTTP; exit 3");
    template.ports = vec!["http".to_owned()];
    let id = fixture.start(&template).await;
    let worker = fixture
        .until(id, "at its longest delay", |worker| {
            worker.phase == SeenPhase::Backoff && worker.message.ends_with("next start in 200ms")
        })
        .await;
    assert_eq!(worker.reason, "Exited");
    assert_eq!(worker.message, "it exited with code 3; next start in 200ms");
    assert!(worker.restarts >= 4, "20, 40, 80, 160 and 200 ms: {worker:?}");
    let printed = fixture.printed(id, None).await;
    let ports: BTreeSet<_> = printed.lines().collect();
    assert_eq!(ports.len(), 1, "a free port is kept: {printed}");
}

pub(super) async fn what_an_ended_worker_left_does_not_run_beside_the_next(fixture: Fixture) {
    let script = format!("{LEAVE_GROUPS}; setsid sleep 1000 & exit 1");
    let id = fixture.start(&shell(&script)).await;
    for restarts in 1..5 {
        fixture.until(id, "started again", |worker| worker.restarts >= restarts).await;
        let sleepers = running_programs(id).into_iter().filter(|name| name == "sleep").count();
        assert!(sleepers <= 1, "{sleepers} of them");
    }
}

pub(super) async fn a_command_that_can_not_be_started_says_why_and_waits(fixture: Fixture) {
    let file = fixture.data_dir().join("plain");
    std::fs::write(&file, "no program").unwrap();
    let file = file.to_str().unwrap();
    let mut homeless = sleeper();
    homeless.working_dir = Some("/there/is/no/such/folder".to_owned());
    for (template, reason, text) in [
        (template(&["no-such-program"]), "CommandNotFound", "`no-such-program`"),
        (template(&["/no/such/program"]), "CommandNotFound", "`/no/such/program`"),
        (template(&[file]), "NotExecutable", file),
        (homeless, "WorkingFolderMissing", "`/there/is/no/such/folder`"),
    ] {
        let id = fixture.start(&template).await;
        let worker = fixture
            .until(id, "at its longest delay", |worker| {
                assert!(!worker.ready, "it never ran: {worker:?}");
                worker.message.ends_with("next start in 200ms")
            })
            .await;
        assert_eq!(worker.phase, SeenPhase::Backoff);
        assert_eq!(worker.reason, reason);
        assert!(worker.message.contains(text), "{}", worker.message);
        fixture.stop(id).await;
    }
}

pub(super) async fn paths_may_be_long_and_strange(outer: Fixture) {
    let name = format!("ä b'c\"d\\{}/{}", "x".repeat(180), "y".repeat(200));
    let fixture = Fixture::in_folder(outer.groups(), &name);
    let id = fixture.start(&shell("pwd; exec sleep 1000")).await;
    fixture.until_ready(id).await;
    fixture.until_printed(id, "/work\n").await;
    fixture.stop(id).await;
    fixture.driver.forget(id).await.unwrap();
}

pub(super) async fn limits_hold_where_the_driver_says_so(fixture: Fixture) {
    let conditions = fixture.driver.conditions();
    let limits = conditions.iter().find(|one| one.name == "LimitsEnforced").unwrap();
    let mut template = shell("x=y; while :; do x=$x$x; done");
    template.shape.insert("memory".to_owned(), 16 * 1024 * 1024);
    template.shape.insert("cpu".to_owned(), 1_000);
    template.restart.delay_max = Duration::from_secs(60);
    template.restart.delay = Duration::from_secs(60);
    if !limits.holds {
        assert!(!limits.message.is_empty());
        // The worker runs all the same.
        template.command[2] = "exec sleep 1000".to_owned();
        let id = fixture.start(&template).await;
        fixture.until_ready(id).await;
        return;
    }
    let id = fixture.start(&template).await;
    let worker = fixture.until(id, "ended", |worker| worker.phase == SeenPhase::Backoff).await;
    assert_eq!(worker.reason, "OomKilled", "{worker:?}");
    assert!(worker.message.contains("limit of 16Mi"), "{}", worker.message);

    template.command[2] = "while :; do :; done".to_owned();
    template.shape.insert("cpu".to_owned(), 100);
    let id = fixture.start(&template).await;
    let pid = fixture.until_ready(id).await.pid.unwrap();
    until("held back", async || is_throttled(pid).then_some(())).await;
}

/// Whether the kernel has held the process's CPU group back.
fn is_throttled(pid: u32) -> bool {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    groups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(|group| {
        ["cpu", "cpu,cpuacct", "unified", ""].iter().any(|mount| {
            let path = format!("/sys/fs/cgroup/{mount}{group}/cpu.stat");
            let stat = std::fs::read_to_string(path).unwrap_or_default();
            stat.lines()
                .any(|line| line.strip_prefix("nr_throttled ").is_some_and(|times| times != "0"))
        })
    })
}
