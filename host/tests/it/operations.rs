//! Drains, restarts and replacements of real workers, over the real API.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use proto::runtimecloud::v1::{
    self, WorkerOperationState as State, WorkerOperationVerb as Verb, WriteOptions,
};
use tonic::{Code, Status};

use crate::world::{Api, World, faults, get, new_pool, reason, sleepers, until};

fn request(pool: &str, verb: Verb, workers: &[&str]) -> v1::StartWorkerOperationRequest {
    v1::StartWorkerOperationRequest {
        worker_pool: pool.to_owned(),
        workers: workers.iter().map(|&id| id.to_owned()).collect(),
        spec: Some(v1::WorkerOperationSpec { verb: verb.into(), ..Default::default() }),
        options: None,
    }
}

impl Api {
    async fn operate(&mut self, verb: Verb) -> v1::WorkerOperation {
        self.operations.start(request("dev/web", verb, &[])).await.unwrap().into_inner()
    }

    async fn operation(&mut self, id: &str) -> v1::WorkerOperation {
        self.operations.get(get(id)).await.unwrap().into_inner()
    }

    async fn ended(&mut self, id: &str) -> v1::WorkerOperation {
        until("the operation to end", async || {
            let now = self.operation(id).await;
            (now.state() != State::UnderWay).then_some(now)
        })
        .await
    }

    async fn pids(&mut self) -> BTreeMap<String, u32> {
        let workers = self.workers_of("dev/web").await;
        workers.into_iter().map(|worker| (worker.id, worker.pid)).collect()
    }
}

async fn world(size: u32) -> (World, Api) {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(size))).await.unwrap();
    api.ready("dev/web").await;
    (world, api)
}

#[tokio::test]
async fn drained_workers_are_cordoned_at_once_and_replaced_by_others() {
    let (_world, mut api) = world(3).await;
    let before = api.pids().await;
    let mut first = request("dev/web", Verb::Drain, &[]);
    first.options = Some(WriteOptions { request_id: "once".to_owned(), ..Default::default() });
    let begun = api.operations.start(first.clone()).await.unwrap().into_inner();
    assert_eq!((begun.total, begun.state()), (3, State::UnderWay));
    let marked = api.workers_of("dev/web").await;
    let leaves = ["Cordoned", "Draining", "Drained"];
    let old = marked.iter().filter(|worker| before.contains_key(&worker.id));
    for worker in old {
        assert!(leaves.contains(&worker.reason.as_str()), "{worker:?}");
        assert_eq!(worker.operation, begun.id);
    }
    let again = api.operations.start(first).await.unwrap().into_inner();
    assert_eq!(again.id, begun.id, "the same request is answered alike");
    let ended = api.ended(&begun.id).await;
    assert_eq!((ended.state(), ended.done), (State::Done, 3), "{ended:?}");
    assert_eq!((ended.waiting, ended.under_way, ended.skipped), (0, 0, 0));
    api.ready("dev/web").await;
    let after = api.pids().await;
    assert_eq!(after.len(), 3);
    assert!(after.keys().all(|id| !before.contains_key(id)));
    let told: BTreeSet<String> = api.all_events().await.into_iter().map(|it| it.r#type).collect();
    assert!(told.contains("WorkerOperationStarted") && told.contains("WorkerOperationEnded"));
}

/// Workers that end only when this file is there, whatever they are told.
fn stubborn(size: u32, end: &Path) -> v1::WorkerPoolSpec {
    let mut spec = sleepers(size);
    let worker = spec.worker.as_mut().unwrap();
    let command = "trap '' TERM; while [ ! -e \"$END\" ]; do sleep 0.1; done";
    worker.command = crate::world::words(&["sh", "-c", command]);
    worker.variables.insert("END".to_owned(), end.display().to_string());
    let day = prost_types::Duration { seconds: 86_400, nanos: 0 };
    spec.stop = Some(v1::StopPolicy { signal: "TERM".to_owned(), grace: Some(day) });
    spec
}

#[tokio::test]
async fn a_grace_of_the_operation_outweighs_that_of_the_pool() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let end = world.dir.path().join("end");
    api.pools.create(new_pool("web", stubborn(1, &end))).await.unwrap();
    api.ready("dev/web").await;
    for verb in [Verb::Restart, Verb::Replace] {
        let mut request = request("dev/web", verb, &[]);
        let grace = Duration::from_millis(100).try_into().ok();
        request.spec.as_mut().unwrap().grace = grace;
        let begun = api.operations.start(request).await.unwrap().into_inner();
        assert_eq!(api.ended(&begun.id).await.state(), State::Done, "{verb:?}");
    }
    std::fs::write(end, "").unwrap();
}

#[tokio::test]
async fn a_restart_goes_on_after_the_host_was_killed_and_happens_once() {
    let (mut world, mut api) = world(6).await;
    let before = api.pids().await;
    let begun = api.operate(Verb::Restart).await;
    for moment in 0..5_u64 {
        tokio::time::sleep(Duration::from_millis(40 * moment)).await;
        world.kill();
        world.restart(&[]);
    }
    let mut api = world.api().await;
    let ended = api.ended(&begun.id).await;
    assert_eq!((ended.state(), ended.done), (State::Done, 6), "{ended:?}");
    api.ready("dev/web").await;
    let after = api.pids().await;
    assert!(after.keys().eq(before.keys()), "ids stay");
    assert!(after.iter().all(|(id, pid)| before[id] != *pid), "processes do not");
    for worker in api.workers_of("dev/web").await {
        assert_eq!(worker.restarts, 1, "{worker:?}");
        assert_eq!(worker.operation, "");
    }
}

#[tokio::test]
async fn workers_that_wait_can_be_let_go_and_those_under_way_are_finished() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let end = world.dir.path().join("end");
    let spec = stubborn(3, &end);
    api.pools.create(new_pool("web", spec)).await.unwrap();
    api.ready("dev/web").await;
    let begun = api.operate(Verb::Drain).await;
    let under_way = until("one to be on its way", async || {
        let now = api.operation(&begun.id).await;
        (now.under_way == 1).then_some(now)
    })
    .await;
    assert_eq!(under_way.waiting, 2, "{under_way:?}");
    let workers = api.workers_of("dev/web").await;
    let of = |reason: &str| -> Vec<String> {
        let are = workers.iter().filter(|worker| worker.reason == reason);
        are.map(|worker| worker.id.clone()).collect()
    };
    let (waiting, leaving) = (of("Cordoned"), of("Draining"));
    assert_eq!((waiting.len(), leaving.len()), (2, 1), "{workers:?}");

    let refused = api.operations.start(request("dev/web", Verb::Drain, &[&leaving[0]])).await;
    assert!(faults(&refused.unwrap_err())[0].starts_with("workers[0]"), "it leaves already");
    let mut cancel = v1::CancelWorkerOperationRequest {
        key: begun.id.clone(),
        workers: leaving.clone(),
        options: None,
    };
    let refused = api.operations.cancel(cancel.clone()).await.unwrap_err();
    assert!(faults(&refused)[0].starts_with("workers[0]"), "{refused:?}");
    cancel.workers = vec![waiting[0].clone()];
    let one = api.operations.cancel(cancel.clone()).await.unwrap().into_inner();
    assert_eq!((one.skipped, one.waiting, one.state()), (1, 1, State::UnderWay));
    cancel.workers.clear();
    let all = api.operations.cancel(cancel.clone()).await.unwrap().into_inner();
    assert_eq!((all.skipped, all.waiting, all.state()), (2, 0, State::UnderWay));

    std::fs::write(end, "").unwrap();
    let ended = api.ended(&begun.id).await;
    assert_eq!((ended.state(), ended.done), (State::Cancelled, 1), "{ended:?}");
    let again = api.operations.cancel(cancel).await.unwrap().into_inner();
    assert_eq!(again, ended, "what has ended is not called off");
}

#[tokio::test]
async fn what_can_not_be_is_refused_with_its_field() {
    let (_world, mut api) = world(1).await;
    let none = api.operations.start(request("dev/none", Verb::Drain, &[])).await.unwrap_err();
    assert_eq!((none.code(), reason(&none).as_str()), (Code::NotFound, "NOT_FOUND"));
    let none = api.operations.get(get("operation_0")).await.unwrap_err();
    assert_eq!(none.code(), Code::NotFound);
    let long = prost_types::Duration { seconds: 8 * 86_400, nanos: 0 };
    let negative = prost_types::Duration { seconds: -1, nanos: 0 };
    let bad = v1::WorkerOperationSpec {
        verb: 99,
        parallel: u32::MAX,
        min_ready: 1,
        grace: Some(negative),
        deadline: Some(long),
    };
    let mut request = request("dev/web", Verb::Drain, &["worker_x", ""]);
    request.spec = Some(bad);
    let refused: Status = api.operations.start(request.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let faults = faults(&refused).join("\n");
    for field in
        ["spec.verb", "spec.min_ready", "spec.grace", "spec.deadline", "workers[0]", "workers[1]"]
    {
        assert!(faults.contains(field), "{field}: {faults}");
    }
    request.spec = None;
    let refused = api.operations.start(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}
