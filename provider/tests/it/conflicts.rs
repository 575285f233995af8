//! What a resource does when the host is not as the plan supposed: changed, gone, full, late or
//! silent.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use proto::{
    runtimecloud::v1 as api,
    tfplugin6::{self as pb, provider_server::Provider as _},
};
use provider::{
    client::{Client, Noun as _, Settings},
    framework::{
        Context, Create, Delete, Diagnostics, Failed, Plan, Planned, Read, Resource, Update, Value,
        conformance, plan,
        result::{self, Leftover},
    },
    resources::RESOURCES,
    wire,
};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::fake_host::{FakeHost, configured, context, settings};

struct Bench {
    resource: &'static dyn Resource<Client>,
    context: Context<Client>,
    host: FakeHost,
    address: SocketAddr,
}

impl Bench {
    async fn new(name: &str) -> Self {
        let (host, address) = FakeHost::start().await;
        let client = Client::new(settings(address), Some(BTreeMap::new())).unwrap();
        let resource = RESOURCES.iter().find(|resource| resource.type_name() == name).unwrap();
        Self { resource: *resource, context: context(client), host, address }
    }

    async fn plan(&self, prior: &Value, config: &Value) -> (Planned, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let schema = self.resource.schema();
        let proposed = conformance::proposed_new_state(&schema, prior, config);
        let request = Plan { prior, config };
        let mut planned = plan::plan(&schema, request, &proposed);
        let hook = self.resource.plan(&self.context, request, &mut planned, &mut diagnostics);
        assert_eq!(hook.await.is_err(), diagnostics.has_errors());
        (planned, diagnostics)
    }

    async fn created(&self, config: &Value) -> Value {
        let (planned, mut diagnostics) = self.plan(&Value::Null, config).await;
        let request = Create { planned: &planned.state, config };
        let created = self.resource.create(&self.context, request, &mut diagnostics).await;
        let values = (&planned.state, &created.unwrap());
        let schema = self.resource.schema();
        result::settle(&schema, values, Leftover::Report, &mut diagnostics).unwrap()
    }

    /// What a creation comes to, and the summary and detail of its last message.
    async fn create(&self, config: &Value) -> (Result<Value, Failed>, (String, String)) {
        let (planned, _) = self.plan(&Value::Null, config).await;
        let mut diagnostics = Diagnostics::new();
        let request = Create { planned: &planned.state, config };
        let mut result = self.resource.create(&self.context, request, &mut diagnostics).await;
        if let Ok(returned) = &mut result {
            let values = (&planned.state, &*returned);
            let (schema, leftover) = (self.resource.schema(), Leftover::Report);
            *returned = result::settle(&schema, values, leftover, &mut diagnostics).unwrap();
        }
        assert_eq!(result.is_err(), diagnostics.has_errors(), "{diagnostics:?}");
        let last = diagnostics.iter().last().unwrap();
        (result, (last.summary.clone(), last.detail.clone()))
    }

    /// Has a client that waits only so long for an answer.
    fn impatient(mut self, request_timeout: Duration) -> Self {
        let settings = Settings { request_timeout, ..settings(self.address) };
        self.context = context(Client::new(settings, Some(BTreeMap::new())).unwrap());
        self
    }

    /// The summary and detail of the first message of an update.
    async fn update(&self, prior: &Value, config: &Value) -> Result<Value, (String, String)> {
        let (planned, mut diagnostics) = self.plan(prior, config).await;
        let request = Update { prior, planned: &planned.state, config };
        let updated = self.resource.update(&self.context, request, &mut diagnostics).await;
        updated.map_err(|_| {
            let first = diagnostics.iter().next().unwrap();
            (first.summary.clone(), first.detail.clone())
        })
    }
}

/// A whole configuration of a resource: what is not given is null.
fn config(resource: &dyn Resource<Client>, given: &[(&str, Value)]) -> Value {
    let mut config = Value::object(
        resource.schema().attributes.iter().map(|attribute| (attribute.name, Value::Null)),
    );
    for (name, value) in given {
        config.set_attribute(name, value.clone());
    }
    config
}

fn pool(bench: &Bench, size: u32) -> Value {
    let attributes = bench.resource.schema();
    let worker = attributes.attribute("worker").unwrap();
    let mut object = Value::object(worker.children().iter().map(|child| (child.name, Value::Null)));
    object.set_attribute("command", Value::list(["sleep", "9"]));
    config(
        bench.resource,
        &[
            ("name", "web".into()),
            ("environment", "dev".into()),
            ("size", size.into()),
            ("worker", object),
            ("wait_for_ready", false.into()),
        ],
    )
}

fn quota_is_full() -> Status {
    let mut details = ErrorDetails::new();
    let facts = [("quota".to_owned(), "team-a".to_owned())];
    details.set_error_info("QUOTA_EXCEEDED", "runtimecloud", facts);
    Status::with_error_details(Code::ResourceExhausted, "no room", details)
}

#[tokio::test]
async fn a_change_since_the_plan_is_not_overwritten() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    let state = bench.created(&pool(&bench, 3)).await;
    let scale = |pool: &mut api::WorkerPool, size| pool.spec.as_mut().unwrap().size = size;
    bench.host.memory().worker_pools.values_mut().for_each(|pool| scale(pool, 5));
    let (summary, detail) = bench.update(&state, &pool(&bench, 4)).await.unwrap_err();
    assert_eq!(summary, "Changed by someone else since the plan");
    assert!(detail.contains("changed: `size`"), "{detail}");
    assert_eq!(bench.host.memory().worker_pools.values().next().unwrap().spec().size, 5);

    bench.host.memory().worker_pools.values_mut().for_each(|pool| scale(pool, 3));
    bench.update(&state, &pool(&bench, 4)).await.unwrap();
}

#[tokio::test]
async fn a_change_that_someone_else_has_just_made_is_not_made_again() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    let state = bench.created(&pool(&bench, 3)).await;
    for pool in bench.host.memory().worker_pools.values_mut() {
        pool.spec.as_mut().unwrap().size = 4;
    }
    bench.host.memory().calls.clear();
    bench.update(&state, &pool(&bench, 4)).await.unwrap();
    let calls: Vec<&str> = bench.host.memory().calls.iter().map(|(call, _)| *call).collect();
    assert_eq!(calls, ["update", "get"], "the first only asks");
}

#[tokio::test]
async fn what_was_given_up_waiting_for_is_waited_for_again() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    let config = pool(&bench, 3);
    let mut state = bench.created(&config).await;
    assert_eq!(state.get("rolled_out"), &Value::Null, "nothing was waited for");
    state.set_attribute("rolled_out", false);
    assert_eq!(bench.plan(&state, &config).await.0.state, state, "nor shall anything be");
    let waiting = |wait: Value| {
        let mut config = config.clone();
        config.set_attribute("wait_for_ready", wait);
        config
    };
    for (wait, planned) in [(true.into(), true.into()), (Value::UNKNOWN, Value::UNKNOWN)] {
        let (plan, _) = bench.plan(&state, &waiting(wait)).await;
        assert_eq!(plan.state.get("rolled_out"), &planned);
    }
}

#[tokio::test]
async fn a_revision_that_only_the_host_moved_on_is_no_conflict() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    let state = bench.created(&pool(&bench, 3)).await;
    bench.host.memory().calls.clear();
    bench.host.memory().failures_of_writes = vec![Status::aborted("another revision")];
    bench.update(&state, &pool(&bench, 4)).await.unwrap();
    let calls: Vec<&str> = bench.host.memory().calls.iter().map(|(call, _)| *call).collect();
    assert_eq!(calls, ["update", "get", "update", "get", "update"], "the first only asks");
}

#[tokio::test]
async fn what_is_gone_leaves_the_state_with_a_warning() {
    let bench = Bench::new("runtimecloud_quota").await;
    let state = bench.created(&quota(&bench)).await;
    bench.host.memory().quotas.clear();
    let mut diagnostics = Diagnostics::new();
    let request = Read { prior: &state };
    let read = bench.resource.read(&bench.context, request, &mut diagnostics).await;
    assert_eq!(read, Ok(None));
    let warning = diagnostics.iter().next().unwrap();
    assert!(warning.detail.contains("`team-a`"), "{warning:?}");

    let server = configured(bench.address).await;
    let ty = bench.resource.schema().value_type();
    let request = pb::read_resource::Request {
        type_name: "runtimecloud_quota".to_owned(),
        current_state: Some(wire::encode(&ty, &state).unwrap()),
        ..Default::default()
    };
    let answer = server.read_resource(Request::new(request)).await.unwrap().into_inner();
    let told = answer.diagnostics.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>();
    assert_eq!(told, ["Gone from the host"], "the same is not told twice");
}

fn quota(bench: &Bench) -> Value {
    let limit = Value::object([("hard", Value::from("2")), ("soft", Value::Null)]);
    let limits = Value::map([("cpu", limit)]);
    config(bench.resource, &[("name", "team-a".into()), ("limits", limits)])
}

#[tokio::test]
async fn what_is_being_deleted_stays_in_the_state_and_can_be_deleted_again() {
    let bench = Bench::new("runtimecloud_quota").await;
    let state = bench.created(&quota(&bench)).await;
    for quota in bench.host.memory().quotas.values_mut() {
        quota.metadata.as_mut().unwrap().deleting_since = Some(Default::default());
    }
    let mut diagnostics = Diagnostics::new();
    let request = Read { prior: &state };
    let read = bench.resource.read(&bench.context, request, &mut diagnostics).await;
    assert_eq!(read.unwrap().unwrap().get("id"), state.get("id"));
    let warning = diagnostics.iter().next().unwrap();
    assert!(warning.detail.contains("still deleting the quota `team-a`"), "{warning:?}");

    let deleted = bench.resource.delete(&bench.context, Delete { prior: &state }, &mut diagnostics);
    assert!(deleted.await.is_ok() && bench.host.memory().quotas.is_empty());
}

#[tokio::test]
async fn a_deletion_that_is_waited_for_no_longer_says_so() {
    for interrupted in [false, true] {
        let mut bench = Bench::new("runtimecloud_quota").await;
        let state = bench.created(&quota(&bench)).await;
        bench.host.memory().hangs_on = Some("get");
        let interrupt = CancellationToken::new();
        let stopped = Box::pin(interrupt.clone().cancelled_owned());
        let client = Client::new(settings(bench.address), Some(BTreeMap::new())).unwrap();
        let soon = tokio::time::Instant::now() + Duration::from_secs(3);
        let deadline = if interrupted { bench.context.deadline } else { soon.into_std() };
        bench.context = Context::new(Some(client.into()), stopped, deadline);
        let interrupt = async {
            while !bench.host.memory().calls.iter().any(|(call, _)| *call == "delete") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if interrupted {
                interrupt.cancel();
            }
        };
        let mut diagnostics = Diagnostics::new();
        let delete =
            bench.resource.delete(&bench.context, Delete { prior: &state }, &mut diagnostics);
        let (deleted, ()) = tokio::join!(delete, interrupt);
        let told = diagnostics.iter().next().unwrap();
        let summary = if interrupted { "Deletion interrupted" } else { "Deletion took too long" };
        assert_eq!((deleted.is_err(), told.summary.as_str()), (true, summary));
        assert!(told.detail.contains("It stays in the state"), "{told:?}");
    }
}

/// Protected from deletion, and awaited.
fn protected_pool(bench: &Bench) -> Value {
    let mut pool = pool(bench, 3);
    pool.set_attribute("deletion_protection", true);
    pool.set_attribute("wait_for_ready", true);
    pool
}

#[tokio::test]
async fn an_interrupted_creation_of_what_was_asked_for_only_warns() {
    for resized in [false, true] {
        let bench = Bench::new("runtimecloud_worker_pool").await;
        let interrupt = CancellationToken::new();
        let stopped = Box::pin(interrupt.clone().cancelled_owned());
        let client = Client::new(settings(bench.address), Some(BTreeMap::new())).unwrap();
        let context = Context::new(Some(client.into()), stopped, bench.context.deadline);
        let bench = Bench { context, ..bench };
        let asked_anew = async || {
            bench.host.memory().calls.clear();
            while !bench.host.memory().calls.iter().any(|(call, _)| *call == "get") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let interrupted = async {
            asked_anew().await;
            if resized {
                for pool in bench.host.memory().worker_pools.values_mut() {
                    pool.metadata.as_mut().unwrap().generation += 1;
                }
                // The first answer may still be of before.
                asked_anew().await;
                asked_anew().await;
            }
            interrupt.cancel();
        };
        let config = protected_pool(&bench);
        let ((result, (summary, detail)), ()) = tokio::join!(bench.create(&config), interrupted);
        assert_eq!(summary, "Waiting for ready workers interrupted");
        assert_eq!(result.is_err(), resized);
        assert_eq!(detail.contains("terraform untaint"), resized, "{detail}");
        let state = result.unwrap_or_else(|failed| failed.state.unwrap());
        assert!(state.get("id").is_set());
    }
}

#[tokio::test]
async fn a_failed_creation_of_what_is_protected_tells_the_way_out() {
    let mut bench = Bench::new("runtimecloud_worker_pool").await;
    let soon = tokio::time::Instant::now() + Duration::from_secs(2);
    bench.context.deadline = soon.into_std();
    let config = protected_pool(&bench);
    let (result, (summary, detail)) = bench.create(&config).await;
    assert_eq!(summary, "Waiting for ready workers took too long");
    assert!(detail.contains("terraform untaint"), "{detail}");
    let mut state = result.unwrap_err().state.unwrap();
    state.set_attribute("timeouts", Value::Null);
    let (_, diagnostics) = bench.plan(&state, &Value::Null).await;
    let refusal = diagnostics.iter().next().unwrap();
    assert!(refusal.detail.contains("terraform untaint"), "{refusal:?}");
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_is_looked_for() {
    let bench = Bench::new("runtimecloud_quota").await.impatient(Duration::from_millis(500));
    bench.host.memory().loses_answers = true;
    let (result, (summary, _)) = bench.create(&quota(&bench)).await;
    assert_eq!(summary, "Created all the same");
    let state = result.unwrap_err().state.unwrap();
    assert!(bench.host.memory().quotas.contains_key(state.text("id")));
}

#[tokio::test]
async fn what_may_exist_is_told_and_how_to_import_it() {
    let bench = Bench::new("runtimecloud_quota").await.impatient(Duration::from_millis(500));
    bench.host.memory().hangs = true;
    let (result, (summary, detail)) = bench.create(&quota(&bench)).await;
    assert_eq!((result.unwrap_err().state, &*summary), (None, "It may exist all the same"));
    assert!(detail.contains("terraform import ADDRESS team-a"), "{detail}");
}

#[tokio::test]
async fn what_was_never_sent_is_not_looked_for() {
    let bench = Bench::new("runtimecloud_quota").await;
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
    let bench = Bench { address: nobody, ..bench }.impatient(Duration::from_secs(5));
    let (result, (summary, _)) = bench.create(&quota(&bench)).await;
    assert_eq!((result.unwrap_err().state, &*summary), (None, "The host can not be reached"));
}

#[tokio::test]
async fn a_quota_without_room_is_told_in_the_plan_at_the_size() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    bench.host.memory().failures = vec![quota_is_full()];
    let (_, diagnostics) = bench.plan(&Value::Null, &pool(&bench, 3)).await;
    let problem = diagnostics.iter().next().unwrap();
    assert_eq!(
        (problem.path.to_string(), problem.summary.as_str()),
        ("size".into(), "The quota has no room")
    );
}

#[tokio::test]
async fn an_environment_whose_pools_another_quota_has_no_room_for_is_told_at_plan() {
    let bench = Bench::new("runtimecloud_environment").await;
    let environment =
        |quota: &str| config(bench.resource, &[("name", "dev".into()), ("quota", quota.into())]);
    let state = bench.created(&environment("a")).await;
    let may_grow = || bench.context.client_if_configured().unwrap().room_may_grow();
    assert!(!may_grow(), "a new environment makes no room");
    bench.host.memory().failures = vec![quota_is_full()];
    let (_, diagnostics) = bench.plan(&state, &environment("b")).await;
    let problem = diagnostics.iter().next().unwrap();
    assert_eq!(problem.path.to_string(), "quota");
    assert!(may_grow(), "there may be more room under the quota that it leaves");
}

#[tokio::test]
async fn a_lease_that_waits_still_may_be_granted_by_its_next_change() {
    let bench = Bench::new("runtimecloud_capacity_lease").await;
    let lease = |team: &str| {
        let amounts = Value::map([("cpu", "1")]);
        let labels = Value::map([("team", team)]);
        let [name, environment] = [("name", "run".into()), ("environment", "dev".into())];
        config(bench.resource, &[name, environment, ("amounts", amounts), ("labels", labels)])
    };
    let mut state = bench.created(&lease("a")).await;
    let granted = state.clone();
    for given in ["fencing_token", "granted_at"] {
        state.set_attribute(given, Value::Null);
    }
    let (planned, _) = bench.plan(&state, &lease("b")).await;
    let (later, _) = bench.plan(&granted, &lease("b")).await;
    for given in ["fencing_token", "granted_at"] {
        assert!(planned.state.get(given).is_unknown(), "{given}");
        assert_eq!(later.state.get(given), granted.get(given));
    }
}

#[tokio::test]
async fn a_place_in_line_that_is_given_up_too_soon_is_warned_of() {
    let bench = Bench::new("runtimecloud_capacity_lease").await;
    let times = |create: &str| Value::object([("create", create.into())]);
    for (wait, timeouts, warned) in [
        ("15m", Value::Null, false),
        ("2h", Value::Null, true),
        ("2h", times("3h"), false),
        ("2h", Value::UNKNOWN, false),
    ] {
        let given = [("wait", wait.into()), ("timeouts", timeouts.clone())];
        let mut diagnostics = Diagnostics::new();
        bench.resource.validate(&config(bench.resource, &given), &mut diagnostics);
        let paths: Vec<String> = diagnostics.iter().map(|it| it.path.to_string()).collect();
        let expected = if warned { vec!["wait"] } else { vec![] };
        assert_eq!(
            (paths, diagnostics.has_errors()),
            (expected.into_iter().map(String::from).collect(), false),
            "{wait} {timeouts:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_certain_about_a_quota_is_not_told() {
    let bench = Bench::new("runtimecloud_worker_pool").await;
    let silent = async |prior: &Value, size, failures: Vec<Status>| {
        bench.host.memory().failures = failures;
        let (_, diagnostics) = bench.plan(prior, &pool(&bench, size)).await;
        assert_eq!(diagnostics, Diagnostics::new());
        bench.host.memory().failures.clear();
    };
    silent(&Value::Null, 3, vec![Status::unavailable("restarting")]).await;
    silent(&Value::Null, 3, vec![Status::not_found("no such environment")]).await;

    // A pool of the name is there, and may be about to be replaced.
    let state = bench.created(&pool(&bench, 3)).await;
    silent(&Value::Null, 3, vec![quota_is_full()]).await;
    // Less is always allowed, so nobody asks; and from then on there may be room.
    silent(&state, 2, vec![quota_is_full()]).await;
    silent(&state, 9, vec![quota_is_full()]).await;
}

#[tokio::test]
async fn a_plan_does_not_need_a_host() {
    for configured in [false, true] {
        let bench = Bench::new("runtimecloud_worker_pool").await;
        let nobody = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let client = configured.then(|| Client::new(settings(nobody), None).unwrap().into());
        let deadline = bench.context.deadline;
        let context = Context::new(client, Box::pin(std::future::pending()), deadline);
        let bench = Bench { context, ..bench };
        let (planned, diagnostics) = bench.plan(&Value::Null, &pool(&bench, 3)).await;
        assert_eq!(diagnostics, Diagnostics::new());
        assert!(planned.state.get("labels_all").is_unknown(), "default labels are not known");
    }
}
