//! A resource's whole life through the server's calls, held against Terraform's rules at each step.

use crate::notes::{Notes, Store};
use proto::tfplugin6::{
    self as pb, DynamicValue, diagnostic::Severity, provider_server::Provider as _,
};
use provider::{
    framework::{
        Plan, Provider as _, Schema, Value,
        conformance::{check_apply, check_plan, check_schema, proposed_new_state},
    },
    server::Server,
    wire,
};
use tonic::Request;

/// A configured server, its schema and its store.
struct Bench {
    server: Server<Notes>,
    schema: Schema,
    store: Store,
}

/// An answer's state and diagnostics.
struct Answer {
    state: Value,
    diagnostics: Vec<pb::Diagnostic>,
}

impl Answer {
    fn errors(&self) -> Vec<&str> {
        let errors = self.diagnostics.iter().filter(|d| d.severity() == Severity::Error);
        errors.map(|d| d.summary.as_str()).collect()
    }

    /// The state, where nothing went wrong.
    fn good(self) -> Value {
        assert_eq!(self.errors(), Vec::<&str>::new(), "{:?}", self.diagnostics);
        self.state
    }
}

impl Bench {
    async fn new() -> Self {
        let notes = Notes::default();
        let (store, schema) = (notes.store.clone(), notes.resources()[0].schema());
        let bench = Self { server: Server::new(notes), schema, store };
        bench.configure(Value::object([("shelf", Value::Null)])).await;
        bench
    }

    async fn configure(&self, config: Value) {
        let ty = Notes::default().schema().value_type();
        let config = Some(wire::encode(&ty, &config).unwrap());
        let request = pb::configure_provider::Request { config, ..Default::default() };
        let answer = self.server.configure_provider(Request::new(request)).await.unwrap();
        assert!(answer.into_inner().diagnostics.is_empty());
    }

    fn encode(&self, value: &Value) -> Option<DynamicValue> {
        Some(wire::encode(&self.schema.value_type(), value).unwrap())
    }

    fn decode(&self, value: Option<&DynamicValue>) -> Value {
        wire::decode(&self.schema.value_type(), value).unwrap()
    }

    /// A configuration in full.
    fn config<const N: usize>(&self, attributes: [(&str, Value); N]) -> Value {
        let mut config =
            Value::object(self.schema.attributes.iter().map(|a| (a.name, Value::Null)));
        for (name, value) in attributes {
            config.set_attribute(name, value);
        }
        config
    }

    async fn plan(&self, prior: &Value, config: &Value) -> (Answer, Vec<pb::AttributePath>) {
        let proposed = proposed_new_state(&self.schema, prior, config);
        let request = pb::plan_resource_change::Request {
            type_name: "notes_note".to_owned(),
            prior_state: self.encode(prior),
            proposed_new_state: self.encode(&proposed),
            config: self.encode(config),
            prior_private: b"private".to_vec(),
            ..Default::default()
        };
        let answer = self.server.plan_resource_change(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        let state = self.decode(answer.planned_state.as_ref());
        if !answer.planned_state.as_ref().is_none_or(|s| s.msgpack.is_empty()) {
            assert_eq!(check_plan(&self.schema, Plan { prior, config }, &state), []);
            assert_eq!(answer.planned_private, b"private");
        }
        (Answer { state, diagnostics: answer.diagnostics }, answer.requires_replace)
    }

    async fn apply(&self, prior: &Value, planned: &Value, config: &Value) -> Answer {
        let request = pb::apply_resource_change::Request {
            type_name: "notes_note".to_owned(),
            prior_state: self.encode(prior),
            planned_state: self.encode(planned),
            config: self.encode(config),
            planned_private: b"private".to_vec(),
            ..Default::default()
        };
        let answer = self.server.apply_resource_change(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        assert_eq!(answer.private, b"private");
        let state = self.decode(answer.new_state.as_ref());
        Answer { state, diagnostics: answer.diagnostics }
    }

    async fn read(&self, prior: &Value) -> Answer {
        let request = pb::read_resource::Request {
            type_name: "notes_note".to_owned(),
            current_state: self.encode(prior),
            private: b"private".to_vec(),
            ..Default::default()
        };
        let answer = self.server.read_resource(Request::new(request)).await.unwrap().into_inner();
        assert_eq!(answer.private, b"private");
        let state = self.decode(answer.new_state.as_ref());
        Answer { state, diagnostics: answer.diagnostics }
    }

    /// Plans and applies a configuration, and checks that nothing is left to do after it.
    async fn settle(&self, prior: &Value, config: &Value) -> Value {
        let planned = self.plan(prior, config).await.0.good();
        let state = self.apply(prior, &planned, config).await.good();
        assert_eq!(check_apply(&self.schema, &planned, &state), []);
        assert_eq!(self.plan(&state, config).await.0.good(), state, "nothing is left to do");
        let read = self.read(&state).await.good();
        assert_eq!(read, state, "nothing has drifted");
        state
    }

    async fn create(&self, config: &Value) -> Answer {
        let planned = self.plan(&Value::Null, config).await.0.good();
        self.apply(&Value::Null, &planned, config).await
    }
}

fn part(name: &str) -> Value {
    Value::object([("name", name.into()), ("cost", Value::Null), ("color", Value::Null)])
}

#[test]
fn the_schema_obeys_the_rules() {
    assert_eq!(check_schema(&Notes::default().resources()[0].schema()), []);
}

#[tokio::test]
async fn a_note_lives_from_create_to_destroy_without_a_false_difference() {
    let bench = Bench::new().await;
    let config = bench.config([
        ("name", "one".into()),
        ("text", "Hello".into()),
        ("labels", Value::map([("a", "b")])),
        ("tags", Value::set(Vec::<Value>::new())),
        ("secret", "hush".into()),
        ("parts", Value::list([part("x"), part("y")])),
    ]);
    let state = bench.settle(&Value::Null, &config).await;
    assert_eq!(state.text("text"), "Hello", "the user's spelling is kept");
    assert_eq!(state.get("labels"), &Value::map([("a", "b")]));
    assert_eq!(state.get("tags"), &Value::set(Vec::<Value>::new()), "empty stays empty");
    assert!(state.get("secret").is_null());
    assert_eq!(state.get("size").as_u32(), Some(1));
    let first = &state.get("parts").elements()[0];
    assert_eq!((first.get("cost").as_u32(), first.text("color")), (Some(7), "red"));

    let mut changed = config.clone();
    changed.set_attribute("size", 5_u32);
    changed.set_attribute("parts", Value::list([part("x"), part("y"), part("z")]));
    let planned = bench.plan(&state, &changed).await.0.good();
    assert_eq!(planned.get("id"), state.get("id"), "ids stay known");
    assert!(planned.get("revision").is_unknown());
    let costs: Vec<bool> =
        planned.get("parts").elements().iter().map(|p| p.get("cost").is_unknown()).collect();
    assert_eq!(costs, [false, false, true], "only the new part's cost is not known");
    let state = bench.settle(&state, &changed).await;

    let (destroy, replace) = bench.plan(&state, &Value::Null).await;
    assert!(destroy.good().is_null() && replace.is_empty());
    assert!(bench.apply(&state, &Value::Null, &Value::Null).await.good().is_null());
    assert!(bench.store.lock().unwrap().is_empty());
}

#[tokio::test]
async fn another_spelling_of_the_same_is_no_change() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into()), ("text", "Hello".into())]);
    let state = bench.settle(&Value::Null, &config).await;
    let respelled = bench.config([("name", "one".into()), ("text", "HELLO".into())]);
    assert_eq!(bench.plan(&state, &respelled).await.0.good(), state);
}

#[tokio::test]
async fn a_change_that_needs_a_new_object_says_where() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into())]);
    let state = bench.settle(&Value::Null, &config).await;
    let renamed = bench.config([("name", "two".into())]);
    let (planned, replace) = bench.plan(&state, &renamed).await;
    assert_eq!(replace, [wire::path_to_proto(&"name".into())]);
    // Terraform then plans again as a create.
    drop(planned);
    let planned = bench.plan(&Value::Null, &renamed).await.0.good();
    assert!(planned.get("id").is_unknown());
}

#[tokio::test]
async fn what_exists_after_a_failed_create_is_in_the_state() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "fails late".into()), ("text", "hello".into())]);
    let answer = bench.create(&config).await;
    assert_eq!(answer.errors(), ["No ink"]);
    assert!(answer.diagnostics[0].attribute.is_some());
    assert_eq!(answer.state.text("id"), "note-fails late");
    assert!(answer.state.is_wholly_known());
}

#[tokio::test]
async fn a_failed_update_leaves_the_state_that_holds() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into()), ("text", "hello".into())]);
    let state = bench.settle(&Value::Null, &config).await;
    let changed = bench.config([("name", "one".into()), ("text", "unwritable".into())]);
    let planned = bench.plan(&state, &changed).await.0.good();
    let answer = bench.apply(&state, &planned, &changed).await;
    assert_eq!(answer.errors(), ["No ink"]);
    assert_eq!(answer.state, state);
}

#[tokio::test]
async fn a_value_left_unknown_is_named() {
    let bench = Bench::new().await;
    let answer = bench.create(&bench.config([("name", "forgets".into())])).await;
    assert_eq!(answer.errors(), ["Value left unknown"]);
    assert!(answer.diagnostics[0].detail.contains("revision"));
    assert_eq!(answer.state.text("id"), "note-forgets", "it exists, so it is stored");
}

#[tokio::test]
async fn a_result_that_differs_from_the_plan_is_named() {
    let bench = Bench::new().await;
    let answer = bench.create(&bench.config([("name", "lies".into())])).await;
    assert_eq!(answer.errors(), ["Result differs from the plan"]);
    assert!(answer.diagnostics[0].detail.contains("`size`"));
    assert_eq!(answer.state.get("size").as_u32(), Some(99), "what holds is stored");
}

#[tokio::test]
async fn a_panic_is_one_calls_trouble() {
    let bench = Bench::new().await;
    let (answer, _) = bench.plan(&Value::Null, &bench.config([("name", "panics".into())])).await;
    assert_eq!(answer.errors(), ["Provider crashed"]);
    assert!(answer.diagnostics[0].detail.contains("no such page"));
    let config = bench.config([("name", "one".into())]);
    bench.settle(&Value::Null, &config).await;
}

#[tokio::test]
async fn an_interrupt_ends_the_waiting_and_nothing_after_it() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "hangs".into())]);
    let planned = bench.plan(&Value::Null, &config).await.0.good();
    let hanging = bench.apply(&Value::Null, &planned, &config);
    let stopping = async {
        // The apply is polled first, so it waits by now.
        bench.server.stop_provider(Request::new(pb::stop_provider::Request {})).await.unwrap();
    };
    let (answer, ()) = tokio::join!(hanging, stopping);
    assert_eq!(answer.errors(), ["Interrupted"]);
    assert_eq!(answer.state.text("id"), "note-hangs");

    let other = bench.config([("name", "one".into())]);
    bench.settle(&Value::Null, &other).await;
}

#[tokio::test]
async fn what_is_gone_is_dropped_with_a_warning() {
    let bench = Bench::new().await;
    let state = bench.settle(&Value::Null, &bench.config([("name", "one".into())])).await;
    bench.store.lock().unwrap().clear();
    let answer = bench.read(&state).await;
    assert!(answer.state.is_null());
    assert_eq!(answer.diagnostics[0].severity(), Severity::Warning);
}

#[tokio::test]
async fn drift_is_shown_for_what_it_is() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into()), ("text", "hello".into())]);
    let state = bench.settle(&Value::Null, &config).await;
    bench.store.lock().unwrap().get_mut("note-one").unwrap().set_attribute("size", 3_u32);
    let read = bench.read(&state).await.good();
    let mut expected = state.clone();
    expected.set_attribute("size", 3_u32);
    assert_eq!(read, expected);
    let planned = bench.plan(&read, &config).await.0.good();
    assert_eq!(planned.get("size").as_u32(), Some(1));
}

async fn import(bench: &Bench, id: &str) -> pb::import_resource_state::Response {
    let request = pb::import_resource_state::Request {
        type_name: "notes_note".to_owned(),
        id: id.to_owned(),
        ..Default::default()
    };
    bench.server.import_resource_state(Request::new(request)).await.unwrap().into_inner()
}

#[tokio::test]
async fn an_import_is_followed_by_an_empty_plan() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into()), ("text", "hello".into())]);
    bench.settle(&Value::Null, &config).await;
    let answer = import(&bench, "note-one").await;
    let [imported] = answer.imported_resources.as_slice() else { panic!("{answer:?}") };
    assert_eq!(imported.type_name, "notes_note");
    let state = bench.decode(imported.state.as_ref());
    let read = bench.read(&state).await.good();
    // Not byte for byte: the store writes in capitals, and there was no spelling to keep yet.
    let planned = bench.plan(&read, &config).await.0.good();
    assert_eq!(planned, read);

    let refused = import(&bench, "one").await;
    assert!(refused.diagnostics[0].detail.contains("note-NAME"));
    assert!(refused.imported_resources.is_empty());
}

#[tokio::test]
async fn old_states_are_upgraded_link_by_link() {
    let bench = Bench::new().await;
    for (version, json) in [
        (0, r#"{"id":"note-1","title":"old","dropped_long_ago":[1]}"#),
        (1, r#"{"id":"note-1","label":"old"}"#),
        (2, r#"{"id":"note-1","name":"old","size":1,"from_the_future":true}"#),
    ] {
        let request = pb::upgrade_resource_state::Request {
            type_name: "notes_note".to_owned(),
            version,
            raw_state: Some(pb::RawState { json: json.into(), ..Default::default() }),
        };
        let answer = bench.server.upgrade_resource_state(Request::new(request)).await.unwrap();
        let state = bench.decode(answer.into_inner().upgraded_state.as_ref());
        let expected =
            bench.config([("id", "note-1".into()), ("name", "old".into()), ("size", 1_u32.into())]);
        assert_eq!(state, expected, "version {version}");
    }
}

#[tokio::test]
async fn a_move_works_unconfigured_and_from_known_sources_only() {
    let bench = Bench::new().await;
    let server = Server::new(Notes::default());
    let request = |source: &str| {
        Request::new(pb::move_resource_state::Request {
            source_type_name: source.to_owned(),
            source_state: Some(pb::RawState {
                json: br#"{"number":"note-9"}"#.to_vec(),
                ..Default::default()
            }),
            target_type_name: "notes_note".to_owned(),
            ..Default::default()
        })
    };
    let moved = server.move_resource_state(request("paper_sheet")).await.unwrap().into_inner();
    let state = bench.decode(moved.target_state.as_ref());
    assert_eq!((state.text("id"), state.text("name")), ("note-9", "moved"));
    let refused = server.move_resource_state(request("stone_slab")).await.unwrap().into_inner();
    assert_eq!(refused.diagnostics[0].summary, "Move not supported");
}

#[tokio::test]
async fn a_provider_whose_configuration_is_not_known_plans_and_says_what_it_cannot_do() {
    let bench = Bench::new().await;
    bench.configure(Value::object([("shelf", Value::UNKNOWN)])).await;
    let config = bench.config([("name", "one".into())]);
    let answer = bench.create(&config).await;
    assert_eq!(answer.errors(), ["Provider not configured"]);
    assert!(answer.state.is_null());
}

async fn validate(bench: &Bench, config: &Value, write_only: bool) -> Vec<pb::Diagnostic> {
    let request = pb::validate_resource_config::Request {
        type_name: "notes_note".to_owned(),
        config: bench.encode(config),
        client_capabilities: Some(pb::ClientCapabilities {
            write_only_attributes_allowed: write_only,
            ..Default::default()
        }),
    };
    let answer = bench.server.validate_resource_config(Request::new(request)).await.unwrap();
    answer.into_inner().diagnostics
}

#[tokio::test]
async fn mistakes_are_told_all_at_once_with_their_paths() {
    let bench = Bench::new().await;
    let config = bench.config([
        ("name", "a name that is much too long".into()),
        (
            "timeouts",
            Value::object([
                ("create", "soon".into()),
                ("read", Value::Null),
                ("update", Value::UNKNOWN),
                ("delete", Value::Null),
            ]),
        ),
    ]);
    let told = validate(&bench, &config, true).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].detail.contains("must have a length from 1 to 20"), "{told:?}");
    assert!(told[1].detail.starts_with("`timeouts.create` must be a time"), "{told:?}");
    let unknown = bench.config([("name", Value::UNKNOWN), ("text", Value::UNKNOWN)]);
    assert_eq!(validate(&bench, &unknown, true).await, []);
}

#[tokio::test]
async fn a_cli_that_would_store_a_write_only_value_is_refused_one() {
    let bench = Bench::new().await;
    let config = bench.config([("name", "one".into()), ("secret", "hush".into())]);
    assert_eq!(validate(&bench, &config, true).await, []);
    let told = validate(&bench, &config, false).await;
    assert_eq!(told[0].summary, "Write-only value not supported");
    assert!(!told[0].detail.contains("hush"));
}

#[tokio::test]
async fn a_data_source_keeps_its_configuration() {
    let bench = Bench::new().await;
    bench.settle(&Value::Null, &bench.config([("name", "one".into())])).await;
    let ty = Notes::default().data_sources()[0].schema().value_type();
    let config = Value::object([("id", "note-one".into()), ("name", Value::Null)]);
    let request = pb::read_data_source::Request {
        type_name: "notes_note".to_owned(),
        config: Some(wire::encode(&ty, &config).unwrap()),
        ..Default::default()
    };
    let answer = bench.server.read_data_source(Request::new(request)).await.unwrap().into_inner();
    let state = wire::decode(&ty, answer.state.as_ref()).unwrap();
    assert_eq!((state.text("id"), state.text("name")), ("note-one", "one"));
}
