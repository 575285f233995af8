//! Service accounts, and the life of tokens: who makes which, how they are rotated, and how they end.

use proto::runtimecloud::v1::{self, Role};
use tonic::{Code, Status};

use crate::{
    access::{expiring, how_it_ends},
    world::{Api, World, delete, faults, get, new_token, reason},
};

const SECRET: &str = "correct-horse-battery-staple!#$%&";
const OTHER_SECRET: &str = "another-horse-battery-staple(){}[]";

fn of_account(account: &str, name: &str, secret: &str) -> v1::CreateTokenRequest {
    v1::CreateTokenRequest {
        service_account: account.to_owned(),
        name: name.to_owned(),
        spec: Some(v1::TokenSpec { secret: secret.to_owned(), ..v1::TokenSpec::default() }),
        ..v1::CreateTokenRequest::default()
    }
}

fn in_seconds(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second() + seconds
}

async fn is_let_in(world: &World, secret: &str) -> Result<(), Status> {
    world.api_as(secret).await.host.get_info(v1::GetInfoRequest {}).await.map(drop)
}

async fn update_account(
    api: &mut Api,
    change: impl FnOnce(&mut v1::ServiceAccountSpec),
) -> v1::ServiceAccount {
    let account = api.accounts.get(get("ci")).await.unwrap().into_inner();
    let mut spec = account.spec.unwrap();
    change(&mut spec);
    let request = v1::UpdateServiceAccountRequest {
        key: "ci".to_owned(),
        spec: Some(spec),
        ..v1::UpdateServiceAccountRequest::default()
    };
    api.accounts.update(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn tokens_of_an_account_have_its_role_and_end_with_it() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Viewer).await;
    let made = admin.token(of_account("ci", "deploy", SECRET)).await;
    assert_eq!(made.secret, "", "the caller knows it");
    let token = made.token.unwrap();
    assert_eq!(token.service_account, "ci");
    assert_eq!(token.observed.unwrap().role(), Role::Viewer);
    let mut ci = world.api_as(SECRET).await;
    let quota = v1::CreateQuotaRequest {
        name: "team".to_owned(),
        spec: Some(v1::QuotaSpec::default()),
        ..v1::CreateQuotaRequest::default()
    };
    let status = ci.quotas.create(quota.clone()).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::PermissionDenied, "ROLE_TOO_LOW"));

    update_account(&mut admin, |spec| spec.role = Role::Editor.into()).await;
    ci.quotas.create(quota).await.unwrap();
    assert_eq!(admin.all_events().await.pop().unwrap().actor, "ci/deploy");

    let watch = v1::WatchEventsRequest { follow: true, ..v1::WatchEventsRequest::default() };
    let stream = ci.events.watch(watch.clone()).await.unwrap().into_inner();
    update_account(&mut admin, |spec| spec.disabled = true).await;
    let status = is_let_in(&world, SECRET).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "BAD_TOKEN"));
    assert!(status.message().contains("`ci`, which is disabled"), "{}", status.message());
    assert_eq!(how_it_ends(stream).await.code(), Code::Unauthenticated);
    let observed = admin.tokens.get(get("ci/deploy")).await.unwrap().into_inner().observed.unwrap();
    assert_eq!((observed.valid, observed.reason.as_str()), (false, "AccountDisabled"));

    update_account(&mut admin, |spec| spec.disabled = false).await;
    let stream = ci.events.watch(watch).await.unwrap().into_inner();
    let account = admin.accounts.delete(delete("ci")).await.unwrap().into_inner();
    assert_eq!(how_it_ends(stream).await.code(), Code::Unauthenticated);
    let status = is_let_in(&world, SECRET).await.unwrap_err();
    assert!(status.message().contains("was revoked"), "{}", status.message());
    let token = admin.tokens.get(get(&token.metadata.unwrap().id)).await.unwrap().into_inner();
    assert_eq!(token.service_account, account.metadata.unwrap().id, "its name is free again");
    let told: Vec<_> = admin.all_events().await.into_iter().rev().take(2).collect();
    for (event, (name, change)) in told.iter().zip([("ci/deploy", "revoked"), ("ci", "deleted")]) {
        let data = format!(r#"{{"change":"{change}"}}"#);
        assert_eq!((event.subject_name.as_str(), &event.data_json), (name, &data));
        assert_eq!(event.actor, "admin");
    }
}

#[tokio::test]
async fn a_rotated_token_has_its_new_secret_alone_and_the_old_one_is_void_at_once() {
    let mut world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Editor).await;
    let made = admin.token(of_account("ci", "deploy", SECRET)).await.token.unwrap();
    let mut rotate = v1::UpdateTokenRequest {
        key: "ci/deploy".to_owned(),
        spec: Some(v1::TokenSpec { secret: OTHER_SECRET.to_owned(), ..v1::TokenSpec::default() }),
        ..v1::UpdateTokenRequest::default()
    };
    let rotated = admin.tokens.update(rotate.clone()).await.unwrap().into_inner();
    assert_eq!(rotated.metadata.as_ref().unwrap().generation, 2);
    let changed = |token: &v1::Token| token.observed.as_ref().unwrap().secret_changed_at;
    assert_ne!(changed(&rotated), changed(&made));
    assert_eq!(is_let_in(&world, SECRET).await.unwrap_err().code(), Code::Unauthenticated);
    is_let_in(&world, OTHER_SECRET).await.unwrap();
    let events = admin.all_events().await;
    let [.., declared, told] = &events[..] else { panic!("{events:?}") };
    assert_eq!(declared.data_json, r#"{"change":"updated"}"#);
    assert_eq!((told.r#type.as_str(), told.subject_name.as_str()), ("TokenRotated", "ci/deploy"));

    // The same again, and an update without a secret, leave it as it is.
    for secret in [OTHER_SECRET, ""] {
        rotate.spec.as_mut().unwrap().secret = secret.to_owned();
        let same = admin.tokens.update(rotate.clone()).await.unwrap().into_inner();
        assert_eq!(same.metadata, rotated.metadata);
    }
    rotate.spec.as_mut().unwrap().expires_at =
        Some(prost_types::Timestamp { seconds: in_seconds(3600), nanos: 0 });
    let later = admin.tokens.update(rotate).await.unwrap().into_inner();
    assert_eq!(changed(&later), changed(&rotated));
    assert_eq!(admin.all_events().await.len(), events.len() + 1);
    world.kill();
    world.restart(&[]);
    is_let_in(&world, OTHER_SECRET).await.unwrap();
}

#[tokio::test]
async fn a_secret_of_the_callers_must_be_long_and_its_own_and_is_told_nowhere() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Viewer).await;
    let many = "x".repeat(257);
    for unfit in [
        "too-short",
        "with a space in it, which no header keeps",
        "ünïcödé-is-not-fit-for-a-header",
        &many,
    ] {
        let status = admin.tokens.create(of_account("ci", "deploy", unfit)).await.unwrap_err();
        assert_eq!(faults(&status).len(), 1);
        assert!(faults(&status)[0].starts_with("spec.secret: it must be 32 to 256"));
        assert!(!format!("{status:?}").contains(unfit));
    }
    admin.token(of_account("ci", "deploy", SECRET)).await;
    let status = admin.tokens.create(of_account("ci", "other", SECRET)).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.secret: another token has it"));
    let mut request = of_account("ci", "made", "");
    request.options =
        Some(v1::WriteOptions { request_id: "one".to_owned(), ..v1::WriteOptions::default() });
    let status = admin.tokens.create(request.clone()).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.secret: it is missing"));
    request.spec.as_mut().unwrap().secret = OTHER_SECRET.to_owned();
    let first = admin.token(request.clone()).await.token.unwrap().metadata;
    assert_eq!(admin.token(request).await.token.unwrap().metadata, first, "it is made once");

    for event in admin.all_events().await {
        assert!(!event.data_json.contains("horse"), "{event:?}");
    }
    let database = std::fs::read(world.dir.path().join("runtimecloud.db-wal")).unwrap();
    assert!(!database.windows(5).any(|window| window == b"horse"), "only its hash is kept");
}

#[tokio::test]
async fn what_a_token_may_is_said_in_one_place() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Viewer).await;
    let mut both = of_account("ci", "deploy", SECRET);
    both.spec.as_mut().unwrap().role = Role::Admin.into();
    let status = admin.tokens.create(both).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.role: a token of a service account"));
    let none = new_token("alone", Role::Unspecified);
    let status = admin.tokens.create(none).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.role: it is not a role"));
    let status = admin.tokens.create(of_account("nobody", "x", SECRET)).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("service_account: "));
    let empty = v1::CreateServiceAccountRequest { name: "x".to_owned(), ..Default::default() };
    assert_eq!(faults(&admin.accounts.create(empty).await.unwrap_err()).len(), 1);
}

#[tokio::test]
async fn others_than_administrators_make_short_lived_tokens_of_no_higher_role() {
    let world = World::start();
    let mut admin = world.api().await;
    let secret = admin.token(new_token("edits", Role::Editor)).await.secret;
    let mut editor = world.api_as(&secret).await;
    let hour = in_seconds(3600);
    let good = expiring(new_token("run", Role::Viewer), hour);
    for (request, code) in [
        (expiring(new_token("run", Role::Admin), hour), Code::PermissionDenied),
        (expiring(of_account("ci", "run", SECRET), hour), Code::PermissionDenied),
        (new_token("run", Role::Viewer), Code::InvalidArgument),
        (expiring(new_token("run", Role::Viewer), in_seconds(25 * 3600)), Code::InvalidArgument),
    ] {
        assert_eq!(editor.tokens.create(request).await.unwrap_err().code(), code);
    }
    let made = editor.token(good.clone()).await;
    let mut later = v1::UpdateTokenRequest {
        key: "run".to_owned(),
        spec: expiring(new_token("run", Role::Viewer), hour + 60).spec,
        ..v1::UpdateTokenRequest::default()
    };
    editor.tokens.update(later.clone()).await.unwrap();
    later.spec.as_mut().unwrap().role = Role::Admin.into();
    for key in ["run", "edits", "admin"] {
        later.key = key.to_owned();
        let status = editor.tokens.update(later.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{key}");
    }
    let mut run = world.api_as(&made.secret).await;
    run.host.get_info(v1::GetInfoRequest {}).await.unwrap();
    let status = run.tokens.create(good.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied, "what was made with a token makes no other");
    let status = run.tokens.delete(delete("edits")).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    let status = editor.tokens.delete(delete("nothing")).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied, "what there is, is not told");
    run.tokens.delete(delete("run")).await.unwrap();
    assert_eq!(is_let_in(&world, &made.secret).await.unwrap_err().code(), Code::Unauthenticated);

    let made = editor.token(good).await;
    let id = made.token.unwrap().metadata.unwrap().id;
    admin.tokens.delete(delete("edits")).await.unwrap();
    let status = is_let_in(&world, &made.secret).await.unwrap_err();
    assert!(status.message().contains("made with another token"), "{}", status.message());
    let observed = admin.tokens.get(get(&id)).await.unwrap().into_inner().observed.unwrap();
    assert_eq!((observed.valid, observed.reason.as_str()), (false, "MakerEnded"));
    for request in [v1::ListRequest::default()] {
        assert_eq!(run.accounts.list(request).await.unwrap_err().code(), Code::Unauthenticated);
    }
}

#[tokio::test]
async fn viewers_see_accounts_and_only_administrators_handle_them() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Viewer).await;
    let secret = admin.token(new_token("edits", Role::Editor)).await.secret;
    let mut editor = world.api_as(&secret).await;
    let listed = editor.accounts.list(v1::ListRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.service_accounts.len(), 1);
    let status = editor.accounts.delete(delete("ci")).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    update_account(&mut admin, |spec| spec.deletion_protection = true).await;
    let status = admin.accounts.delete(delete("ci")).await.unwrap_err();
    assert_eq!(reason(&status), "DELETION_PROTECTED");
}

#[tokio::test]
async fn the_last_administrator_can_neither_be_weakened_nor_limited() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.account("ci", Role::Admin).await;
    admin.token(of_account("ci", "deploy", SECRET)).await;
    let update = |role: Role, expires_at| v1::UpdateTokenRequest {
        key: "admin".to_owned(),
        spec: Some(v1::TokenSpec { role: role.into(), expires_at, ..v1::TokenSpec::default() }),
        ..v1::UpdateTokenRequest::default()
    };
    let hour = prost_types::Timestamp { seconds: in_seconds(3600), nanos: 0 };
    for request in [update(Role::Editor, None), update(Role::Admin, Some(hour))] {
        let status = admin.tokens.update(request).await.unwrap_err();
        assert_eq!(reason(&status), "LAST_ADMINISTRATOR");
    }
    admin.token(new_token("second", Role::Admin)).await;
    admin.tokens.update(update(Role::Editor, None)).await.unwrap();
}

#[tokio::test]
async fn whoever_takes_the_name_of_an_expired_token_ends_it_for_good() {
    let world = World::start();
    let mut admin = world.api().await;
    let brief = expiring(new_token("brief", Role::Viewer), in_seconds(2));
    let first = admin.token(brief).await.token.unwrap().metadata.unwrap();
    let again = crate::world::until("the name to be free", async || {
        admin.tokens.create(new_token("brief", Role::Viewer)).await.ok()
    })
    .await;
    let again = again.into_inner().token.unwrap().metadata.unwrap();
    let old = admin.tokens.get(get(&first.id)).await.unwrap().into_inner();
    assert!(old.observed.unwrap().revoked_at.is_some());
    let named = admin.tokens.get(get("brief")).await.unwrap().into_inner();
    assert_eq!(named.metadata.unwrap().id, again.id);
    let page = v1::ListRequest { page_size: 2, ..v1::ListRequest::default() };
    let listed = admin.tokens.list(page).await.unwrap().into_inner();
    assert_eq!(listed.tokens.len(), 2);
    assert!(!listed.next_page_token.is_empty(), "both of the name are listed, and `admin`");
}
