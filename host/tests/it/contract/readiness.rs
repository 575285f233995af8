//! When a worker counts as ready.

use std::time::Duration;

use host::{
    drivers::SeenPhase,
    pools::template::{Check, Readiness},
};

use super::fixture::{Fixture, running_programs, shell, sleeper, template};

fn every(check: Check) -> Option<Readiness> {
    Some(Readiness {
        check,
        interval: Duration::from_millis(50),
        timeout: Duration::from_secs(5),
        failure_threshold: 2,
    })
}

pub(super) async fn without_a_check_a_worker_is_ready_when_its_program_runs(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    let worker = fixture.until_ready(id).await;
    assert_eq!((worker.phase, worker.reason.as_str()), (SeenPhase::Running, "Running"));
    assert_eq!(running_programs(id), ["sleep"]);
    assert!(worker.started_at.is_some());
}

pub(super) async fn a_worker_is_ready_when_it_answers_over_http(fixture: Fixture) {
    let mut template = shell("exec python3 -m http.server --bind 127.0.0.1 $PORT_HTTP");
    template.ports = vec!["http".to_owned()];
    template.readiness = every(Check::Http { port: "http".to_owned(), path: "/".to_owned() });
    let id = fixture.start(&template).await;
    fixture.until_ready(id).await;

    template.readiness = every(Check::Http { port: "http".to_owned(), path: "/none".to_owned() });
    let id = fixture.start(&template).await;
    let worker =
        fixture.until(id, "answered with 404", |worker| worker.message.contains("404")).await;
    assert_eq!((worker.phase, worker.ready), (SeenPhase::Starting, false));
    assert_eq!(worker.reason, "NotReady");
}

pub(super) async fn a_worker_is_ready_when_it_accepts_connections(fixture: Fixture) {
    let script = "import os, socket, time
s = socket.create_server(('127.0.0.1', int(os.environ['PORT_MAIN'])))
time.sleep(1000)";
    let mut template = template(&["python3", "-c", script]);
    template.ports = vec!["main".to_owned(), "other".to_owned()];
    template.readiness = every(Check::Tcp { port: "main".to_owned() });
    let id = fixture.start(&template).await;
    fixture.until_ready(id).await;

    template.readiness = every(Check::Tcp { port: "other".to_owned() });
    let id = fixture.start(&template).await;
    let worker = fixture
        .until(id, "not connected to", |worker| worker.message.contains("cannot connect to"))
        .await;
    assert!(!worker.ready);
}

pub(super) async fn a_worker_is_ready_while_a_command_succeeds(fixture: Fixture) {
    let mut template = sleeper();
    template.readiness =
        every(Check::Command(vec!["test".to_owned(), "-e".to_owned(), "ok".to_owned()]));
    let id = fixture.start(&template).await;
    let worker = fixture.until(id, "refused", |worker| worker.reason == "NotReady").await;
    assert_eq!(worker.message, "the readiness command exited with code 1");
    let ok = fixture.folder(id).join("work/ok");
    std::fs::write(&ok, "").unwrap();
    fixture.until_ready(id).await;
    std::fs::remove_file(&ok).unwrap();
    let worker = fixture.until(id, "no longer ready", |worker| !worker.ready).await;
    assert_eq!((worker.phase, worker.restarts), (SeenPhase::Running, 0));
    std::fs::write(&ok, "").unwrap();
    fixture.until_ready(id).await;
}

pub(super) async fn a_check_that_hangs_has_failed(fixture: Fixture) {
    let mut worker_template = sleeper();
    worker_template.readiness = Some(Readiness {
        check: Check::Command(vec!["sleep".to_owned(), "999".to_owned()]),
        interval: Duration::from_millis(50),
        timeout: Duration::from_millis(100),
        failure_threshold: 1,
    });
    let id = fixture.start(&worker_template).await;
    let worker =
        fixture.until(id, "given up", |worker| worker.message.contains("took too long")).await;
    assert!(!worker.ready);
    fixture.stop(id).await;
    assert_eq!(running_programs(id), Vec::<String>::new());
}
