//! Leases over the wire: grants at once and after waiting, fencing tokens, renewal, expiry, hostile input.

use std::collections::BTreeSet;

use proto::runtimecloud::v1::{self, CapacityLeaseState as State};
use tonic::Code;

use crate::world::{
    World, condition, delete, faults, get, is_true, lease_of, new_lease, new_pool, reason, seconds,
    sleepers,
};

fn renew(key: &str, fencing_token: u64) -> v1::RenewCapacityLeaseRequest {
    v1::RenewCapacityLeaseRequest { key: key.to_owned(), fencing_token, options: None }
}

#[tokio::test]
async fn a_lease_lives_as_long_as_it_is_renewed_and_then_expires() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let spec = v1::CapacityLeaseSpec { ttl: seconds(3600), ..lease_of(&[("cpu", 1_500)]) };
    let made = api.leases.create(new_lease("a", spec.clone())).await.unwrap().into_inner();
    let first = made.observed.unwrap();
    assert_eq!((first.state(), first.fencing_token), (State::Granted, Some(1)));
    assert!(is_true(&first.conditions, "Granted"));
    assert_eq!(api.check("dev/a", 1).await, (true, "Granted".to_owned()));
    let renewed = api.leases.renew(renew("dev/a", 1)).await.unwrap().into_inner();
    let renewed = renewed.observed.unwrap();
    assert!(renewed.expires_at.unwrap().seconds >= first.expires_at.unwrap().seconds);
    assert_eq!(renewed.granted_at, first.granted_at);
    let stale = api.leases.renew(renew("dev/a", 2)).await.unwrap_err();
    assert_eq!(
        (stale.code(), reason(&stale).as_str()),
        (Code::FailedPrecondition, "STALE_FENCING_TOKEN")
    );

    let update = v1::UpdateCapacityLeaseRequest {
        key: "dev/a".to_owned(),
        spec: Some(v1::CapacityLeaseSpec { ttl: seconds(1), ..spec }),
        ..v1::UpdateCapacityLeaseRequest::default()
    };
    api.leases.update(update.clone()).await.unwrap();
    let ended = api.lease_in("dev/a", State::Expired).await;
    assert_eq!(ended.fencing_token, Some(1));
    assert_eq!(api.check("dev/a", 1).await, (false, "Expired".to_owned()));
    for refused in [
        api.leases.renew(renew("dev/a", 1)).await.unwrap_err(),
        api.leases.update(update).await.unwrap_err(),
    ] {
        assert_eq!(reason(&refused), "LEASE_ENDED", "{refused:?}");
    }
    let released = api.leases.delete(delete("dev/a")).await.unwrap().into_inner();
    assert_eq!(released.observed.unwrap().state(), State::Expired, "it ends once");

    let again = api.leases.create(new_lease("a", lease_of(&[("cpu", 2_000)]))).await.unwrap();
    let again = again.into_inner().observed.unwrap();
    assert_eq!((again.fencing_token, again.expires_at), (Some(2), None));
    assert_eq!(api.check("dev/a", 1).await, (false, "StaleToken".to_owned()));
    let quota = api.quotas.get(get("team")).await.unwrap().into_inner().observed.unwrap();
    assert_eq!(quota.used.unwrap().amounts["cpu"], 2_000);
    let list = api.leases.list(v1::ListRequest::default()).await.unwrap().into_inner();
    assert_eq!(list.capacity_leases.len(), 2, "what has ended can be looked at");
}

#[tokio::test]
async fn who_waits_is_granted_as_soon_as_there_is_room_and_nobody_who_came_later() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    api.pools.create(new_pool("web", sleepers(10))).await.unwrap();
    let waits = |cpu, priority| v1::CapacityLeaseSpec {
        wait: seconds(3600),
        priority,
        ..lease_of(&[("cpu", cpu)])
    };
    let big = api.leases.create(new_lease("big", waits(1_500, 0))).await.unwrap().into_inner();
    let observed = big.observed.unwrap();
    assert_eq!((observed.state(), observed.position), (State::Waiting, Some(1)));
    let granted = condition(&observed.conditions, "Granted");
    assert_eq!(granted.reason, "NoRoom");
    assert!(
        granted
            .message
            .contains("quota `team` has no room for 1500m more of cpu: 1 of at most 2 is used")
    );
    // It would fit, but not before the one that came first.
    let small = api.leases.create(new_lease("small", waits(100, 0))).await.unwrap().into_inner();
    assert_eq!(small.observed.unwrap().position, Some(2));
    let status = api.leases.create(new_lease("now", lease_of(&[("cpu", 100)]))).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::ResourceExhausted, "OTHERS_WAIT"));
    let first = api.leases.create(new_lease("first", waits(200, 1))).await.unwrap().into_inner();
    assert_eq!(first.observed.unwrap().state(), State::Granted, "its priority is higher");
    assert_eq!(reason(&api.leases.renew(renew("dev/big", 0)).await.unwrap_err()), "LEASE_WAITS");
    assert_eq!(api.check("dev/big", 1).await, (false, "Waiting".to_owned()));

    api.scale("dev/web", 3).await.unwrap();
    let big = api.lease("dev/big").await;
    assert_eq!((big.state(), big.fencing_token), (State::Granted, Some(2)), "in the same change");
    assert_eq!(api.lease("dev/small").await.position, Some(1));
    api.leases.delete(delete("dev/big")).await.unwrap();
    assert_eq!(api.lease("dev/small").await.state(), State::Granted);
    assert_eq!(api.lease("dev/big").await.state(), State::Released);

    let never = api.leases.create(new_lease("never", waits(2_001, 0))).await.unwrap_err();
    assert_eq!(reason(&never), "QUOTA_EXCEEDED", "waiting would not help");
    let short = v1::CapacityLeaseSpec { wait: seconds(1), ..waits(2_000, 0) };
    api.leases.create(new_lease("short", short)).await.unwrap();
    api.lease_in("dev/short", State::Refused).await;
    let events = api.all_events().await;
    let of = |name: &str| -> Vec<String> {
        let events = events.iter().filter(|it| it.subject_name == name);
        events.map(|it| it.r#type.clone()).collect()
    };
    assert_eq!(
        of("dev/big"),
        [
            "SpecificationDeclared",
            "CapacityLeaseWaiting",
            "CapacityLeaseGranted",
            "SpecificationDeclared",
            "CapacityLeaseReleased"
        ]
    );
    assert_eq!(
        of("dev/short"),
        ["SpecificationDeclared", "CapacityLeaseWaiting", "CapacityLeaseRefused"]
    );
}

#[tokio::test]
async fn of_many_callers_at_once_only_as_many_get_a_lease_as_there_is_room_for() {
    let world = World::start();
    let mut api = world.api().await;
    api.quota("few", &[("leases", Some(7), None)]).await;
    api.environment("dev", "few").await;
    let token = world.admin_token();
    let calls = (0..40).map(|number| {
        let (world, token) = (&world, &token);
        async move {
            let mut api = world.api_as(token).await;
            let create = new_lease(&format!("lease-{number}"), lease_of(&[("seats", 1)]));
            api.leases.create(create).await.map(tonic::Response::into_inner)
        }
    });
    let results = futures_util::future::join_all(calls).await;
    let tokens: Vec<_> =
        results.iter().flatten().map(|it| it.observed.as_ref()?.fencing_token).collect();
    assert_eq!(tokens.len(), 7);
    assert_eq!(tokens.into_iter().collect::<BTreeSet<_>>(), (1..=7).map(Some).collect());
    assert!(
        results.iter().flat_map(|it| it.as_ref().err()).all(|it| reason(it) == "QUOTA_EXCEEDED")
    );
}

#[tokio::test]
async fn a_repeated_request_gives_the_same_lease_and_is_charged_once() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let with = |request_id: &str, dry_run| v1::CreateCapacityLeaseRequest {
        options: Some(v1::WriteOptions {
            request_id: request_id.to_owned(),
            dry_run,
            ..v1::WriteOptions::default()
        }),
        ..new_lease("a", lease_of(&[("cpu", 500)]))
    };
    let dry = api.leases.create(with("", true)).await.unwrap().into_inner();
    assert_eq!(dry.observed.unwrap().state(), State::Granted);
    let first = api.leases.create(with("mine", false)).await.unwrap().into_inner();
    let again = api.leases.create(with("mine", false)).await.unwrap().into_inner();
    assert_eq!(first.metadata, again.metadata);
    assert_eq!(again.observed.unwrap().fencing_token, Some(1));
    let quota = api.quotas.get(get("team")).await.unwrap().into_inner().observed.unwrap();
    assert_eq!(quota.used.unwrap().amounts["cpu"], 500);
    let status = api.leases.create(with("other", false)).await.unwrap_err();
    assert_eq!(reason(&status), "NAME_EXISTS");
    assert_eq!(reason(&api.environments.delete(delete("dev")).await.unwrap_err()), "IN_USE");
}

#[tokio::test]
async fn hostile_leases_are_refused_with_each_fault_at_its_field() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let spec = v1::CapacityLeaseSpec {
        amounts: Some(crate::world::amounts(&[("cpu", 0), ("leases", 1), ("Ä", u64::MAX)])),
        ttl: seconds(0),
        max_life: seconds(-1),
        wait: seconds(i64::MAX),
        holder: "a\0b".to_owned(),
        purpose: "x".repeat(100_000),
        priority: i32::MIN,
        deletion_protection: false,
        preemption: 77,
    };
    let status = api.leases.create(new_lease("A b", spec)).await.unwrap_err();
    let fields: BTreeSet<_> =
        faults(&status).iter().filter_map(|it| Some(it.split_once(": ")?.0.to_owned())).collect();
    let expected = [
        "name",
        "spec.amounts",
        "spec.amounts[`cpu`]",
        "spec.amounts[`leases`]",
        "spec.holder",
        "spec.max_life",
        "spec.preemption",
        "spec.priority",
        "spec.purpose",
        "spec.ttl",
        "spec.wait",
    ];
    assert_eq!(fields, expected.map(str::to_owned).into());
    let huge = lease_of(&[("cpu", u64::MAX), ("gpu", u64::MAX)]);
    let status = api.leases.create(new_lease("huge", huge.clone())).await.unwrap_err();
    assert_eq!(reason(&status), "QUOTA_EXCEEDED");
    api.environment("free", "").await;
    for name in ["one", "two"] {
        let request = v1::CreateCapacityLeaseRequest {
            environment: "free".to_owned(),
            ..new_lease(name, huge.clone())
        };
        api.leases.create(request).await.unwrap();
    }
    for key in ["", "/", "dev/", "dev/none", "lease_x", "\0", &"x/".repeat(10_000)] {
        assert_eq!(api.leases.get(get(key)).await.unwrap_err().code(), Code::NotFound);
        assert_eq!(api.check(key, u64::MAX).await, (false, "Unknown".to_owned()));
    }
}

#[test]
fn of_what_has_ended_only_the_last_thousand_is_kept() {
    let mut script = crate::sim::script::Script::new();
    script.run("environment dev");
    script.run("lease dev/stays cpu=1");
    for _ in 0..1_100 {
        script.run("lease dev/goes cpu=1");
        script.run("delete lease dev/goes");
        script.run("pass 1");
    }
    let leases = &script.world.records.capacity_leases;
    assert_eq!((leases.ended().len(), leases.iter().count()), (1_000, 1_001));
    assert_eq!(script.world.records.fencing_token, 1_101);
}

#[tokio::test]
async fn leases_outlive_a_killed_host_and_its_tokens_go_on() {
    let mut world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let long = v1::CapacityLeaseSpec { ttl: seconds(3600), ..lease_of(&[("cpu", 1_000)]) };
    let waits = v1::CapacityLeaseSpec { wait: seconds(3600), ..lease_of(&[("cpu", 1_500)]) };
    let brief = v1::CapacityLeaseSpec { ttl: seconds(1), ..lease_of(&[("cpu", 1)]) };
    api.leases.create(new_lease("long", long)).await.unwrap();
    api.leases.create(new_lease("brief", brief)).await.unwrap();
    api.leases.create(new_lease("waits", waits)).await.unwrap();
    let before = api.lease("dev/long").await;
    world.kill();
    world.restart(&[]);
    let mut api = world.api().await;
    let after = api.lease("dev/long").await;
    assert_eq!((after.granted_at, after.expires_at), (before.granted_at, before.expires_at));
    assert_eq!(api.check("dev/long", 1).await, (true, "Granted".to_owned()));
    assert_eq!(api.lease("dev/waits").await.position, Some(1));
    api.lease_in("dev/brief", State::Expired).await;
    api.leases.delete(delete("dev/long")).await.unwrap();
    let granted = api.lease("dev/waits").await;
    assert_eq!((granted.state(), granted.fencing_token), (State::Granted, Some(3)));
    world.kill();
    world.restart(&[]);
    let mut api = world.api().await;
    api.leases.delete(delete("dev/waits")).await.unwrap();
    api.environments.delete(delete("dev")).await.unwrap();
    api.environment("dev", "team").await;
    let made = api.leases.create(new_lease("new", lease_of(&[("cpu", 1)]))).await.unwrap();
    let token = made.into_inner().observed.unwrap().fencing_token;
    assert_eq!(token, Some(4), "also when none that had one is left");
}
