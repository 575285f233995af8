//! A restart is a stop and a start of the same worker, once for each order.

use std::time::Duration;

use host::drivers::{CapacityDriver, RestartOrder, SeenPhase};

use super::fixture::{Fixture, new_id, running, shell, sleeper};

fn order(number: u64) -> RestartOrder {
    RestartOrder { number, grace: None }
}

pub(super) async fn a_restarted_worker_ends_as_its_policy_says_and_starts_once(fixture: Fixture) {
    let template = shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done");
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up\n").await;
    let before = fixture.until_ready(id).await;
    for _ in 0..3 {
        fixture.driver.restart(id, order(1)).await.unwrap();
        fixture.new_driver().restart(id, order(1)).await.unwrap();
    }
    let after = fixture.until(id, "restarted", |it| it.restart == 1 && it.ready).await;
    assert_ne!(after.pid, before.pid);
    assert_eq!(after.restarts, 1);
    fixture.until_printed(id, "bye\nup\n").await;
    fixture.driver.restart(id, order(1)).await.unwrap();
    fixture.driver.restart(id, order(2)).await.unwrap();
    fixture.driver.restart(id, order(1)).await.unwrap();
    let twice = fixture.until(id, "restarted again", |it| it.restart == 2 && it.ready).await;
    assert_eq!(twice.restarts, 2);
}

pub(super) async fn a_worker_that_ignores_a_restart_is_killed_after_the_grace(fixture: Fixture) {
    let id = fixture.start(&shell("trap '' TERM; echo up; while :; do sleep 0.01; done")).await;
    fixture.until_printed(id, "up").await;
    let before = fixture.until_ready(id).await;
    let grace = Some(Duration::from_millis(100));
    fixture.driver.restart(id, RestartOrder { number: 1, grace }).await.unwrap();
    let after = fixture.until(id, "restarted", |it| it.restart == 1 && it.ready).await;
    assert_ne!(after.pid, before.pid);
}

pub(super) async fn a_restart_outlives_the_supervisor(fixture: Fixture) {
    let id = fixture.start(&sleeper()).await;
    fixture.until_ready(id).await;
    fixture.kill_supervisor(id).await;
    fixture.driver.restart(id, order(1)).await.unwrap();
    assert_eq!(fixture.seen(id).await.unwrap().phase, SeenPhase::Lost);
    fixture.driver.ensure(id, &sleeper()).await.unwrap();
    let after = fixture.until(id, "started", |it| it.restart == 1 && it.ready).await;
    assert_eq!(after.restarts, 1, "the new start is the restart");
}

pub(super) async fn a_worker_that_was_told_to_stop_is_not_restarted(fixture: Fixture) {
    fixture.driver.restart(new_id(), order(1)).await.unwrap();
    let id = fixture.start(&sleeper()).await;
    fixture.until_ready(id).await;
    fixture.stop(id).await;
    fixture.driver.restart(id, order(1)).await.unwrap();
    assert_eq!(fixture.seen(id).await.unwrap().phase, SeenPhase::Stopped);
    assert_eq!(running(id), [0; 0]);
}
