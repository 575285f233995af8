//! Event subscriptions against a real receiver: signed, in order, at least once, whatever fails.

use std::collections::BTreeSet;

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::STANDARD};
use proto::runtimecloud::v1;
use serde_json::Value;
use tonic::Code;

use crate::{
    receiver::{Got, Receiver, Reply},
    world::{Api, World, condition, delete, faults, get, is_true, reason, until},
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_bm9ib2R5IHNoYWxsIGZpbmQgdGhpcyBvbmUh";

fn millis(millis: i32) -> Option<prost_types::Duration> {
    Some(prost_types::Duration {
        seconds: i64::from(millis / 1000),
        nanos: millis % 1000 * 1_000_000,
    })
}

/// Tells of quotas alone, and tries again soon.
fn spec(url: &str) -> v1::EventSubscriptionSpec {
    v1::EventSubscriptionSpec {
        url: url.to_owned(),
        types: vec!["SpecificationDeclared".to_owned()],
        secret: SECRET.to_owned(),
        timeout: millis(500),
        max_attempts: 20,
        retry_min: millis(10),
        retry_max: millis(20),
        ..v1::EventSubscriptionSpec::default()
    }
}

fn create(spec: v1::EventSubscriptionSpec) -> v1::CreateEventSubscriptionRequest {
    v1::CreateEventSubscriptionRequest {
        name: "hook".to_owned(),
        spec: Some(spec),
        ..v1::CreateEventSubscriptionRequest::default()
    }
}

fn update(spec: v1::EventSubscriptionSpec) -> v1::UpdateEventSubscriptionRequest {
    let spec = Some(spec);
    let key = "hook".to_owned();
    v1::UpdateEventSubscriptionRequest {
        key,
        spec,
        ..v1::UpdateEventSubscriptionRequest::default()
    }
}

impl Api {
    async fn subscribe(&mut self, spec: v1::EventSubscriptionSpec) -> v1::EventSubscription {
        self.subscriptions.create(create(spec)).await.unwrap().into_inner()
    }

    async fn seen(&mut self) -> v1::EventSubscriptionObserved {
        self.subscriptions.get(get("hook")).await.unwrap().into_inner().observed.unwrap()
    }

    /// Waits until a condition has a reason.
    async fn says(&mut self, name: &str, wanted: &str) -> v1::EventSubscriptionObserved {
        until(&format!("{name} to be {wanted}"), async || {
            let seen = self.seen().await;
            (condition(&seen.conditions, name).reason == wanted).then_some(seen)
        })
        .await
    }

    async fn letters(&mut self) -> Vec<v1::DeadLetter> {
        let request = v1::ListDeadLettersRequest { key: "hook".to_owned(), ..Default::default() };
        self.subscriptions.list_dead_letters(request).await.unwrap().into_inner().dead_letters
    }

    async fn resume(&mut self) {
        let request = v1::ResumeEventSubscriptionRequest { key: "hook".to_owned(), options: None };
        self.subscriptions.resume(request).await.unwrap();
    }
}

fn all_letters() -> v1::DeadLettersRequest {
    v1::DeadLettersRequest { key: "hook".to_owned(), positions: Vec::new() }
}

/// Names of the subjects, each at its first delivery, without the subscription itself.
fn names(got: &[Got]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let fresh = got.iter().filter(|it| seen.insert(it.headers["webhook-id"].clone()));
    let names = fresh.map(|it| json(it)["subjectname"].as_str().unwrap().to_owned());
    names.filter(|name| name != "hook").collect()
}

fn json(got: &Got) -> Value {
    serde_json::from_str(&got.body).unwrap()
}

fn is_signed_with(got: &Got, secret: &str) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let [id, timestamp] = ["webhook-id", "webhook-timestamp"].map(|name| &got.headers[name]);
    let text = format!("{id}.{timestamp}.{}", got.body);
    got.headers["webhook-signature"].split(' ').any(|signature| {
        let tag = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
        hmac::verify(&key, text.as_bytes(), &tag).is_ok()
    })
}

#[tokio::test]
async fn events_are_posted_in_order_as_signed_cloud_events() {
    let world = World::start();
    let mut api = world.api().await;
    api.quota("before", &[]).await;
    let receiver = Receiver::start(|_| Reply::Taken).await;
    api.subscribe(spec(&receiver.url)).await;
    let expected: Vec<_> = (0..5).map(|number| format!("team-{number}")).collect();
    for name in &expected {
        api.quota(name, &[]).await;
    }
    until("all events", async || (names(&receiver.taken()).len() == 5).then_some(())).await;
    let taken = receiver.taken();
    assert_eq!(names(&taken), expected);
    for got in &taken {
        let event = json(got);
        assert!(is_signed_with(got, SECRET) && !is_signed_with(got, OTHER));
        assert_eq!(got.headers["content-type"], "application/cloudevents+json");
        assert_eq!(event["id"], got.headers["webhook-id"].as_str());
        assert_eq!(event["specversion"], "1.0");
        assert_eq!(event["type"], "dev.runtimecloud.SpecificationDeclared.v1");
        assert_eq!(event["data"]["change"], "created");
        assert_eq!(event["sequence"].as_str().unwrap().len(), 20);
    }
    let seen = api.says("Delivering", "UpToDate").await;
    assert!(is_true(&seen.conditions, "Complete"));
    assert_eq!((seen.delivered, seen.behind, seen.attempts), (5, 0, 0));
    api.subscriptions.delete(delete("hook")).await.unwrap();
    api.quota("after", &[]).await;
    assert_eq!(reason(&api.subscriptions.get(get("hook")).await.unwrap_err()), "NOT_FOUND");
    assert_eq!(names(&receiver.taken()).len(), 5);
}

#[tokio::test]
async fn whatever_the_receiver_does_an_event_is_tried_again_and_nothing_overtakes_it() {
    let world = World::start();
    let mut api = world.api().await;
    let mut replies = [
        Reply::Status("500 Broken", ""),
        Reply::Hang,
        Reply::Status("302 Found", "location: /elsewhere\r\n"),
        Reply::Garbage,
        Reply::Close,
        Reply::Status("429 Slowly", "retry-after: 0\r\n"),
        Reply::Taken,
    ]
    .into_iter();
    let receiver = Receiver::start(move |_| replies.next().unwrap_or(Reply::Taken)).await;
    api.subscribe(spec(&receiver.url)).await;
    api.quota("first", &[]).await;
    api.quota("second", &[]).await;
    until("both events", async || (names(&receiver.taken()).len() == 2).then_some(())).await;
    assert_eq!(names(&receiver.taken()), ["first", "second"]);
    let all = receiver.all();
    let (_, tried) = all.split_last().unwrap();
    // A connection that was closed may be tried anew without being counted.
    assert!(tried.len() >= 7, "{all:?}");
    assert!(tried.iter().all(|(got, _)| json(got)["subjectname"] == "first"));
    assert!(all.iter().all(|(got, _)| got.path == "/hooks"), "no redirect is followed");
    let seen = api.says("Delivering", "UpToDate").await;
    assert!(is_true(&seen.conditions, "Complete"));
    assert!(seen.failure.contains("429"), "{}", seen.failure);
}

#[tokio::test]
async fn what_is_given_up_is_kept_and_can_be_sent_again() {
    let world = World::start();
    let mut api = world.api().await;
    let is_bad = |got: &Got| got.body.contains("bad");
    let receiver = Receiver::start(move |got| match is_bad(got) {
        true => Reply::Status("400 Bad", ""),
        false => Reply::Taken,
    })
    .await;
    api.subscribe(v1::EventSubscriptionSpec { max_attempts: 3, ..spec(&receiver.url) }).await;
    for name in ["one", "bad", "two"] {
        api.quota(name, &[]).await;
    }
    until("the others", async || (names(&receiver.taken()).len() == 2).then_some(())).await;
    let seen = api.says("Complete", "DeadLetters").await;
    assert_eq!((seen.dead_letters, seen.delivered), (1, 2));
    let letters = api.letters().await;
    assert_eq!((letters.len(), letters[0].attempts), (1, 3));
    assert!(letters[0].body.contains("bad") && letters[0].failure.contains("400"));

    // Still refused, it stays a dead letter.
    api.subscriptions.redeliver_dead_letters(all_letters()).await.unwrap();
    until("the next attempt", async || {
        let letters = api.letters().await;
        (letters[0].attempts == 4 && !letters[0].redelivering).then_some(())
    })
    .await;
    receiver.behave(|_| Reply::Taken);
    let sent = api.subscriptions.redeliver_dead_letters(all_letters()).await.unwrap().into_inner();
    assert_eq!(sent.dead_letters, 1);
    api.says("Complete", "AllTaken").await;
    assert_eq!(names(&receiver.taken()), ["one", "two", "bad"]);
    assert!(api.letters().await.is_empty());

    receiver.behave(move |_| Reply::Status("500 Broken", ""));
    api.quota("bad-again", &[]).await;
    api.says("Complete", "DeadLetters").await;
    let dropped = api.subscriptions.drop_dead_letters(all_letters()).await.unwrap().into_inner();
    assert_eq!(dropped.dead_letters, 1);
    api.says("Complete", "AllTaken").await;
}

#[tokio::test]
async fn where_nobody_listens_it_stops_until_it_is_resumed() {
    let mut world = World::start();
    let mut api = world.api().await;
    let receiver = Receiver::start(|_| Reply::Status("500 Broken", "")).await;
    api.subscribe(v1::EventSubscriptionSpec { max_attempts: 2, ..spec(&receiver.url) }).await;
    for number in 0..8 {
        api.quota(&format!("team-{number}"), &[]).await;
    }
    let seen = api.says("Delivering", "KeepsFailing").await;
    assert_eq!(seen.dead_letters, 5);
    world.kill();
    world.restart(&[]);
    api = world.api().await;
    let seen = api.says("Delivering", "KeepsFailing").await;
    assert_eq!((seen.dead_letters, receiver.all().len()), (5, 10), "a restart begins nothing anew");

    receiver.behave(|_| Reply::Taken);
    api.resume().await;
    until("the rest", async || (names(&receiver.taken()).len() == 3).then_some(())).await;
    assert_eq!(names(&receiver.taken()), ["team-5", "team-6", "team-7"]);
    api.subscriptions.redeliver_dead_letters(all_letters()).await.unwrap();
    api.says("Complete", "AllTaken").await;
    assert_eq!(names(&receiver.taken()).len(), 8);

    receiver.behave(|_| Reply::Status("410 Gone", ""));
    api.quota("unwanted", &[]).await;
    api.says("Delivering", "EndpointGone").await;
    // A change of the specification is as good.
    receiver.behave(|_| Reply::Taken);
    let url = format!("{}?again", receiver.url);
    api.subscriptions.update(update(spec(&url))).await.unwrap();
    until("what was refused", async || (names(&receiver.taken()).len() == 9).then_some(())).await;
    let events = api.all_events().await;
    let told = events.iter().filter(|it| it.r#type == "EventSubscriptionStateChanged");
    assert!(told.count() >= 4);
}

#[tokio::test]
async fn a_host_that_is_killed_in_mid_delivery_leaves_nothing_out() {
    let mut world = World::start();
    let mut api = world.api().await;
    // Some are refused at first, so that a restart falls into pauses too.
    let mut number = 0;
    let receiver = Receiver::start(move |_| {
        number += 1;
        if number % 3 == 0 { Reply::Status("503 Later", "") } else { Reply::Taken }
    })
    .await;
    api.subscribe(spec(&receiver.url)).await;
    let mut expected = Vec::new();
    for round in 0..4 {
        for number in 0..15 {
            let name = format!("team-{round}-{number}");
            api.quota(&name, &[]).await;
            expected.push(name);
        }
        let least = round * 15 + 5;
        until("some", async || (names(&receiver.taken()).len() > least).then_some(())).await;
        world.kill();
        world.restart(&[]);
        api = world.api().await;
    }
    until("all", async || (names(&receiver.taken()).len() == expected.len()).then_some(())).await;
    assert_eq!(names(&receiver.taken()), expected);
    assert!(receiver.taken().iter().all(|got| is_signed_with(got, SECRET)));
}

#[tokio::test]
async fn a_pause_is_as_long_as_the_receiver_asks_for_and_resuming_ends_it() {
    let world = World::start();
    let mut api = world.api().await;
    let receiver = Receiver::start(|_| Reply::Status("503 Later", "retry-after: 3600\r\n")).await;
    api.subscribe(spec(&receiver.url)).await;
    api.quota("team", &[]).await;
    let seen = api.says("Delivering", "Retrying").await;
    let pause = seen.next_attempt_at.unwrap().seconds - seen.failed_at.unwrap().seconds;
    assert!((3590..=3601).contains(&pause), "{pause}");
    assert!(is_true(&seen.conditions, "Delivering"));
    receiver.behave(|_| Reply::Taken);
    api.resume().await;
    until("the event", async || (names(&receiver.taken()).len() == 1).then_some(())).await;
}

#[tokio::test]
async fn for_a_day_both_secrets_sign_and_neither_is_to_be_seen() {
    let world = World::start();
    let mut api = world.api().await;
    let receiver = Receiver::start(|_| Reply::Taken).await;
    api.subscribe(spec(&receiver.url)).await;
    let unchanged = v1::EventSubscriptionSpec { secret: String::new(), ..spec(&receiver.url) };
    let same = api.subscriptions.update(update(unchanged)).await.unwrap().into_inner();
    assert_eq!(same.metadata.unwrap().generation, 1, "a secret that is not given stays");
    let rotated = v1::EventSubscriptionSpec { secret: OTHER.to_owned(), ..spec(&receiver.url) };
    let rotated = api.subscriptions.update(update(rotated)).await.unwrap().into_inner();
    assert!(!format!("{rotated:?}").contains("whsec_"));
    api.quota("team", &[]).await;
    // Its own change is an event that fits as well.
    let got = until("the event", async || {
        receiver.taken().into_iter().find(|got| got.body.contains("\"team\""))
    })
    .await;
    assert!(is_signed_with(&got, SECRET) && is_signed_with(&got, OTHER));
    for file in ["runtimecloud.db", "runtimecloud.db-wal"] {
        let bytes = std::fs::read(world.dir.path().join(file)).unwrap();
        for secret in [SECRET, OTHER] {
            let encoded = secret.strip_prefix("whsec_").unwrap();
            let raw = STANDARD.decode(encoded).unwrap();
            let is_in = |part: &[u8]| bytes.windows(part.len()).any(|it| it == part);
            assert!(!is_in(encoded.as_bytes()) && !is_in(&raw), "{file}");
        }
    }
}

#[tokio::test]
async fn a_filter_lets_through_what_lies_in_its_environments() {
    let world = World::start();
    let mut api = world.api().await;
    let receiver = Receiver::start(|_| Reply::Taken).await;
    let environments = vec!["dev".to_owned()];
    api.subscribe(v1::EventSubscriptionSpec { environments, ..spec(&receiver.url) }).await;
    api.usual().await;
    api.environment("other", "team").await;
    for environment in ["dev", "other"] {
        let mut lease = crate::world::new_lease("batch", crate::world::lease_of(&[("cpu", 100)]));
        lease.environment = environment.to_owned();
        api.leases.create(lease).await.unwrap();
    }
    until("both events", async || (names(&receiver.taken()).len() == 2).then_some(())).await;
    let seen = api.says("Delivering", "UpToDate").await;
    assert_eq!(
        (seen.behind, names(&receiver.taken())),
        (0, vec!["dev".to_owned(), "dev/batch".to_owned()])
    );
}

#[tokio::test]
async fn subscriptions_that_make_no_sense_are_refused_at_their_fields() {
    let world = World::start();
    let mut api = world.api().await;
    let long = format!("http://example.com/{}", "x".repeat(100_000));
    let urls = [
        ("", "not a URL"),
        ("ftp://example.com", "not an address of"),
        ("/hooks", "not an address of"),
        ("http://user:secret@example.com/", "user or a password"),
        ("http://example.com/#here", "fragment"),
        ("http://169.254.169.254/latest/meta-data", "local to a link"),
        ("http://[::ffff:169.254.169.254]/", "local to a link"),
        ("http://0.0.0.0/", "local to a link"),
        ("http://[fe80::1]/", "local to a link"),
        (&long, "longer than"),
    ];
    for (url, why) in urls {
        let refused = api.subscriptions.create(create(spec(url))).await.unwrap_err();
        let faults = faults(&refused);
        let is_told = faults.iter().any(|it| it.starts_with("spec.url: ") && it.contains(why));
        assert!(is_told, "{url}: {faults:?}");
    }
    let faulty = v1::EventSubscriptionSpec {
        types: vec!["NoSuchEvent".to_owned()],
        environments: vec!["No Name".to_owned()],
        secret: "too short".to_owned(),
        timeout: millis(1),
        max_attempts: 1_000,
        ..spec("http://example.com/")
    };
    let refused = api.subscriptions.create(create(faulty)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let faults = faults(&refused).join("\n");
    for field in ["types", "environments", "secret", "timeout", "max_attempts"] {
        assert!(faults.contains(&format!("spec.{field}: ")), "{field}: {faults}");
    }
    assert!(!faults.contains("too short"), "secrets are not quoted");
    let none = v1::EventSubscriptionSpec { secret: String::new(), ..spec("http://example.com/") };
    let refused = api.subscriptions.create(create(none)).await.unwrap_err();
    assert!(refused.message().contains("spec.secret"), "{}", refused.message());
}

#[tokio::test]
async fn certificates_are_checked_against_those_that_the_system_trusts() {
    let dir = tempfile::TempDir::new().unwrap();
    let (trusted, other) = (dir.path().join("trusted.pem"), dir.path().join("other.pem"));
    let receiver = Receiver::start_tls(&trusted).await;
    let stranger = Receiver::start_tls(&other).await;
    let world = World::start_trusting(&trusted);
    let mut api = world.api().await;
    api.subscribe(spec(&receiver.url)).await;
    api.quota("team", &[]).await;
    until("the event", async || (names(&receiver.taken()).len() == 1).then_some(())).await;
    let elsewhere = v1::EventSubscriptionSpec { max_attempts: 100, ..spec(&stranger.url) };
    api.subscriptions.update(update(elsewhere)).await.unwrap();
    let seen = api.says("Delivering", "Retrying").await;
    assert!(seen.failure.contains("certificate"), "{}", seen.failure);
    assert!(stranger.all().is_empty());
}
