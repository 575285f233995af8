//! Quotas over the wire: numbers in refusals, races, soft limits, dry runs.

use proto::runtimecloud::v1;
use tonic::Code;
use tonic_types::StatusExt;

use crate::world::{World, condition, is_true, new_pool, quota_spec, reason, sleepers};

#[tokio::test]
async fn a_refusal_names_quota_resource_limit_used_and_requested() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(15))).await.unwrap();
    let status = api.pools.create(new_pool("more", sleepers(6))).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let info = status.get_details_error_info().unwrap();
    let facts: std::collections::BTreeMap<_, _> = info.metadata.into_iter().collect();
    let facts: Vec<_> = facts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(facts.join(" "), "limit=2 quota=team requested=600m resource=cpu used=1500m");
    assert!(status.get_details_request_info().is_some());
    let refused = api.pools.get(crate::world::get("dev/more")).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
}

#[tokio::test]
async fn callers_at_once_never_both_get_the_last_unit() {
    let world = World::start();
    let mut api = world.api().await;
    api.target("local", crate::world::amounts(&[])).await;
    api.quota("few", &[("workers", Some(7), None)]).await;
    api.environment("dev", "few").await;
    let token = world.admin_token();
    let calls = (0..40).map(|number| {
        let (world, token) = (&world, &token);
        async move {
            let mut api = world.api_as(token).await;
            let name = format!("pool-{number}");
            api.pools.create(new_pool(&name, sleepers(1))).await.map_err(|it| it.code())
        }
    });
    let results = futures_util::future::join_all(calls).await;
    let granted = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(granted, 7);
    assert!(
        results.iter().flat_map(|it| it.as_ref().err()).all(|it| *it == Code::ResourceExhausted)
    );
    let quota = api.quotas.get(crate::world::get("few")).await.unwrap().into_inner();
    assert_eq!(quota.observed.unwrap().used.unwrap().amounts["workers"], 7);
}

#[tokio::test]
async fn a_soft_limit_is_granted_and_reported_once() {
    let world = World::start();
    let mut api = world.api().await;
    api.quota("team", &[("workers", Some(10), Some(2))]).await;
    api.environment("dev", "team").await;
    api.pools.create(new_pool("web", sleepers(3))).await.unwrap();
    api.scale("dev/web", 4).await.unwrap();
    let quota = api.quotas.get(crate::world::get("team")).await.unwrap().into_inner();
    let conditions = quota.observed.unwrap().conditions;
    assert!(is_true(&conditions, "WithinHardLimits"));
    let soft = condition(&conditions, "WithinSoftLimits");
    assert_eq!(soft.message, "workers: 4 used, limit 2");
    let events = api.all_events().await;
    assert_eq!(events.iter().filter(|it| it.r#type == "QuotaExceeded").count(), 1);
}

#[tokio::test]
async fn a_dry_run_decides_and_changes_nothing() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let before = api.all_events().await.len();
    let dry = |name: &str, size| v1::CreateWorkerPoolRequest {
        options: Some(v1::WriteOptions { dry_run: true, ..v1::WriteOptions::default() }),
        ..new_pool(name, sleepers(size))
    };
    let pool = api.pools.create(dry("web", 20)).await.unwrap().into_inner();
    assert_eq!(pool.spec.unwrap().size, 20);
    let status = api.pools.create(dry("web", 21)).await.unwrap_err();
    assert_eq!(reason(&status), "QUOTA_EXCEEDED");
    assert_eq!(
        api.pools.get(crate::world::get("dev/web")).await.unwrap_err().code(),
        Code::NotFound
    );
    let changes = api.all_events().await.split_off(before);
    assert!(changes.iter().all(|it| it.r#type != "SpecificationDeclared"), "{changes:#?}");
}

#[tokio::test]
async fn a_revision_that_is_not_the_present_one_is_refused() {
    let world = World::start();
    let mut api = world.api().await;
    let quota = api.quota("team", &[("cpu", Some(1), None)]).await;
    let update = |limit, revision| v1::UpdateQuotaRequest {
        key: "team".to_owned(),
        spec: Some(quota_spec(&[("cpu", Some(limit), None)])),
        options: Some(v1::WriteOptions { revision, ..v1::WriteOptions::default() }),
        ..v1::UpdateQuotaRequest::default()
    };
    let first = quota.metadata.unwrap().revision;
    let updated = api.quotas.update(update(2, first)).await.unwrap().into_inner();
    assert_eq!(updated.metadata.as_ref().unwrap().revision, first + 1);
    let status = api.quotas.update(update(3, first)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Aborted, "REVISION_MISMATCH"));
    let same = api.quotas.update(update(2, 0)).await.unwrap().into_inner();
    assert_eq!(same.metadata, updated.metadata, "a change that changes nothing leaves no trace");
}

#[tokio::test]
async fn a_repeated_request_id_gives_the_same_answer_and_another_call_under_it_is_refused() {
    let world = World::start();
    let mut api = world.api().await;
    let create = |name: &str| v1::CreateQuotaRequest {
        name: name.to_owned(),
        spec: Some(quota_spec(&[("cpu", Some(1), None)])),
        options: Some(v1::WriteOptions {
            request_id: "my-request".to_owned(),
            ..v1::WriteOptions::default()
        }),
        ..v1::CreateQuotaRequest::default()
    };
    let first = api.quotas.create(create("team")).await.unwrap().into_inner();
    let again = api.quotas.create(create("team")).await.unwrap().into_inner();
    assert_eq!(again.metadata, first.metadata);
    let status = api.quotas.create(create("other")).await.unwrap_err();
    assert_eq!(reason(&status), "REQUEST_ID_REUSED");
    let declared = api.all_events().await;
    let declared = declared.iter().filter(|it| it.subject_name == "team");
    assert_eq!(declared.filter(|it| it.r#type == "SpecificationDeclared").count(), 1);
}
