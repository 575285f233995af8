//! Actions through the server's calls, with a provider that rings bells. `how` says what becomes of
//! the ringing: `well`, `out of tune`, `panics`, `until told` (to stop) or `deaf` (to that).

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use proto::tfplugin6::{
    self as pb, DynamicValue, invoke_action::event, provider_server::Provider as _,
};
use provider::{
    framework::{
        Action, Attribute, BoxFuture, Configure, Context, DataSource, Diagnostics, Path, Progress,
        Provider, Reported, Resource, Schema, Validator, Value, parse_duration,
    },
    server::Server,
    wire,
};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Status};

/// Counts those who still wait for an end of their ringing.
type Ringing = Arc<AtomicU32>;

#[derive(Default)]
struct Bells(Ringing);

impl Provider for Bells {
    type Client = Ringing;

    fn address(&self) -> &'static str {
        "registry.terraform.io/example/bells"
    }

    fn schema(&self) -> Schema {
        Schema::new("Bells.").attributes([Attribute::string("tower", "Where they hang.")])
    }

    fn configure<'a>(
        &'a self,
        request: Configure<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Ringing>, Reported>> {
        let known = !request.config.get("tower").is_unknown();
        Box::pin(async move { Ok(known.then(|| Arc::clone(&self.0))) })
    }

    fn resources(&self) -> &'static [&'static dyn Resource<Ringing>] {
        &[]
    }

    fn data_sources(&self) -> &'static [&'static dyn DataSource<Ringing>] {
        &[]
    }

    fn actions(&self) -> &'static [&'static dyn Action<Ringing>] {
        &[&Ring]
    }
}

struct Ring;

/// One who rings, until dropped.
struct Hands<'a>(&'a AtomicU32);

impl Drop for Hands<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Action<Ringing> for Ring {
    fn type_name(&self) -> &'static str {
        "bells_ring"
    }

    fn schema(&self) -> Schema {
        Schema::new("Rings.").attributes([
            Attribute::string("how", "How it goes.").required().check(Validator::length(1..=20)),
            Attribute::string("time", "How long it may take."),
        ])
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        if config.text("how") == "silently" {
            diagnostics.error("how", "Not a sound", "A bell can't ring silently.");
        }
    }

    fn time(&self, config: &Value) -> Duration {
        assert_ne!(config.text("time"), "never", "no such time");
        parse_duration(config.text("time")).unwrap_or(Duration::from_secs(600))
    }

    fn plan<'a>(
        &'a self,
        context: &'a Context<Ringing>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            if context.client_if_configured().is_some() && config.text("how") == "out of tune" {
                return Err(diagnostics.error("how", "Out of tune", "It would hurt."));
            }
            Ok(())
        })
    }

    fn invoke<'a>(
        &'a self,
        context: &'a Context<Ringing>,
        config: &'a Value,
        progress: &'a dyn Progress,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let ringing = context.client(diagnostics)?;
            ringing.fetch_add(1, Ordering::Relaxed);
            let _hands = Hands(ringing);
            progress.say("ding".to_owned());
            tokio::task::yield_now().await;
            progress.say("dong".to_owned());
            match config.text("how") {
                "out of tune" => Err(diagnostics.error("how", "Out of tune", "It hurts.")),
                "panics" => panic!("the rope is torn"),
                "deaf" => std::future::pending().await,
                "until told" => {
                    context.stopped().await;
                    Err(diagnostics.error(Path::root(), "Interrupted", "It rings on by itself."))
                }
                _ => Ok(()),
            }
        })
    }
}

async fn server(tower: Value) -> (Server<Bells>, Ringing) {
    let bells = Bells::default();
    let (ringing, ty) = (Arc::clone(&bells.0), bells.schema().value_type());
    let server = Server::new(bells);
    let config = Some(wire::encode(&ty, &Value::object([("tower", tower)])).unwrap());
    let request = pb::configure_provider::Request { config, ..Default::default() };
    let answer = server.configure_provider(Request::new(request)).await.unwrap();
    assert!(answer.into_inner().diagnostics.is_empty());
    (server, ringing)
}

fn config(how: impl Into<Value>, time: Option<&str>) -> Option<DynamicValue> {
    let time = time.map_or(Value::Null, Value::from);
    let config = Value::object([("how", how.into()), ("time", time)]);
    Some(wire::encode(&Ring.schema().value_type(), &config).unwrap())
}

fn summaries(diagnostics: &[pb::Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.summary.as_str()).collect()
}

async fn validated(how: impl Into<Value>) -> Vec<pb::Diagnostic> {
    let (server, _) = server(Value::Null).await;
    let type_name = "bells_ring".to_owned();
    let request = pb::validate_action_config::Request { type_name, config: config(how, None) };
    let answer = server.validate_action_config(Request::new(request)).await.unwrap();
    answer.into_inner().diagnostics
}

async fn planned(tower: Value, how: &str, deferral_allowed: bool) -> pb::plan_action::Response {
    let (server, _) = server(tower).await;
    let client_capabilities =
        Some(pb::ClientCapabilities { deferral_allowed, ..Default::default() });
    let request = pb::plan_action::Request {
        action_type: "bells_ring".to_owned(),
        config: config(how, None),
        client_capabilities,
    };
    server.plan_action(Request::new(request)).await.unwrap().into_inner()
}

type Event = Result<pb::invoke_action::Event, Status>;

async fn invoke(
    server: &Server<Bells>,
    action_type: &str,
    config: Option<DynamicValue>,
) -> impl Stream<Item = Event> + Unpin + use<> {
    let action_type = action_type.to_owned();
    let request = pb::invoke_action::Request { action_type, config, client_capabilities: None };
    server.invoke_action(Request::new(request)).await.unwrap().into_inner()
}

/// The lines that were said, and the summaries of the one end.
async fn heard(stream: impl Stream<Item = Event>) -> (Vec<String>, Vec<String>) {
    let events: Vec<Event> = stream.collect().await;
    let (mut lines, mut ends) = (Vec::new(), Vec::new());
    for event in events {
        assert!(ends.is_empty(), "nothing comes after the end");
        match event.unwrap().r#type.expect("each event says something") {
            event::Type::Progress(progress) => lines.push(progress.message),
            event::Type::Completed(completed) => {
                let said = summaries(&completed.diagnostics);
                ends.push(said.into_iter().map(str::to_owned).collect());
            }
        }
    }
    assert_eq!(ends.len(), 1, "there is one end");
    (lines, ends.remove(0))
}

async fn rung(how: &str, time: Option<&str>) -> (Vec<String>, Vec<String>) {
    let (server, ringing) = server(Value::Null).await;
    let heard = heard(invoke(&server, "bells_ring", config(how, time)).await).await;
    assert_eq!(ringing.load(Ordering::Relaxed), 0, "nobody rings after the end");
    heard
}

#[tokio::test]
async fn a_configuration_is_held_against_schema_and_rules() {
    assert_eq!(validated("well").await, []);
    assert_eq!(validated(Value::UNKNOWN).await, []);
    assert_eq!(summaries(&validated("silently").await), ["Not a sound"]);
    assert_eq!(summaries(&validated("a very long way to ring").await), ["Invalid value"]);
}

#[tokio::test]
async fn what_would_certainly_fail_is_told_at_plan() {
    assert_eq!(planned(Value::Null, "well", false).await, Default::default());
    let told = planned(Value::Null, "out of tune", true).await;
    assert_eq!(summaries(&told.diagnostics), ["Out of tune"]);
    assert_eq!(told.deferred, None);
}

#[tokio::test]
async fn only_a_provider_that_is_not_configured_defers_and_only_where_that_is_allowed() {
    let deferred = planned(Value::UNKNOWN, "out of tune", true).await;
    let reason = pb::deferred::Reason::ProviderConfigUnknown;
    assert_eq!(deferred.deferred.map(|it| it.reason()), Some(reason));
    assert_eq!(deferred.diagnostics, []);
    assert_eq!(planned(Value::UNKNOWN, "out of tune", false).await, Default::default());
}

#[tokio::test]
async fn lines_come_before_the_one_end() {
    let both = ["ding".to_owned(), "dong".to_owned()];
    for (how, end) in [("well", &[][..]), ("out of tune", &["Out of tune"])] {
        let (lines, said) = rung(how, None).await;
        assert_eq!(lines, both, "{how}");
        assert_eq!(said, end, "{how}");
    }
}

#[tokio::test]
async fn a_panic_is_an_end_with_a_diagnostic() {
    let (lines, said) = rung("panics", None).await;
    assert_eq!(lines.len(), 2);
    assert_eq!(said, ["Provider crashed"]);
    let (lines, said) = rung("well", Some("never")).await;
    assert_eq!((lines.len(), &*said), (0, &["Provider crashed".to_owned()][..]));
}

#[tokio::test]
async fn nonsense_is_an_end_with_a_diagnostic() {
    let (server, _) = server(Value::Null).await;
    let nonsense = Some(DynamicValue { msgpack: b"\xdf\xff\xff\xff\xff".to_vec(), json: vec![] });
    for (action_type, config, said) in [
        ("bells_ring", nonsense, "Unreadable value"),
        ("bells_ring", config(Value::UNKNOWN, None), "Value not known"),
        ("bells_melt", config("well", None), "Unknown action"),
    ] {
        let heard = heard(invoke(&server, action_type, config).await).await;
        assert_eq!(heard, (vec![], vec![said.to_owned()]));
    }
}

#[tokio::test]
async fn an_interrupted_action_says_how_things_stand() {
    for (how, said) in [("until told", "Interrupted"), ("deaf", "Interrupted")] {
        let (server, ringing) = server(Value::Null).await;
        let mut events = invoke(&server, "bells_ring", config(how, None)).await;
        assert!(events.next().await.is_some());
        server.stop();
        assert_eq!(heard(events).await.1, [said], "{how}");
        assert_eq!(ringing.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn an_action_ends_with_its_time() {
    assert_eq!(rung("deaf", Some("10ms")).await.1, ["Time is up"]);
}

#[tokio::test]
async fn whoever_drops_the_stream_ends_the_wait() {
    let (server, ringing) = server(Value::Null).await;
    let mut events = invoke(&server, "bells_ring", config("deaf", None)).await;
    assert!(events.next().await.is_some());
    assert_eq!(ringing.load(Ordering::Relaxed), 1);
    drop(events);
    assert_eq!(ringing.load(Ordering::Relaxed), 0);
}
