//! Data sources through the server's calls, against a host in memory: what is found, in which order,
//! at what cost, and what is told when something is not there.

use std::collections::BTreeMap;

use proto::{
    runtimecloud::v1 as api,
    tfplugin6::{self as pb, provider_server::Provider as _},
};
use provider::{
    data_sources::DATA_SOURCES,
    framework::{Schema, Value},
    provider::RuntimeCloud,
    server::Server,
    wire,
};
use tonic::Request;

use crate::fake_host::{FakeHost, PAGE, configured};

struct Bench {
    host: FakeHost,
    server: Server<RuntimeCloud>,
}

/// The attribute that an error is about, its summary and its detail.
type Told = (String, String, String);

impl Bench {
    async fn new() -> Self {
        let (host, address) = FakeHost::start().await;
        let server = configured(address).await;
        Self { host, server }
    }

    async fn read(&self, ty: &str, config: &[(&str, Value)]) -> Result<Value, Told> {
        let type_name = format!("runtimecloud_{ty}");
        let source = DATA_SOURCES.iter().find(|source| source.type_name() == type_name).unwrap();
        let schema = source.schema();
        let config = Some(wire::encode(&schema.value_type(), &full(&schema, config)).unwrap());
        let request = pb::validate_data_resource_config::Request {
            type_name: type_name.clone(),
            config: config.clone(),
        };
        let request = Request::new(request);
        let answer = self.server.validate_data_resource_config(request).await.unwrap();
        told(answer.into_inner().diagnostics)?;
        let request = pb::read_data_source::Request { type_name, config, ..Default::default() };
        let answer = self.server.read_data_source(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        told(answer.diagnostics)?;
        Ok(wire::decode(&schema.value_type(), answer.state.as_ref()).unwrap())
    }

    fn calls(&self) -> usize {
        std::mem::take(&mut self.host.memory().calls).len()
    }
}

fn full(schema: &Schema, attributes: &[(&str, Value)]) -> Value {
    let mut value = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    for (name, given) in attributes {
        value.set_attribute(name, given.clone());
    }
    value
}

fn told(diagnostics: Vec<pb::Diagnostic>) -> Result<(), Told> {
    let Some(first) = diagnostics.into_iter().next() else { return Ok(()) };
    let steps = first.attribute.map(|path| path.steps).unwrap_or_default();
    let attribute = match steps.first().and_then(|step| step.selector.clone()) {
        Some(pb::attribute_path::step::Selector::AttributeName(name)) => name,
        _ => String::new(),
    };
    Err((attribute, first.summary, first.detail))
}

fn metadata(name: &str, labels: &[(&str, &str)]) -> Option<api::Metadata> {
    let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Some(api::Metadata {
        id: format!("id_{name}"),
        name: name.to_owned(),
        labels,
        ..Default::default()
    })
}

fn names<'a>(found: &'a Value, many: &str) -> Vec<&'a str> {
    found.get(many).elements().iter().map(|one| one.text("name")).collect()
}

fn keyed<T>(
    nouns: impl IntoIterator<Item = T>,
    id: fn(&T) -> &Option<api::Metadata>,
) -> BTreeMap<String, T> {
    nouns.into_iter().map(|noun| (id(&noun).as_ref().unwrap().id.clone(), noun)).collect()
}

fn worker(number: usize) -> api::Worker {
    api::Worker {
        id: format!("wrk_{number:06}"),
        worker_pool: "dev/web".to_owned(),
        capacity_target: if number.is_multiple_of(2) { "even" } else { "odd" }.to_owned(),
        phase: api::WorkerPhase::Running.into(),
        ready: !number.is_multiple_of(3),
        ports: BTreeMap::from([("http".to_owned(), 4711)]),
        created_at: Some(prost_types::Timestamp { seconds: 1_790_000_000, nanos: 0 }),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_list_has_all_pages_sorted_by_name_or_those_that_carry_all_labels() {
    let bench = Bench::new().await;
    let quota = |name: String, team: &str| api::Quota {
        metadata: metadata(&name, &[("team", team), ("kind", "quota")]),
        ..Default::default()
    };
    let quotas = (0..2 * PAGE + 1).rev().map(|at| quota(format!("q{at}"), "a"));
    let quotas = quotas.chain([quota("p".to_owned(), "b")]);
    bench.host.memory().quotas = keyed(quotas, |it| &it.metadata);

    let all = bench.read("quotas", &[]).await.unwrap();
    assert_eq!(names(&all, "quotas"), ["p", "q0", "q1", "q2", "q3", "q4", "q5", "q6"]);
    assert_eq!(bench.calls(), 3, "a call for each page");
    let labels = Value::map([("team", "b"), ("kind", "quota")]);
    let found = bench.read("quotas", &[("labels", labels.clone())]).await.unwrap();
    assert_eq!(names(&found, "quotas"), ["p"]);
    assert_eq!(found.get("labels"), &labels, "the configuration is kept");
    assert_eq!(found.get("quotas").elements()[0].get("labels"), &labels);
    let none = bench.read("quotas", &[("labels", Value::map([("team", "c")]))]).await.unwrap();
    assert_eq!(none.get("quotas"), &Value::list::<Value>([]), "nothing found is no error");
}

#[tokio::test]
async fn pools_are_listed_by_environment_and_without_a_call_for_each() {
    let bench = Bench::new().await;
    let pool = |environment: &str, name: &str| api::WorkerPool {
        metadata: metadata(&format!("{name}-of-{environment}"), &[]),
        environment: environment.to_owned(),
        ..Default::default()
    };
    let pools = [pool("live", "a"), pool("dev", "b"), pool("dev", "a")];
    bench.host.memory().worker_pools = keyed(pools, |it| &it.metadata);
    let all = bench.read("worker_pools", &[]).await.unwrap();
    assert_eq!(names(&all, "worker_pools"), ["a-of-dev", "b-of-dev", "a-of-live"]);
    assert_eq!(bench.calls(), 1);
    let live = bench.read("worker_pools", &[("environment", "live".into())]).await.unwrap();
    assert_eq!(names(&live, "worker_pools"), ["a-of-live"]);
}

#[tokio::test]
async fn workers_are_filtered_and_a_limit_ends_the_reading() {
    let bench = Bench::new().await;
    bench.host.memory().workers = (0..4 * PAGE).map(worker).collect();
    let ids = |found: &Value| -> Vec<String> {
        found.get("workers").elements().iter().map(|it| it.text("id").to_owned()).collect()
    };
    let all = bench.read("workers", &[("worker_pool", "dev/web".into())]).await.unwrap();
    assert_eq!(ids(&all).len(), 4 * PAGE);
    assert!(ids(&all).is_sorted());
    assert_eq!(bench.calls(), 4);
    let first = bench.read("workers", &[("limit", 2_u32.into())]).await.unwrap();
    assert_eq!(ids(&first), ["wrk_000000", "wrk_000001"]);
    assert_eq!(bench.calls(), 1, "no more is read than asked for");
    let config = [
        ("capacity_target", "even".into()),
        ("ready", false.into()),
        ("phases", Value::set(["running", "lost"])),
    ];
    let found = bench.read("workers", &config).await.unwrap();
    assert_eq!(ids(&found), ["wrk_000000", "wrk_000006"]);
    let config = [("phases", Value::set(["lost"]))];
    assert_eq!(ids(&bench.read("workers", &config).await.unwrap()), Vec::<String>::new());
}

#[tokio::test]
async fn a_fleet_of_thousands_is_read_whole() {
    let bench = Bench::new().await;
    bench.host.memory().workers = (0..3000).map(worker).collect();
    let all = bench.read("workers", &[]).await.unwrap();
    assert_eq!(all.get("workers").elements().len(), 3000);
    assert_eq!(all.get("workers").elements()[2999].text("id"), "wrk_002999");
}

#[tokio::test]
async fn events_are_read_from_a_position_up_to_a_limit() {
    let bench = Bench::new().await;
    let event = |position: u64| api::Event {
        position,
        id: format!("evt_{position}"),
        r#type: if position.is_multiple_of(2) { "WorkerReady" } else { "WorkerLost" }.to_owned(),
        subject_id: format!("wrk_{}", position % 3),
        data_json: "{}".to_owned(),
        ..Default::default()
    };
    bench.host.memory().events = (1..=300).map(event).collect();
    let positions = |found: &Value| -> Vec<u64> {
        let events = found.get("events").elements().iter();
        events.map(|it| it.get("position").as_u64().unwrap()).collect()
    };
    let first = bench.read("events", &[]).await.unwrap();
    assert_eq!(positions(&first), (1..=100).collect::<Vec<_>>(), "a hundred unless told otherwise");
    let config = [
        ("after", first.get("last_position").clone()),
        ("limit", 2_u32.into()),
        ("types", Value::set(["WorkerReady"])),
        ("subject_id", "wrk_0".into()),
    ];
    let next = bench.read("events", &config).await.unwrap();
    assert_eq!(positions(&next), [102, 108]);
    assert_eq!(next.get("last_position").as_u64(), Some(108));
    let last = bench.read("events", &[("after", 300_u32.into())]).await.unwrap();
    assert_eq!((positions(&last), last.get("last_position").as_u64()), (vec![], Some(300)));
}

#[tokio::test]
async fn the_environment_of_a_pool_may_be_given_by_id() {
    let bench = Bench::new().await;
    let pool = api::WorkerPool {
        metadata: metadata("web", &[]),
        environment: "dev".to_owned(),
        ..Default::default()
    };
    bench.host.memory().worker_pools = [("env_1/web".to_owned(), pool)].into();
    let config = [("environment", "env_1".into()), ("name", "web".into())];
    let found = bench.read("worker_pool", &config).await.unwrap();
    assert_eq!((found.text("environment"), found.text("id")), ("env_1", "id_web"));
}

#[tokio::test]
async fn what_is_not_there_is_told_at_the_argument_that_names_it() {
    let bench = Bench::new().await;
    let name = |name: &'static str| ("name", name.into());
    for (ty, config, argument, key) in [
        ("capacity_target", vec![name("far")], "name", "capacity target `far`"),
        ("environment", vec![name("far")], "name", "environment `far`"),
        ("environment", vec![("id", "env_9".into())], "id", "environment `env_9`"),
        ("quota", vec![name("far")], "name", "quota `far`"),
        (
            "worker_pool",
            vec![("environment", "dev".into()), name("far")],
            "name",
            "worker pool `dev/far`",
        ),
        ("quota_usage", vec![("quota", "far".into())], "quota", "quota `far`"),
        ("workers", vec![("worker_pool", "absent".into())], "worker_pool", "pool `absent`"),
    ] {
        let (at, summary, detail) = bench.read(ty, &config).await.unwrap_err();
        assert_eq!((at.as_str(), summary.as_str()), (argument, "Not found"), "{ty}");
        assert!(detail.contains(key) && detail.contains("Check the name"), "{ty}: {detail}");
    }
}

#[tokio::test]
async fn arguments_that_can_not_be_meant_are_refused_before_the_host_is_asked() {
    let bench = Bench::new().await;
    for (ty, argument, value) in [
        ("workers", "limit", 0_u32.into()),
        ("workers", "limit", "1.5".parse::<provider::framework::Number>().unwrap().into()),
        ("workers", "phases", Value::set(["dancing"])),
        ("workers", "worker_pool", "".into()),
        ("worker_pools", "environment", "".into()),
        ("events", "limit", 1001_u32.into()),
        ("events", "after", (-1).into()),
        ("quota_usage", "quota", "".into()),
        ("environments", "labels", Value::map([("team", Value::Null)])),
    ] {
        let (at, _, detail) = bench.read(ty, &[(argument, value)]).await.unwrap_err();
        assert_eq!(at, argument, "{ty}: {detail}");
    }
    assert_eq!(bench.calls(), 0);
}
