//! A worker runs once, whoever asks and whatever is killed.

use std::{env, process::Command, time::Duration};

use futures_util::future::join_all;
use host::{
    drivers::{
        CapacityDriver, SeenPhase,
        process::{GroupUse, ProcessDriver},
    },
    ids::WorkerId,
};

use super::fixture::{Fixture, new_id, options, running, running_programs, shell, sleeper, until};

pub(super) async fn a_worker_asked_for_twice_runs_once(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    let first = fixture.until_ready(id).await;
    fixture.driver.ensure(id, &sleeper()).await.unwrap();
    assert_eq!(fixture.seen(id).await.unwrap(), first);
    assert_eq!(running(id), [first.pid.unwrap()]);
    assert_eq!(first.phase, SeenPhase::Running);
    assert_eq!(first.restarts, 0);
}

pub(super) async fn a_worker_asked_for_by_many_at_once_runs_once(fixture: Fixture) {
    let id = new_id();
    let drivers: Vec<_> = (0..8).map(|_| fixture.new_driver()).collect();
    let template = sleeper();
    let asked = join_all(drivers.iter().map(|driver| driver.ensure(id, &template))).await;
    asked.into_iter().for_each(|one| one.unwrap());
    let worker = fixture.until_ready(id).await;
    // All supervisors but one have left.
    for driver in &drivers {
        driver.ensure(id, &template).await.unwrap();
    }
    assert_eq!(running_programs(id), ["sleep"]);
    assert_eq!(fixture.seen(id).await.unwrap().pid, worker.pid);
}

pub(super) async fn a_restarted_host_finds_its_workers(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    let before = fixture.until_ready(id).await;
    let driver = fixture.new_driver();
    assert_eq!(driver.list().await.unwrap(), std::slice::from_ref(&before));
    driver.ensure(id, &sleeper()).await.unwrap();
    assert_eq!(driver.list().await.unwrap(), [before]);
}

pub(super) async fn a_worker_whose_supervisor_was_killed_is_lost_and_runs_once_again(
    fixture: Fixture,
) {
    let template = shell("setsid sleep 1000 & exec sleep 1001");
    let id = fixture.start(&template).await;
    let before = fixture.until_ready(id).await;
    fixture.kill_supervisor(id).await;
    let lost = fixture.until(id, "lost", |worker| worker.phase == SeenPhase::Lost).await;
    assert_eq!((lost.reason.as_str(), lost.ready, lost.pid), ("SupervisorLost", false, None));

    fixture.driver.ensure(id, &template).await.unwrap();
    let after = fixture.until_ready(id).await;
    assert_ne!(after.pid, before.pid);
    assert_eq!(after.restarts, 1);
    until("one of each", async || (running_programs(id) == ["sleep", "sleep"]).then_some(())).await;
}

pub(super) async fn a_worker_whose_record_is_damaged_runs_once_again(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    let other = fixture.start(&sleeper()).await;
    let before = fixture.until_ready(id).await;
    fixture.until_ready(other).await;
    for damage in ["", "{", "\u{0}\u{0}", "[1]"] {
        fixture.kill_supervisor(id).await;
        std::fs::write(fixture.folder(id).join("seen.json"), damage).unwrap();
        let worker = fixture.until(id, "lost", |worker| worker.phase == SeenPhase::Lost).await;
        assert_eq!(worker.pid, None);
        fixture.driver.ensure(id, &sleeper()).await.unwrap();
        let after = fixture.until_ready(id).await;
        assert_ne!(after.pid, before.pid);
        until("one", async || (running(id) == [after.pid.unwrap()]).then_some(())).await;
    }
}

pub(super) async fn a_worker_whose_supervisor_was_killed_before_its_record_runs_once_again(
    fixture: Fixture,
) {
    let template = shell("setsid sleep 1000 & exec sleep 1001");
    let id = fixture.start(&template).await;
    fixture.until_ready(id).await;
    until("both", async || (running_programs(id) == ["sleep", "sleep"]).then_some(())).await;
    let before = running(id);
    fixture.kill_supervisor(id).await;
    std::fs::remove_file(fixture.folder(id).join("seen.json")).unwrap();
    fixture.driver.ensure(id, &template).await.unwrap();
    fixture.until_ready(id).await;
    until("both again", async || (running_programs(id) == ["sleep", "sleep"]).then_some(())).await;
    assert!(!running(id).iter().any(|pid| before.contains(pid)), "none of the first life");
}

pub(super) async fn a_worker_that_can_not_be_read_hides_no_other(fixture: Fixture) {
    let (bad, good) = (new_id(), fixture.start(&sleeper()).await);
    fixture.until_ready(good).await;
    std::fs::create_dir_all(fixture.folder(bad).join("seen.json")).unwrap();
    let worker = fixture.seen(bad).await.unwrap();
    assert_eq!((worker.phase, worker.reason.as_str()), (SeenPhase::Lost, "Unreadable"));
    assert!(worker.message.starts_with("its folder can not be read: "), "{}", worker.message);
    assert_eq!(fixture.seen(good).await.unwrap().phase, SeenPhase::Running);
    std::fs::remove_dir_all(fixture.folder(bad)).unwrap();
}

pub(super) async fn a_look_at_workers_starts_nothing(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    fixture.until_ready(id).await;
    fixture.kill_supervisor(id).await;
    std::fs::write(fixture.folder(id).join("stop"), "").unwrap();
    for _ in 0..3 {
        assert_eq!(fixture.seen(id).await.unwrap().phase, SeenPhase::Lost);
    }
    fixture.stop(id).await;
}

pub(super) async fn what_is_left_of_a_lost_worker_is_gone_after_its_stop(fixture: Fixture) {
    let id = fixture.start(&shell("setsid sleep 1000 & exec sleep 1001")).await;
    fixture.until_ready(id).await;
    fixture.kill_supervisor(id).await;
    // A host that comes later and knows nothing but the folder.
    let driver = fixture.new_driver();
    driver.stop(id, None).await.unwrap();
    fixture.until(id, "stopped", |worker| worker.phase == SeenPhase::Stopped).await;
    assert_eq!(running(id), [0; 0]);
    driver.forget(id).await.unwrap();
}

const CALLER: &str = "contract::single::a_caller_that_will_be_killed";
const CALLER_DATA: &str = "RUNTIMECLOUD_TEST_CALLER_DATA";
const CALLER_IDS: &str = "RUNTIMECLOUD_TEST_CALLER_IDS";

pub(super) async fn callers_killed_at_any_moment_leave_one_of_each_worker(fixture: Fixture) {
    let ids: Vec<_> = (0..5).map(|_| new_id()).collect();
    let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
    for round in 0..12 {
        let mut caller = Command::new(env::current_exe().unwrap())
            .args(["--exact", CALLER, "--ignored", "--nocapture"])
            .env(CALLER_DATA, fixture.data_dir())
            .env(CALLER_IDS, names.join(" "))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        tokio::time::sleep(Duration::from_millis(3 * round)).await;
        caller.kill().unwrap();
        caller.wait().unwrap();
    }
    for id in &ids {
        fixture.driver.ensure(*id, &sleeper()).await.unwrap();
    }
    for id in ids {
        let worker = fixture.until_ready(id).await;
        until("one", async || (running(id) == [worker.pid.unwrap()]).then_some(())).await;
        assert_eq!(worker.restarts, 0);
    }
}

#[tokio::test]
#[ignore = "only the test above calls it, in a process of its own"]
async fn a_caller_that_will_be_killed() {
    let Some(data) = env::var_os(CALLER_DATA) else { return };
    let driver = ProcessDriver::new(options(data.into(), GroupUse::WherePossible)).unwrap();
    let names = env::var_os(CALLER_IDS).unwrap().into_string().unwrap();
    loop {
        for id in names.split(' ') {
            let id: WorkerId = id.parse().unwrap();
            driver.ensure(id, &sleeper()).await.unwrap();
        }
    }
}
