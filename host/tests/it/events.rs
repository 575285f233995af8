//! The event log: one order, resumed anywhere, silent when nothing happens.

use std::time::Duration;

use proto::runtimecloud::v1;

use crate::world::{World, new_pool, sleepers, until};

#[tokio::test]
async fn a_watcher_resumes_where_it_stopped_and_follows() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let all = api.all_events().await;
    assert!(all.is_sorted_by(|a, b| a.position < b.position));
    let middle = all[all.len() / 2].position;
    let watch =
        v1::WatchEventsRequest { after: middle, follow: true, ..v1::WatchEventsRequest::default() };
    let mut stream = api.events.watch(watch).await.unwrap().into_inner();
    for expected in all.iter().filter(|event| event.position > middle) {
        assert_eq!(&stream.message().await.unwrap().unwrap(), expected);
    }
    let quota = api.quota("later", &[]).await.metadata.unwrap();
    let followed = loop {
        let event = stream.message().await.unwrap().unwrap();
        if event.subject_id == quota.id {
            break event;
        }
    };
    assert_eq!(
        (followed.r#type.as_str(), followed.actor.as_str()),
        ("SpecificationDeclared", "admin")
    );
    assert_eq!((followed.subject_kind.as_str(), followed.generation), ("quota", 1));
}

#[tokio::test]
async fn events_are_picked_by_type_and_subject() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let environment = api.environment("other", "").await.metadata.unwrap();
    let watch = v1::WatchEventsRequest {
        types: vec!["SpecificationDeclared".to_owned()],
        subject_id: environment.id,
        ..v1::WatchEventsRequest::default()
    };
    let mut stream = api.events.watch(watch).await.unwrap().into_inner();
    let event = stream.message().await.unwrap().unwrap();
    assert_eq!(
        (event.subject_name.as_str(), event.data_json.as_str()),
        ("other", r#"{"change":"created"}"#)
    );
    assert!(stream.message().await.unwrap().is_none());
}

#[tokio::test]
async fn a_pool_tells_its_story_and_then_is_silent() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let before = api.all_events().await.last().unwrap().position;
    api.pools.create(new_pool("web", sleepers(5))).await.unwrap();
    api.ready("dev/web").await;
    let told = async |api: &mut crate::world::Api| -> Vec<v1::Event> {
        let events = api.all_events().await.into_iter();
        events.filter(|it| it.position > before && it.subject_name == "dev/web").collect()
    };
    let is_last = |events: &[v1::Event]| {
        let last = events.iter().rev().find(|it| it.r#type == "WorkerPoolStateChanged");
        last.is_some_and(|it| it.data_json.contains(r#""current_workers":5"#))
    };
    let events = until("the pool's readiness to be told", async || {
        Some(told(&mut api).await).filter(|events| is_last(events))
    })
    .await;
    let types: Vec<_> = events.iter().map(|event| event.r#type.as_str()).collect();
    for name in [
        "SpecificationDeclared",
        "ProvisioningPlanned",
        "ProvisioningApplied",
        "ObservedStateChanged",
    ] {
        assert!(types.contains(&name), "{name}: {types:?}");
    }
    assert!(events.len() < 20, "five workers need not so many events: {types:?}");
    let settled = api.all_events().await.len();
    // What must not happen can only be given time to happen.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(api.all_events().await.len(), settled);
}
