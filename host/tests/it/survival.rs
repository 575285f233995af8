//! Hosts that are killed, started twice, stopped with and without their workers.

use std::{collections::BTreeMap, process::Stdio};

use crate::world::{World, condition, new_pool, serve, sleepers};

async fn pids(world: &World, pool: &str) -> BTreeMap<String, u32> {
    let workers = world.api().await.workers_of(pool).await;
    workers.into_iter().map(|worker| (worker.id, worker.pid)).collect()
}

fn runs(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_killed_host_finds_its_workers_again() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(4))).await.unwrap();
    api.ready("dev/web").await;
    let before = pids(&world, "dev/web").await;
    let since = async |world: &World| {
        let pool = world.api().await.pool("dev/web").await;
        condition(&pool.observed.unwrap().conditions, "Ready").changed_at
    };
    let ready_since = crate::world::until("readiness to be on record", async || {
        let first = since(&world).await;
        (since(&world).await == first).then_some(first)
    })
    .await;
    let host = api.host.get_info(proto::runtimecloud::v1::GetInfoRequest {}).await.unwrap();
    world.kill();
    assert!(before.values().all(|pid| runs(*pid)), "workers outlive their host");
    world.restart(&[]);
    assert_eq!(pids(&world, "dev/web").await, before, "known before the first call");
    assert_eq!(since(&world).await, ready_since);
    let mut api = world.api().await;
    let again = api.host.get_info(proto::runtimecloud::v1::GetInfoRequest {}).await.unwrap();
    assert_eq!(again.get_ref().host_id, host.get_ref().host_id);
    api.scale("dev/web", 2).await.unwrap();
    api.ready("dev/web").await;
}

#[tokio::test]
async fn a_host_killed_while_it_starts_and_stops_workers_loses_none_and_doubles_none() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.target("local", crate::world::amounts(&[])).await;
    api.environment("dev", "").await;
    api.pools.create(new_pool("web", sleepers(0))).await.unwrap();
    for (round, size) in [10, 2, 12, 1, 8].into_iter().enumerate() {
        let mut api = world.api().await;
        api.scale("dev/web", size).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(7 * round as u64)).await;
        world.kill();
        world.restart(&[]);
        let pool = world.api().await.pool("dev/web").await;
        assert_eq!(pool.spec.unwrap().size, size, "what was acknowledged is kept");
    }
    world.api().await.ready("dev/web").await;
    let workers = pids(&world, "dev/web").await;
    assert_eq!(workers.len(), 8);
    let folders = world.dir.path().join("targets");
    let target = std::fs::read_dir(folders).unwrap().next().unwrap().unwrap().path();
    crate::world::until("nothing to be left of workers that are gone", async || {
        (std::fs::read_dir(target.join("workers")).unwrap().count() == 8).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_second_host_on_the_same_folder_is_refused_with_the_first_ones_pid() {
    let world = World::start();
    let mut second = serve(world.dir.path(), &[]);
    let output = second.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(&format!("process id {}", world.pid())), "{message}");
}

#[tokio::test]
async fn a_host_that_is_told_to_end_leaves_its_workers_unless_asked_to_stop_them() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(3))).await.unwrap();
    api.ready("dev/web").await;
    let before = pids(&world, "dev/web").await;
    assert!(world.terminate());
    assert!(before.values().all(|pid| runs(*pid)));
    world.restart(&["--stop-workers"]);
    assert_eq!(pids(&world, "dev/web").await, before);
    assert!(world.terminate());
    assert!(!before.values().any(|pid| runs(*pid)));
    world.restart(&[]);
    world.api().await.ready("dev/web").await;
    let after = pids(&world, "dev/web").await;
    assert!(after.keys().all(|id| !before.contains_key(id)), "others take their place");
}

#[tokio::test]
async fn a_target_that_can_not_be_read_keeps_no_worker_of_another_from_being_stopped() {
    let mut world = World::start();
    world.kill();
    world.restart(&["--stop-workers"]);
    let mut api = world.api().await;
    let broken = api.target("broken", crate::world::amounts(&[("cpu", 0)])).await;
    let folder = world.dir.path().join("targets").join(broken.metadata.unwrap().id);
    let workers = folder.join("workers");
    crate::world::until("the target's folder", async || workers.exists().then_some(())).await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(2))).await.unwrap();
    api.ready("dev/web").await;
    let before = pids(&world, "dev/web").await;
    std::fs::remove_dir_all(&workers).unwrap();
    std::fs::write(&workers, "no folder").unwrap();
    world.signal();
    crate::world::until("the other target's workers to stop", async || {
        (!before.values().any(|pid| runs(*pid))).then_some(())
    })
    .await;
    // It goes on trying, until it is told again.
    assert!(!world.terminate());
    std::fs::remove_file(&workers).unwrap();
}

#[test]
fn a_first_token_that_no_host_has_made_is_refused() {
    for text in ["", "\n", "secret", "rct_", "rct_c2hvcnQ"] {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::write(dir.path().join("admin.token"), text).unwrap();
        let output = serve(dir.path(), &[]).stdout(Stdio::null()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("admin.token` holds no token"), "{text:?}: {message}");
    }
}

#[tokio::test]
async fn an_open_watch_does_not_hold_up_the_end() {
    let mut world = World::start();
    let mut api = world.api().await;
    let watch = proto::runtimecloud::v1::WatchEventsRequest { follow: true, ..Default::default() };
    let mut stream = api.events.watch(watch).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    assert!(world.terminate());
}

#[tokio::test]
async fn followed_output_does_not_seem_complete_when_the_host_ends() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(1))).await.unwrap();
    api.ready("dev/web").await;
    let key = api.workers_of("dev/web").await.remove(0).id;
    let request = proto::runtimecloud::v1::LogsRequest { key, follow: true, tail_lines: 0 };
    let mut output = api.workers.logs(request).await.unwrap().into_inner();
    assert!(world.terminate());
    let status = output.message().await.unwrap_err();
    assert_eq!(crate::world::reason(&status), "SHUTTING_DOWN", "{status:?}");
}

#[tokio::test]
async fn workers_that_the_host_knows_nothing_of_do_not_run_on() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(2))).await.unwrap();
    api.ready("dev/web").await;
    let unused = api.target("unused", crate::world::amounts(&[])).await.metadata.unwrap().id;
    let before = pids(&world, "dev/web").await;
    world.kill();
    for name in ["runtimecloud.db", "runtimecloud.db-wal", "runtimecloud.db-shm"] {
        let _not_all_are_there = std::fs::remove_file(world.dir.path().join(name));
    }
    world.restart(&[]);
    crate::world::until("all to be gone", async || {
        (!before.values().any(|pid| runs(*pid))).then_some(())
    })
    .await;
    let targets = world.dir.path().join("targets");
    crate::world::until("the empty folder to be gone", async || {
        (!targets.join(&unused).exists()).then_some(())
    })
    .await;
    let kept = std::fs::read_dir(targets).unwrap().next().unwrap().unwrap().path();
    assert_eq!(kept.extension().unwrap(), "orphaned");
    assert_eq!(std::fs::read_dir(kept.join("workers")).unwrap().count(), 2);
}

#[tokio::test]
async fn a_lost_administrators_token_is_made_anew_and_the_old_one_is_void() {
    let mut world = World::start();
    let old = world.admin_token();
    world.kill();
    world.restart(&[]);
    assert_eq!(world.admin_token(), old);
    world.kill();
    std::fs::remove_file(world.dir.path().join("admin.token")).unwrap();
    world.restart(&[]);
    assert_ne!(world.admin_token(), old);
    let info = proto::runtimecloud::v1::GetInfoRequest {};
    world.api().await.host.get_info(info).await.unwrap();
    assert!(world.api_as(&old).await.host.get_info(info).await.is_err());
}

#[tokio::test]
async fn workers_hear_signals_that_whoever_started_the_host_ignores() {
    let world = World::start_deaf();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(1))).await.unwrap();
    api.ready("dev/web").await;
    let ignored = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        // Without what lies above the signals that have names.
        u64::from_str_radix(set.trim(), 16).unwrap() & 0x7fff_ffff
    };
    assert_ne!(ignored(world.pid()), 0, "the host itself is deaf");
    for pid in pids(&world, "dev/web").await.into_values() {
        assert_eq!(ignored(pid), 0);
    }
}
