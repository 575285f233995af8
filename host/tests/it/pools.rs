//! Worker pools with real processes, over the real API.

use std::collections::BTreeSet;

use proto::runtimecloud::v1;
use tonic::Code;

use crate::world::{World, condition, delete, faults, new_pool, reason, sleepers, until, words};

fn pids(workers: &[v1::Worker]) -> BTreeSet<u32> {
    workers.iter().map(|worker| worker.pid).filter(|pid| *pid != 0).collect()
}

#[tokio::test]
async fn a_pool_runs_its_workers_scales_and_goes_with_them() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(3))).await.unwrap();
    api.ready("dev/web").await;
    let first = api.workers_of("dev/web").await;
    assert_eq!((first.len(), pids(&first).len()), (3, 3));

    api.scale("dev/web", 5).await.unwrap();
    api.ready("dev/web").await;
    let more = api.workers_of("dev/web").await;
    assert!(pids(&more).is_superset(&pids(&first)), "those that ran go on");

    api.scale("dev/web", 1).await.unwrap();
    api.ready("dev/web").await;
    let one = api.workers_of("dev/web").await;
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].id, first.iter().map(|it| it.id.clone()).min().unwrap(), "the oldest stays");

    let gone = api.pools.delete(delete("dev/web")).await.unwrap().into_inner();
    assert!(gone.metadata.unwrap().deleting_since.is_some());
    until("the pool to be gone", async || {
        api.pools.get(crate::world::get("dev/web")).await.is_err().then_some(())
    })
    .await;
    assert!(api.workers_of_all().await.is_empty());
    api.environments.delete(delete("dev")).await.unwrap();
    api.quotas.delete(delete("team")).await.unwrap();
    api.targets.delete(delete("local")).await.unwrap();
}

#[tokio::test]
async fn a_changed_command_replaces_the_workers_one_by_one() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(3))).await.unwrap();
    api.ready("dev/web").await;
    let before = api.workers_of("dev/web").await;
    let mut spec = sleepers(3);
    spec.worker.as_mut().unwrap().command = words(&["sleep", "2000"]);
    let update = v1::UpdateWorkerPoolRequest {
        key: "dev/web".to_owned(),
        spec: Some(spec),
        ..v1::UpdateWorkerPoolRequest::default()
    };
    let updated = api.pools.update(update).await.unwrap().into_inner();
    assert_eq!(updated.metadata.unwrap().generation, 2);
    let ready = |pool: &v1::WorkerPool| pool.observed.as_ref().unwrap().ready_workers;
    let pool = until("the new workers", async || {
        let pool = api.pool("dev/web").await;
        assert!(ready(&pool) >= 2, "at most one may be missing: {pool:?}");
        let observed = pool.observed.as_ref().unwrap();
        crate::world::is_true(&observed.conditions, "Ready").then_some(pool)
    })
    .await;
    assert_eq!(pool.observed.unwrap().current_workers, 3);
    let after = api.workers_of("dev/web").await;
    assert!(pids(&after).is_disjoint(&pids(&before)));
    assert!(after.iter().all(|worker| worker.pool_generation == 2));
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_told_as_the_reason() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let mut spec = sleepers(1);
    spec.worker.as_mut().unwrap().command = words(&["/no/such/program"]);
    api.pools.create(new_pool("web", spec)).await.unwrap();
    let ready = until("the reason", async || {
        let conditions = api.pool("dev/web").await.observed.unwrap().conditions;
        let ready = condition(&conditions, "Ready").clone();
        (ready.reason == "CommandNotFound").then_some(ready)
    })
    .await;
    assert!(ready.message.contains("/no/such/program"), "{}", ready.message);
}

#[tokio::test]
async fn a_killed_worker_runs_again_and_is_the_same_worker() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let mut spec = sleepers(1);
    spec.restart = Some(v1::RestartPolicy {
        delay: Some(prost_types::Duration { seconds: 0, nanos: 20_000_000 }),
        ..v1::RestartPolicy::default()
    });
    api.pools.create(new_pool("web", spec)).await.unwrap();
    api.ready("dev/web").await;
    let before = api.workers_of("dev/web").await.remove(0);
    let pid = rustix::process::Pid::from_raw(before.pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let after = until("another process", async || {
        let worker = api.workers_of("dev/web").await.remove(0);
        (worker.ready && worker.pid != before.pid).then_some(worker)
    })
    .await;
    assert_eq!((after.id, after.restarts), (before.id, 1));
}

#[tokio::test]
async fn all_faults_of_a_pool_are_told_at_once_with_their_fields() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let mut request = new_pool("Web", sleepers(20_000));
    request.environment = "nowhere".to_owned();
    let spec = request.spec.as_mut().unwrap();
    let worker = spec.worker.as_mut().unwrap();
    worker.command = Vec::new();
    worker.ports = words(&["http", "http"]);
    worker.working_dir = "here".to_owned();
    worker.variables = crate::world::labels(&[("1a", ""), ("RUNTIMECLOUD_X", "")]);
    spec.readiness = Some(v1::Readiness {
        check: Some(v1::readiness::Check::Tcp(v1::TcpCheck { port: "grpc".to_owned() })),
        interval: Some(prost_types::Duration { seconds: -1, nanos: 0 }),
        ..v1::Readiness::default()
    });
    spec.stop = Some(v1::StopPolicy { signal: "BANG".to_owned(), grace: None });
    let status = api.pools.create(request).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::InvalidArgument, "INVALID"));
    let faults = faults(&status);
    for field in [
        "environment",
        "name",
        "spec.readiness.interval",
        "spec.readiness.tcp.port",
        "spec.size",
        "spec.stop.signal",
        "spec.worker.command",
        "spec.worker.ports",
        "spec.worker.variables",
        "spec.worker.working_dir",
    ] {
        assert!(
            faults.iter().any(|it| it.starts_with(&format!("{field}: "))),
            "{field}: {faults:#?}"
        );
    }
}

#[tokio::test]
async fn a_pool_that_finds_no_room_says_what_it_waits_for() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let local = crate::world::get("local");
    let target = api.targets.get(local).await.unwrap().into_inner();
    let mut spec = target.spec.unwrap();
    spec.capacity = Some(crate::world::amounts(&[("cpu", 250)]));
    let update = v1::UpdateCapacityTargetRequest {
        key: "local".to_owned(),
        spec: Some(spec),
        ..v1::UpdateCapacityTargetRequest::default()
    };
    api.targets.update(update).await.unwrap();
    api.pools.create(new_pool("web", sleepers(3))).await.unwrap();
    until("the reason", async || {
        let conditions = api.pool("dev/web").await.observed.unwrap().conditions;
        let ready = condition(&conditions, "Ready");
        let progressing = condition(&conditions, "Progressing");
        (ready.reason == "NoCapacity"
            && ready.message.starts_with("2 of 3")
            && progressing.status == v1::ConditionStatus::False as i32)
            .then_some(())
    })
    .await;
    let used = api.targets.get(crate::world::get("local")).await.unwrap().into_inner();
    assert_eq!(used.observed.unwrap().used.unwrap().amounts["cpu"], 200);
}

#[tokio::test]
async fn a_hundred_workers_become_ready() {
    let world = World::start();
    let mut api = world.api().await;
    api.target("local", crate::world::amounts(&[])).await;
    api.environment("dev", "").await;
    api.pools.create(new_pool("many", sleepers(100))).await.unwrap();
    api.ready("dev/many").await;
    assert_eq!(pids(&api.workers_of("dev/many").await).len(), 100);
}

#[tokio::test]
async fn a_worker_that_never_becomes_ready_is_told_as_the_reason() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let mut spec = sleepers(1);
    spec.worker.as_mut().unwrap().ports = words(&["http"]);
    let tcp = v1::TcpCheck { port: "http".to_owned() };
    spec.readiness = Some(v1::Readiness {
        check: Some(v1::readiness::Check::Tcp(tcp)),
        ..v1::Readiness::default()
    });
    api.pools.create(new_pool("web", spec)).await.unwrap();
    until("the reason", async || {
        let conditions = api.pool("dev/web").await.observed.unwrap().conditions;
        let ready = condition(&conditions, "Ready");
        (ready.reason == "NotReady" && ready.message.contains("127.0.0.1")).then_some(())
    })
    .await;
}
