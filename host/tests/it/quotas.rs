//! Quotas over the wire: numbers in refusals, races, soft limits, dry runs.

use proto::runtimecloud::v1;
use tonic::Code;
use tonic_types::StatusExt;

use crate::world::{
    Api, World, condition, faults, is_true, lease_of, new_lease, new_pool, quota_spec, reason,
    seconds, sleepers,
};

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
    assert_eq!(
        facts.join(" "),
        "limit=2 quota=team requested=600m resource=cpu rule=hard used=1500m"
    );
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

fn shared(parent: &str, limits: &[(&str, v1::Limit)]) -> v1::QuotaSpec {
    let limits = limits.iter().map(|(name, limit)| ((*name).to_owned(), *limit));
    v1::QuotaSpec {
        parent: parent.to_owned(),
        limits: limits.collect(),
        ..v1::QuotaSpec::default()
    }
}

fn share(share: u64) -> v1::Limit {
    v1::Limit { share: Some(share), ..v1::Limit::default() }
}

async fn plant(api: &mut Api, name: &str, spec: v1::QuotaSpec) -> Result<v1::Quota, tonic::Status> {
    let request = v1::CreateQuotaRequest {
        name: name.to_owned(),
        spec: Some(spec),
        ..v1::CreateQuotaRequest::default()
    };
    api.quotas.create(request).await.map(tonic::Response::into_inner)
}

/// `org` of 4 CPUs, of which `team` and `other` have 2 each; `dev` is bound to `team`, `test` to `other`.
async fn tree(api: &mut Api) {
    let hard = v1::Limit { hard: Some(4_000), ..v1::Limit::default() };
    let org = v1::QuotaSpec { reclaim_notice: seconds(0), ..shared("", &[("cpu", hard)]) };
    plant(api, "org", org).await.unwrap();
    plant(api, "team", shared("org", &[("cpu", share(2_000))])).await.unwrap();
    plant(api, "other", shared("org", &[("cpu", share(2_000))])).await.unwrap();
    api.environment("dev", "team").await;
    api.environment("test", "other").await;
}

#[tokio::test]
async fn a_tree_shows_what_is_used_borrowed_and_lent_and_an_owner_gets_it_back() {
    let world = World::start();
    let mut api = world.api().await;
    tree(&mut api).await;
    let spec = v1::CapacityLeaseSpec {
        preemption: v1::Preemption::Reclaimable.into(),
        ..lease_of(&[("cpu", 3_500)])
    };
    api.leases.create(new_lease("batch", spec)).await.unwrap();
    let of = async |api: &mut Api, name: &str| {
        let quota = api.quotas.get(crate::world::get(name)).await.unwrap().into_inner();
        let observed = quota.observed.unwrap();
        (observed.resources["cpu"], observed.children)
    };
    let (team, children) = of(&mut api, "team").await;
    assert_eq!((team.used, team.used_directly, team.share), (3_500, 3_500, Some(2_000)));
    assert_eq!((team.borrowed, team.lent, team.room), (1_500, 0, Some(500)));
    assert!(children.is_empty());
    let (other, _) = of(&mut api, "other").await;
    assert_eq!((other.used, other.borrowed, other.lent, other.room), (0, 0, 1_500, Some(500)));
    let (org, children) = of(&mut api, "org").await;
    assert_eq!((org.used, org.used_directly, org.room), (3_500, 0, Some(500)));
    assert_eq!(children, ["other", "team"]);

    let owner = v1::CapacityLeaseSpec { wait: seconds(60), ..lease_of(&[("cpu", 2_000)]) };
    let request = v1::CreateCapacityLeaseRequest {
        environment: "test".to_owned(),
        ..new_lease("own", owner)
    };
    let granted = api.leases.create(request).await.unwrap().into_inner().observed.unwrap();
    assert_eq!(granted.state(), v1::CapacityLeaseState::Granted);
    let batch = api.lease("dev/batch").await;
    assert_eq!(batch.state(), v1::CapacityLeaseState::Reclaimed);
    assert_eq!(reason_of(&batch), "Reclaimed");
    let token = batch.fencing_token.unwrap();
    assert_eq!(api.check("dev/batch", token).await, (false, "Reclaimed".to_owned()));
}

fn reason_of(lease: &v1::CapacityLeaseObserved) -> &str {
    &condition(&lease.conditions, "Granted").reason
}

/// I3: the same request again is the same lease, and is not charged again.
#[tokio::test]
async fn a_grant_that_is_asked_for_twice_is_charged_once() {
    let world = World::start();
    let mut api = world.api().await;
    tree(&mut api).await;
    let request = v1::CreateCapacityLeaseRequest {
        options: Some(v1::WriteOptions {
            request_id: "once".to_owned(),
            ..v1::WriteOptions::default()
        }),
        ..new_lease("batch", lease_of(&[("cpu", 1_000)]))
    };
    let first = api.leases.create(request.clone()).await.unwrap().into_inner();
    let again = api.leases.create(request).await.unwrap().into_inner();
    assert_eq!(again.metadata, first.metadata);
    for quota in ["team", "org"] {
        let quota = api.quotas.get(crate::world::get(quota)).await.unwrap().into_inner();
        assert_eq!(quota.observed.unwrap().used.unwrap().amounts["cpu"], 1_000);
    }
    let counted = api.quotas.recount(v1::RecountQuotasRequest {}).await.unwrap().into_inner();
    assert_eq!((counted.quotas, counted.environments, counted.capacity_leases), (3, 2, 1));
    assert_eq!(counted.differences, []);
}

#[tokio::test]
async fn the_books_are_right_after_a_host_was_killed() {
    let mut world = World::start();
    let mut api = world.api().await;
    tree(&mut api).await;
    api.leases.create(new_lease("batch", lease_of(&[("cpu", 1_500)]))).await.unwrap();
    world.kill();
    world.restart(&[]);
    let mut api = world.api().await;
    let counted = api.quotas.recount(v1::RecountQuotasRequest {}).await.unwrap().into_inner();
    assert_eq!((counted.capacity_leases, counted.differences.len()), (1, 0));
    let org = api.quotas.get(crate::world::get("org")).await.unwrap().into_inner();
    assert_eq!(org.observed.unwrap().used.unwrap().amounts["cpu"], 1_500);
    let info = api.host.get_info(v1::GetInfoRequest {}).await.unwrap().into_inner();
    let last = info.last_recount.unwrap();
    assert_eq!((last.quotas, last.capacity_leases, last.differences), (3, 1, 0));
}

#[tokio::test]
async fn hostile_quotas_are_refused_with_each_fault_at_its_field() {
    let world = World::start();
    let mut api = world.api().await;
    tree(&mut api).await;
    let limit = v1::Limit {
        hard: Some(1),
        share: Some(2),
        borrowing: Some(u64::MAX),
        lending: Some(u64::MAX),
        soft: Some(u64::MAX),
    };
    let spec = v1::QuotaSpec {
        reclaim_notice: seconds(i64::MAX),
        ..shared("no\0where", &[("cpu", limit), ("Ä", v1::Limit::default())])
    };
    let status = plant(&mut api, "bad", spec).await.unwrap_err();
    let faults = faults(&status);
    let has = |start: &str| faults.iter().any(|fault| fault.starts_with(start));
    for start in [
        "spec.limits: `Ä` is not a resource",
        "spec.limits[`cpu`]: the soft limit",
        "spec.limits[`cpu`]: the share 2m is above the hard limit 1m",
        "spec.limits[`cpu`]: the lending",
        "spec.limits[`Ä`]: it limits nothing",
        "spec.parent: quota `no\\0where` does not exist",
        "spec.reclaim_notice: it is longer than 1 h",
    ] {
        assert!(has(start), "{start}: {faults:#?}");
    }
    // Sums of what no machine has do not wrap around.
    let huge = v1::Limit { borrowing: Some(u64::MAX), ..share(u64::MAX) };
    for name in ["huge-1", "huge-2"] {
        plant(&mut api, name, shared("org", &[("gpu", huge)])).await.unwrap();
    }
    let org = api.quotas.get(crate::world::get("org")).await.unwrap().into_inner();
    assert_eq!(org.observed.unwrap().resources["gpu"].share, Some(u64::MAX));
}
