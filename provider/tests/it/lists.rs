//! List resources: what a query is told, through the server's calls; and that those of our own types
//! find what an import and a read would give.

use crate::{
    crates::{Crates, Store},
    fake_host::{FakeHost, context, settings},
};
use proto::{
    runtimecloud::v1 as api,
    tfplugin6::{self as pb, diagnostic::Severity, provider_server::Provider as _},
};
use provider::{
    client::Client,
    framework::{
        BoxFuture, Context, Diagnostics, IdentitySchema, Import, ListRequest, Listed,
        Provider as _, Read, Schema, Sink, Value,
        result::{self, Leftover},
    },
    list_resources::LIST_RESOURCES,
    resources::RESOURCES,
    server::Server,
    wire,
};
use std::ops::ControlFlow;
use tokio_stream::StreamExt as _;
use tonic::{Request, Status};

struct Bench {
    server: Server<Crates>,
    store: Store,
    schema: Schema,
    resource: Schema,
    identity: IdentitySchema,
}

/// What a list is asked for.
#[derive(Clone, Copy, Default)]
struct Asked {
    name: &'static str,
    then: &'static str,
    with_state: bool,
    limit: i64,
}

impl Bench {
    /// With crates of these names.
    async fn of(names: &[&str]) -> Self {
        let bench = Self::unconfigured();
        bench.configure().await;
        for (at, name) in names.iter().enumerate() {
            let serial = format!("c-{at}");
            let state = Value::object([
                ("serial", serial.as_str().into()),
                ("shelf", "front".into()),
                ("name", (*name).into()),
            ]);
            bench.store.lock().unwrap().insert(serial, state);
        }
        bench
    }

    fn unconfigured() -> Self {
        let crates = Crates::default();
        Self {
            store: crates.store.clone(),
            schema: crates.list_resources()[0].schema(),
            resource: crates.resources()[0].schema(),
            identity: crates.resources()[0].identity().unwrap(),
            server: Server::new(crates),
        }
    }

    async fn configure(&self) {
        let ty = Crates::default().schema().value_type();
        let config = Some(wire::encode(&ty, &Value::object([("hall", Value::Null)])).unwrap());
        let request = pb::configure_provider::Request { config, ..Default::default() };
        self.server.configure_provider(Request::new(request)).await.unwrap();
    }

    fn config(&self, asked: Asked) -> Option<pb::DynamicValue> {
        let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
        let config = Value::object([("name", text(asked.name)), ("then", text(asked.then))]);
        Some(wire::encode(&self.schema.value_type(), &config).unwrap())
    }

    async fn stream(
        &self,
        asked: Asked,
    ) -> <Server<Crates> as pb::provider_server::Provider>::ListResourceStream {
        let request = pb::list_resource::Request {
            type_name: "crates_crate".to_owned(),
            config: self.config(asked),
            include_resource_object: asked.with_state,
            limit: asked.limit,
        };
        self.server.list_resource(Request::new(request)).await.unwrap().into_inner()
    }

    /// Names, and what was told in the end.
    async fn list(&self, asked: Asked) -> (Vec<String>, Vec<pb::Diagnostic>) {
        let (mut names, mut told) = (Vec::new(), Vec::new());
        let mut events = self.stream(asked).await;
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            assert!(told.is_empty(), "what is told comes last");
            if event.diagnostic.is_empty() {
                assert_eq!(event.resource_object.is_some(), asked.with_state);
                self.check_identity(&event);
                names.push(event.display_name);
            }
            told.extend(event.diagnostic);
        }
        (names, told)
    }

    fn check_identity(&self, event: &pb::list_resource::Event) {
        let data = event.identity.as_ref().unwrap().identity_data.as_ref();
        let identity = wire::decode(&self.identity.value_type(), data).unwrap();
        assert!(self.identity.is_complete(&identity));
        assert_eq!(identity.text("shelf"), "front");
        if let Some(state) = &event.resource_object {
            let state = wire::decode(&self.resource.value_type(), Some(state)).unwrap();
            assert_eq!(state.get("serial"), identity.get("serial"));
            assert_eq!(state.get("weight").as_u32(), Some(1), "in full, as after an import");
        }
    }

    async fn validate(&self, asked: Asked) -> Vec<String> {
        let request = pb::validate_list_resource_config::Request {
            type_name: "crates_crate".to_owned(),
            config: self.config(asked),
            ..Default::default()
        };
        let answer = self.server.validate_list_resource_config(Request::new(request)).await;
        answer.unwrap().into_inner().diagnostics.into_iter().map(|d| d.summary).collect()
    }
}

#[tokio::test]
async fn a_list_finds_what_its_configuration_picks() {
    let bench = Bench::of(&["apples", "pears", "apples"]).await;
    for with_state in [false, true] {
        let all = Asked { with_state, ..Asked::default() };
        assert_eq!(
            bench.list(all).await,
            (vec!["apples".into(), "pears".into(), "apples".into()], vec![])
        );
        let pears = Asked { name: "pears", ..all };
        assert_eq!(bench.list(pears).await, (vec!["pears".to_owned()], vec![]));
    }
}

#[tokio::test]
async fn no_more_are_sent_than_asked_for() {
    let bench = Bench::of(&["a", "b", "c"]).await;
    for (limit, expected) in [(1, 1), (2, 2), (3, 3), (100, 3), (0, 3), (-1, 3), (i64::MAX, 3)] {
        let (names, told) = bench.list(Asked { limit, ..Asked::default() }).await;
        assert_eq!((names.len(), told), (expected, vec![]), "{limit}");
        let ended = bench.store.lock().unwrap().remove("ended").is_some();
        assert_eq!(ended, (1..=3).contains(&limit), "the list hears that it is enough");
    }
}

#[tokio::test]
async fn a_warning_does_not_end_a_list_and_an_error_or_a_panic_does() {
    let bench = Bench::of(&["a", "b"]).await;
    for (then, severity, summary) in [
        ("warns", Severity::Warning, "More"),
        ("fails", Severity::Error, "Dark"),
        ("panics", Severity::Error, "Provider crashed"),
    ] {
        let (names, told) = bench.list(Asked { then, ..Asked::default() }).await;
        assert_eq!(names, ["a", "b"], "what was found before is not lost");
        let told: Vec<_> = told.iter().map(|d| (d.severity(), d.summary.as_str())).collect();
        assert_eq!(told, [(severity, summary)]);
    }
}

#[tokio::test]
async fn what_has_no_identity_is_not_listed() {
    let bench = Bench::of(&["a", "anonymous", "c"]).await;
    let (names, told) = bench.list(Asked::default()).await;
    assert_eq!(names, ["a"]);
    assert_eq!(told[0].summary, "Identity missing");
}

#[tokio::test]
async fn a_list_that_nobody_listens_to_ends() {
    let bench = Bench::of(&["a"]).await;
    let mut events = bench.stream(Asked { then: "waits", ..Asked::default() }).await;
    assert_eq!(events.next().await.unwrap().unwrap().display_name, "a");
    drop(events);
    let ends = async {
        while !bench.store.lock().unwrap().contains_key("dropped") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), ends).await.unwrap();
}

#[tokio::test]
async fn a_list_without_a_configured_provider_says_so() {
    let bench = Bench::unconfigured();
    let (names, told) = bench.list(Asked::default()).await;
    assert_eq!((names.len(), told[0].summary.as_str()), (0, "Provider not configured"));
    assert_eq!(bench.validate(Asked::default()).await, Vec::<String>::new());
    assert_eq!(bench.validate(Asked { name: "none", ..Asked::default() }).await, ["No name"]);
}

#[tokio::test]
async fn a_list_of_what_is_not_known_is_an_error() {
    let bench = Bench::of(&["a"]).await;
    let config = Value::object([("name", Value::UNKNOWN), ("then", Value::Null)]);
    let request = pb::list_resource::Request {
        type_name: "crates_crate".to_owned(),
        config: Some(wire::encode(&bench.schema.value_type(), &config).unwrap()),
        ..Default::default()
    };
    let mut events = bench.server.list_resource(Request::new(request)).await.unwrap().into_inner();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.diagnostic[0].summary, "Not known yet");
    assert!(events.next().await.is_none());
}

/// Takes so many.
struct Basket {
    found: Vec<Listed>,
    room: usize,
}

impl Sink for Basket {
    fn send(&mut self, listed: Listed) -> BoxFuture<'_, ControlFlow<()>> {
        self.found.push(listed);
        let is_full = self.found.len() == self.room;
        let answer = if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        Box::pin(std::future::ready(answer))
    }
}

/// 5 environments of which every second is of team A, and a pool in each.
async fn host() -> (FakeHost, Context<Client>) {
    let (host, address) = FakeHost::start().await;
    for at in 0..5_u32 {
        let metadata = |kind: &str| {
            let team = if at % 2 == 0 { "a" } else { "b" };
            Some(api::Metadata {
                id: format!("{kind}_{at}"),
                name: format!("{kind}-{at}"),
                labels: [("team".to_owned(), team.to_owned()), ("x".to_owned(), "1".to_owned())]
                    .into(),
                ..Default::default()
            })
        };
        let environment = api::Environment {
            metadata: metadata("env"),
            spec: Some(api::EnvironmentSpec {
                description: "Found".to_owned(),
                ..Default::default()
            }),
            observed: None,
        };
        let pool = api::WorkerPool {
            metadata: metadata("pool"),
            environment: format!("env-{at}"),
            spec: Some(api::WorkerPoolSpec::default()),
            observed: None,
        };
        let mut memory = host.memory();
        memory.environments.insert(format!("env_{at}"), environment);
        memory.worker_pools.insert(format!("pool_{at}"), pool);
    }
    let defaults = [("team".to_owned(), "a".to_owned())].into();
    (host, context(Client::new(settings(address), Some(defaults)).unwrap()))
}

/// What the list of a type finds, `room` of it.
async fn find(ty: &str, config: Value, context: &Context<Client>, room: usize) -> Vec<Listed> {
    let list = LIST_RESOURCES.iter().find(|list| list.type_name() == ty).unwrap();
    let mut basket = Basket { found: Vec::new(), room };
    let mut diagnostics = Diagnostics::new();
    let request = ListRequest { config: &config, include_state: true, limit: room };
    let listed = list.list(context, request, &mut basket, &mut diagnostics).await;
    assert!(listed.is_ok(), "{diagnostics:?}");
    basket.found
}

fn names(found: &[Listed]) -> Vec<&str> {
    found.iter().map(|listed| listed.display_name.as_str()).collect()
}

#[tokio::test]
async fn a_list_of_the_hosts_resources_goes_through_its_pages_and_picks() {
    let none = || Value::object([("labels", Value::Null), ("environment", Value::Null)]);
    let with = |name: &str, value: Value| {
        let mut config = none();
        config.set_attribute(name, value);
        config
    };
    for (ty, config, room, expected) in [
        ("environment", none(), 500, vec!["env-0", "env-1", "env-2", "env-3", "env-4"]),
        ("environment", none(), 2, vec!["env-0", "env-1"]),
        ("environment", with("labels", Value::map([("team", "b")])), 1000, vec!["env-1", "env-3"]),
        ("worker_pool", none(), 1, vec!["env-0/pool-0"]),
        ("worker_pool", with("environment", "env-3".into()), 100, vec!["env-3/pool-3"]),
        ("quota", none(), 100, vec![]),
    ] {
        let (_host, context) = host().await;
        let found = find(&format!("runtimecloud_{ty}"), config, &context, room).await;
        assert_eq!(names(&found), expected, "{ty}");
    }
}

#[tokio::test]
async fn what_is_being_deleted_is_passed_over_and_pages_go_on() {
    let (host, context) = host().await;
    for at in [0, 1, 3] {
        let mut memory = host.memory();
        let going = memory.environments.get_mut(&format!("env_{at}")).unwrap();
        going.metadata.as_mut().unwrap().deleting_since = Some(prost_types::Timestamp::default());
    }
    let config = Value::object([("labels", Value::Null)]);
    let found = find("runtimecloud_environment", config, &context, 2).await;
    assert_eq!(names(&found), ["env-2", "env-4"]);
    let lists = host.memory().calls.iter().filter(|(call, _)| *call == "list").count();
    assert_eq!(lists, 3, "pages of 2");
}

#[tokio::test]
async fn what_a_list_finds_is_what_an_import_and_a_read_give() {
    for ty in ["runtimecloud_environment", "runtimecloud_worker_pool"] {
        let (_host, context) = host().await;
        let found = find(ty, Value::object([("labels", Value::Null)]), &context, 500).await;
        let resource = RESOURCES.iter().find(|resource| resource.type_name() == ty).unwrap();
        let (schema, identity) = (resource.schema(), resource.identity().unwrap());
        for listed in &found {
            assert!(identity.is_complete(&listed.identity));
            let mut diagnostics = Diagnostics::new();
            let import = Import::Identity(&listed.identity);
            let least = resource.import(&context, import, &mut diagnostics).await.unwrap();
            let least = result::imported(&schema, &least, &mut diagnostics).unwrap();
            let read = resource.read(&context, Read { prior: &least }, &mut diagnostics);
            let read = read.await.unwrap().unwrap();
            let read = result::settle(&schema, (&least, &read), Leftover::Report, &mut diagnostics);
            let state = listed.state.as_ref().unwrap();
            let listed_state = result::imported(&schema, state, &mut diagnostics).unwrap();
            assert_eq!(listed_state, read.unwrap(), "{ty} {}", listed.display_name);
            let own = listed_state.get("labels").string_map();
            assert_eq!(own.get("x").map(String::as_str), Some("1"));
            let is_default = listed_state.get("labels_all").get("team").as_str() == Some("a");
            assert_eq!(own.contains_key("team"), !is_default, "defaults are nobody's own");
        }
        assert_eq!(found.len(), 5);
    }
}

#[tokio::test]
async fn a_page_may_be_as_large_as_the_host_makes_it() {
    let (host, context) = host().await;
    for environment in host.memory().environments.values_mut() {
        let spec = environment.spec.as_mut().unwrap();
        spec.variables.insert("X".to_owned(), "x".repeat(1 << 20));
    }
    let config = Value::object([("labels", Value::Null)]);
    let found = find("runtimecloud_environment", config, &context, 500).await;
    assert_eq!(found.len(), 5);
}

#[tokio::test]
async fn an_environment_that_is_not_there_is_told_where_it_is_named() {
    let (host, context) = host().await;
    host.memory().failures = vec![Status::not_found("environment `prod` does not exist")];
    let list =
        LIST_RESOURCES.iter().find(|it| it.type_name() == "runtimecloud_worker_pool").unwrap();
    let config = Value::object([("labels", Value::Null), ("environment", "prod".into())]);
    let request = ListRequest { config: &config, include_state: false, limit: 1 };
    let (mut basket, mut diagnostics) = (Basket { found: Vec::new(), room: 1 }, Diagnostics::new());
    let listed = list.list(&context, request, &mut basket, &mut diagnostics).await;
    let told = diagnostics.iter().next().unwrap();
    assert_eq!((listed.is_err(), told.path.to_string()), (true, "environment".to_owned()));
}
