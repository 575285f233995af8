//! The event log: one order, resumed anywhere, silent when nothing happens.

use std::time::Duration;

use proto::runtimecloud::v1;
use tonic::Code;

use crate::world::{World, new_pool, reason, sleepers, until};

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

#[tokio::test]
async fn pages_of_the_log_are_read_from_either_end() {
    let world = World::start();
    let mut api = world.api().await;
    for number in 0..5 {
        api.quota(&format!("team-{number}"), &[]).await;
    }
    let mut all = api.all_events().await;
    for newest_first in [false, true] {
        let mut request = v1::ListEventsRequest {
            newest_first,
            page_size: 2,
            ..v1::ListEventsRequest::default()
        };
        let mut found = Vec::new();
        loop {
            let page = api.events.list(request.clone()).await.unwrap().into_inner();
            assert!(page.events.len() <= 2 && page.position >= all.last().unwrap().position);
            found.extend(page.events);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        assert_eq!(found, all);
        all.reverse();
        for page_token in [request.page_token.as_str(), "%%%", "_w", "eDEy"] {
            let page_token = page_token.to_owned();
            let wrong = v1::ListEventsRequest {
                newest_first: !newest_first,
                page_token,
                ..request.clone()
            };
            assert_eq!(api.events.list(wrong).await.unwrap_err().code(), Code::InvalidArgument);
        }
    }
}

#[tokio::test]
async fn a_reader_who_comes_too_late_is_told_and_goes_on_from_a_snapshot() {
    let world = World::start_with(&["--events-max-count", "5"]);
    let mut api = world.api().await;
    for number in 0..20 {
        api.quota(&format!("team-{number}"), &[]).await;
    }
    let late = v1::WatchEventsRequest { after: 1, ..v1::WatchEventsRequest::default() };
    let refused = until("events to go", async || {
        api.events.watch(late.clone()).await.unwrap().into_inner().message().await.err()
    })
    .await;
    assert_eq!((refused.code(), reason(&refused).as_str()), (Code::OutOfRange, "POSITION_GONE"));
    let listed = v1::ListEventsRequest { after: 1, ..v1::ListEventsRequest::default() };
    assert_eq!(reason(&api.events.list(listed).await.unwrap_err()), "POSITION_GONE");
    let ahead = v1::WatchEventsRequest { after: 1 << 40, ..late };
    let refused = api.events.watch(ahead).await.unwrap().into_inner().message().await.unwrap_err();
    assert_eq!(reason(&refused), "POSITION_UNKNOWN");

    let kinds = vec!["quota".to_owned()];
    let request = v1::SnapshotRequest { kinds };
    let mut parts = api.events.snapshot(request).await.unwrap().into_inner();
    let mut snapshot = Vec::new();
    while let Some(part) = parts.message().await.unwrap() {
        snapshot.push(part);
    }
    assert_eq!(snapshot.len(), 21);
    assert!(snapshot[0].resource.is_none());
    let resource = snapshot[1].resource.clone().unwrap();
    assert_eq!(resource.type_url, "type.googleapis.com/runtimecloud.v1.Quota");
    let quota: v1::Quota = prost::Message::decode(resource.value.as_slice()).unwrap();
    assert_eq!(quota.metadata.unwrap().name, "team-0");
    let later = api.quota("later", &[]).await.metadata.unwrap();
    let from = v1::WatchEventsRequest {
        after: snapshot[0].position,
        follow: true,
        ..v1::WatchEventsRequest::default()
    };
    let mut stream = api.events.watch(from).await.unwrap().into_inner();
    while stream.message().await.unwrap().unwrap().subject_id != later.id {}
}

#[tokio::test]
async fn tokens_are_in_the_snapshots_of_administrators_alone() {
    let world = World::start();
    let mut api = world.api().await;
    let viewer = api.token(crate::world::new_token("looks", v1::Role::Viewer)).await;
    let mut viewer = world.api_as(&viewer.secret).await;
    for (api, is_there) in [(&mut api, true), (&mut viewer, false)] {
        let request = v1::SnapshotRequest::default();
        let mut parts = api.events.snapshot(request).await.unwrap().into_inner();
        let mut kinds = Vec::new();
        while let Some(part) = parts.message().await.unwrap() {
            kinds.push(part.kind);
        }
        assert_eq!(kinds.contains(&"token".to_owned()), is_there);
    }
    let request = v1::SnapshotRequest { kinds: vec!["token".to_owned()] };
    let refused = viewer.events.snapshot(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}
