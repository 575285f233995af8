//! The end of a worker is the end of all of it.

use std::{os::unix::fs::PermissionsExt, time::Duration};

use host::drivers::{CapacityDriver, DriverError, SeenPhase};

use super::fixture::{
    Fixture, is_running, new_id, running, running_programs, shell, sleeper, until,
};

/// Shell: moves to the system's own groups, where that is allowed.
pub(super) const LEAVE_GROUPS: &str = "for group in /sys/fs/cgroup /sys/fs/cgroup/unified; do
     [ -e $group/cgroup.procs ] && echo $$ > $group/cgroup.procs; done 2> /dev/null";

pub(super) async fn a_worker_told_to_stop_before_its_start_never_starts(fixture: Fixture) {
    let id = new_id();
    fixture.driver.stop(id, None).await.unwrap();
    fixture.driver.ensure(id, &sleeper()).await.unwrap();
    fixture.new_driver().ensure(id, &sleeper()).await.unwrap();
    let worker = fixture.seen(id).await.unwrap();
    assert_eq!(worker.phase, SeenPhase::Stopped);
    assert_eq!(running(id), [0; 0]);
    fixture.driver.forget(id).await.unwrap();
    assert_eq!(fixture.seen(id).await, None);
}

pub(super) async fn a_worker_may_finish_after_its_signal(fixture: Fixture) {
    let template = shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up").await;
    let worker = fixture.stop(id).await;
    assert_eq!(worker.message, "it ended after it was told to stop");
    assert!(fixture.printed(id, None).await.ends_with("bye\n"));
    // A stop is for good.
    fixture.driver.ensure(id, &sleeper()).await.unwrap();
    assert_eq!(fixture.seen(id).await.unwrap().phase, SeenPhase::Stopped);
}

pub(super) async fn a_worker_that_ignores_its_signal_is_killed(fixture: Fixture) {
    let mut template = shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
    template.stop.grace = Duration::from_millis(300);
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up").await;
    let worker = fixture.stop(id).await;
    assert!(worker.message.contains("did not end within 300ms"), "{}", worker.message);
    assert_eq!(running(id), [0; 0]);
}

pub(super) async fn a_worker_that_left_its_groups_is_killed(fixture: Fixture) {
    let mut template =
        shell(&format!("{LEAVE_GROUPS}; trap '' TERM; echo up; while :; do sleep 0.01; done"));
    template.stop.grace = Duration::from_millis(300);
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up").await;
    fixture.stop(id).await;
    assert_eq!(running(id), [0; 0]);
}

pub(super) async fn a_stranger_with_the_output_does_not_hold_up_the_end(fixture: Fixture) {
    let id = fixture.start(&shell("echo up; exec sleep 1000")).await;
    fixture.until_printed(id, "up").await;
    let pid = fixture.until_ready(id).await.pid.unwrap();
    let output = std::fs::OpenOptions::new().write(true).open(format!("/proc/{pid}/fd/1")).unwrap();
    fixture.stop(id).await;
    drop(output);
}

pub(super) async fn descendants_in_other_sessions_do_not_survive(fixture: Fixture) {
    let mut template = shell(
        "setsid sh -c 'trap \"\" TERM; env -u RUNTIMECLOUD_WORKER_ID sleep 1001 & echo $!; wait' &
         (setsid sleep 1002 &) ; echo up; wait",
    );
    template.stop.grace = Duration::from_millis(300);
    let id = fixture.start(&template).await;
    let printed = until("all up", async || {
        let printed = fixture.printed(id, None).await;
        (printed.lines().count() == 2 && running_programs(id).len() >= 3).then_some(printed)
    })
    .await;
    let unmarked = printed.lines().find_map(|line| line.parse().ok()).unwrap();
    assert!(is_running(unmarked));
    fixture.stop(id).await;
    assert_eq!(running(id), [0; 0]);
    assert!(!is_running(unmarked));
}

pub(super) async fn a_worker_that_starts_many_processes_is_gone_as_a_whole(fixture: Fixture) {
    let mut template = shell(
        "for i in $(seq 100); do setsid sleep 1000 & done; echo up; while :; do sleep 0.01 & wait $!; done",
    );
    template.stop.grace = Duration::from_millis(100);
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up").await;
    fixture.stop(id).await;
    assert_eq!(running(id), [0; 0]);
}

pub(super) async fn a_child_may_finish_after_its_parent(fixture: Fixture) {
    let script = "sh -c 'trap \"sleep 0.3; echo saved; exit\" TERM; echo up; while :; do sleep 0.01; done' & wait";
    let id = fixture.start(&shell(script)).await;
    fixture.until_printed(id, "up").await;
    fixture.stop(id).await;
    assert!(fixture.printed(id, None).await.ends_with("saved\n"));
}

pub(super) async fn a_worker_whose_folder_was_removed_stops(fixture: Fixture) {
    let id = fixture.start(&shell("while :; do echo x; sleep 0.1; done")).await;
    fixture.until_printed(id, "x").await;
    fixture.until_ready(id).await;
    std::fs::remove_dir_all(fixture.data_dir().join("workers")).unwrap();
    until("gone", async || running(id).is_empty().then_some(())).await;
    assert!(!fixture.data_dir().join("workers").exists());
    // What follows in this fixture needs the folder.
    std::fs::create_dir(fixture.data_dir().join("workers")).unwrap();
}

pub(super) async fn stop_and_forget_of_what_is_not_there_succeed(fixture: Fixture) {
    fixture.driver.forget(new_id()).await.unwrap();
    let id = new_id();
    fixture.driver.stop(id, None).await.unwrap();
    fixture.driver.forget(id).await.unwrap();
    fixture.driver.forget(id).await.unwrap();
    assert_eq!(fixture.driver.list().await.unwrap(), []);
}

pub(super) async fn a_running_worker_is_not_forgotten(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    let refused = |result| matches!(result, Err(DriverError::StillRuns(of)) if of == id);
    assert!(refused(fixture.driver.forget(id).await));
    fixture.until_ready(id).await;
    assert!(refused(fixture.driver.forget(id).await));
    fixture.kill_supervisor(id).await;
    assert!(refused(fixture.driver.forget(id).await), "its processes may still run");
}

pub(super) async fn what_can_not_be_deleted_is_in_nobodys_way(fixture: Fixture) {
    // A file where a folder is expected is an obstacle for everybody, even for root.
    std::fs::write(fixture.data_dir().join("workers/.worker.removed"), "").unwrap();
    let driver = fixture.new_driver();
    let id = fixture.start(&sleeper()).await;
    fixture.until_ready(id).await;
    fixture.stop(id).await;
    driver.forget(id).await.unwrap();
    assert_eq!(driver.list().await.unwrap(), []);
}

pub(super) async fn nothing_is_left_of_a_forgotten_worker(fixture: Fixture) {
    let id = fixture.start(&shell("echo hello > file; exec sleep 1000")).await;
    fixture.until_ready(id).await;
    let folder = fixture.folder(id);
    for path in [folder.clone(), folder.join("work"), folder.join("template.json")] {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is open to others", path.display());
    }
    fixture.stop(id).await;
    fixture.driver.forget(id).await.unwrap();
    assert_eq!(fixture.driver.list().await.unwrap(), []);
    let workers = fixture.data_dir().join("workers");
    let is_empty = async || std::fs::read_dir(&workers).unwrap().next().is_none().then_some(());
    until("deleted", is_empty).await;
    assert_eq!(groups_of(&id.to_string()), Vec::<std::path::PathBuf>::new());
}

fn groups_of(name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                found.extend((entry.file_name() == *name).then(|| entry.path()));
            }
        }
    }
    found
}
