//! What an object has beside its state, through the server's calls: its identity, what the provider
//! keeps with it, and the answer "not in this run".

use crate::crates::{Crates, TOUCHED};
use proto::tfplugin6::{
    self as pb, DynamicValue, deferred::Reason, diagnostic::Severity,
    provider_server::Provider as _,
};
use provider::{
    framework::{
        IdentitySchema, PRIVATE_BYTES_MAX, Provider as _, Schema, Value,
        conformance::{check_identity, check_identity_schema, check_schema, proposed_new_state},
    },
    server::Server,
    wire,
};
use tonic::Request;

struct Bench {
    server: Server<Crates>,
    schema: Schema,
    identity: IdentitySchema,
    may_defer: bool,
}

/// A state, and what is beside it.
#[derive(Clone, Debug, PartialEq)]
struct Object {
    state: Value,
    identity: Value,
    private: Vec<u8>,
}

struct Answer {
    object: Object,
    deferred: Option<Reason>,
    replaces: bool,
    told: Vec<pb::Diagnostic>,
}

impl Answer {
    fn errors(&self) -> Vec<&str> {
        let errors = self.told.iter().filter(|d| d.severity() == Severity::Error);
        errors.map(|d| d.summary.as_str()).collect()
    }

    fn good(self) -> Object {
        assert_eq!(self.errors(), Vec::<&str>::new(), "{:?}", self.told);
        assert_eq!(self.deferred, None);
        self.object
    }
}

fn nothing() -> Object {
    Object { state: Value::Null, identity: Value::Null, private: Vec::new() }
}

fn identity(serial: &str, shelf: impl Into<Value>) -> Value {
    Value::object([("serial", serial.into()), ("shelf", shelf.into())])
}

fn config<const N: usize>(attributes: [(&str, Value); N]) -> Value {
    let schema = Crates::default().resources()[0].schema();
    let mut config = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    for (name, value) in attributes {
        config.set_attribute(name, value);
    }
    config
}

impl Bench {
    async fn new() -> Self {
        let bench = Self::unconfigured();
        bench.configure(Value::Null).await;
        bench
    }

    fn unconfigured() -> Self {
        let crates = Crates::default();
        let resource = crates.resources()[0];
        Self {
            schema: resource.schema(),
            identity: resource.identity().unwrap(),
            server: Server::new(crates),
            may_defer: false,
        }
    }

    async fn configure(&self, hall: Value) {
        let ty = Crates::default().schema().value_type();
        let config = Some(wire::encode(&ty, &Value::object([("hall", hall)])).unwrap());
        let request = pb::configure_provider::Request { config, ..Default::default() };
        let answer = self.server.configure_provider(Request::new(request)).await.unwrap();
        assert_eq!(answer.into_inner().diagnostics, []);
    }

    fn capabilities(&self) -> Option<pb::ClientCapabilities> {
        Some(pb::ClientCapabilities { deferral_allowed: self.may_defer, ..Default::default() })
    }

    fn encode(&self, value: &Value) -> Option<DynamicValue> {
        Some(wire::encode(&self.schema.value_type(), value).unwrap())
    }

    fn encode_identity(&self, identity: &Value) -> Option<pb::ResourceIdentityData> {
        let data = || wire::encode(&self.identity.value_type(), identity).unwrap();
        (!identity.is_null()).then(|| pb::ResourceIdentityData { identity_data: Some(data()) })
    }

    fn object(
        &self,
        state: Option<&DynamicValue>,
        identity: Option<&pb::ResourceIdentityData>,
        private: Vec<u8>,
    ) -> Object {
        let identity = identity.and_then(|data| data.identity_data.as_ref());
        Object {
            state: wire::decode(&self.schema.value_type(), state).unwrap(),
            identity: wire::decode(&self.identity.value_type(), identity).unwrap(),
            private,
        }
    }

    /// `planned` is what an earlier plan of the same change kept.
    async fn plan_again(&self, prior: &Object, config: &Value, planned: &[u8]) -> Answer {
        let proposed = proposed_new_state(&self.schema, &prior.state, config);
        let request = pb::plan_resource_change::Request {
            type_name: "crates_crate".to_owned(),
            prior_state: self.encode(&prior.state),
            proposed_new_state: self.encode(&proposed),
            config: self.encode(config),
            prior_private: prior.private.clone(),
            prior_identity: self.encode_identity(&prior.identity),
            planned_private: planned.to_vec(),
            client_capabilities: self.capabilities(),
            ..Default::default()
        };
        let answer = self.server.plan_resource_change(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        let (state, identity) = (answer.planned_state.as_ref(), answer.planned_identity.as_ref());
        Answer {
            object: self.object(state, identity, answer.planned_private.clone()),
            deferred: answer.deferred.map(|deferred| deferred.reason()),
            replaces: !answer.requires_replace.is_empty(),
            told: answer.diagnostics,
        }
    }

    async fn plan(&self, prior: &Object, config: &Value) -> Answer {
        self.plan_again(prior, config, &[]).await
    }

    async fn apply(&self, prior: &Object, planned: &Object, config: &Value) -> Answer {
        let request = pb::apply_resource_change::Request {
            type_name: "crates_crate".to_owned(),
            prior_state: self.encode(&prior.state),
            planned_state: self.encode(&planned.state),
            config: self.encode(config),
            planned_private: planned.private.clone(),
            planned_identity: self.encode_identity(&planned.identity),
            ..Default::default()
        };
        let answer = self.server.apply_resource_change(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        let (state, identity) = (answer.new_state.as_ref(), answer.new_identity.as_ref());
        Answer {
            object: self.object(state, identity, answer.private.clone()),
            deferred: None,
            replaces: false,
            told: answer.diagnostics,
        }
    }

    async fn read(&self, prior: &Object) -> Answer {
        let request = pb::read_resource::Request {
            type_name: "crates_crate".to_owned(),
            current_state: self.encode(&prior.state),
            private: prior.private.clone(),
            current_identity: self.encode_identity(&prior.identity),
            client_capabilities: self.capabilities(),
            ..Default::default()
        };
        let answer = self.server.read_resource(Request::new(request)).await.unwrap().into_inner();
        let (state, identity) = (answer.new_state.as_ref(), answer.new_identity.as_ref());
        Answer {
            object: self.object(state, identity, answer.private.clone()),
            deferred: answer.deferred.map(|deferred| deferred.reason()),
            replaces: false,
            told: answer.diagnostics,
        }
    }

    async fn settle(&self, prior: &Object, config: &Value) -> Object {
        let planned = self.plan(prior, config).await.good();
        let applied = self.apply(prior, &planned, config).await.good();
        assert_eq!(check_identity(&self.identity, &applied.identity), []);
        assert_eq!(self.plan(&applied, config).await.good(), applied, "nothing is left to do");
        assert_eq!(self.read(&applied).await.good(), applied, "nothing has drifted");
        applied
    }

    async fn create(&self, name: &str) -> Object {
        self.settle(&nothing(), &config([("name", name.into())])).await
    }

    async fn import(&self, ty: &str, id: &str, identity: &Value) -> Answer {
        let request = pb::import_resource_state::Request {
            type_name: ty.to_owned(),
            id: id.to_owned(),
            identity: self.encode_identity(identity),
            client_capabilities: self.capabilities(),
        };
        let answer = self.server.import_resource_state(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        let imported = answer.imported_resources.first().cloned().unwrap_or_default();
        let (state, identity) = (imported.state.as_ref(), imported.identity.as_ref());
        Answer {
            object: self.object(state, identity, imported.private.clone()),
            deferred: answer.deferred.map(|deferred| deferred.reason()),
            replaces: false,
            told: answer.diagnostics,
        }
    }
}

#[test]
fn the_schemas_obey_the_rules() {
    for resource in Crates::default().resources() {
        assert_eq!(check_schema(&resource.schema()), []);
    }
    let resource = Crates::default().resources()[0];
    assert_eq!(check_identity_schema(&resource.identity().unwrap(), &resource.schema()), []);
}

#[test]
fn an_identity_schema_that_cannot_work_is_named() {
    use provider::framework::{Attribute, IdentityAttribute, Type};
    let resource = Schema::new("A thing.").attributes([
        Attribute::number("number", "Its number.").computed(),
        Attribute::string("key", "Opens it.").computed().sensitive(),
    ]);
    let attribute = |name, description| IdentityAttribute::optional(name, description);
    let nested = Type::Object(std::collections::BTreeMap::new());
    let identity = IdentitySchema::new([
        attribute("number", "Its number."),
        attribute("key", "Opens it."),
        attribute("Name", "A name."),
        attribute("bare", ""),
        IdentityAttribute { ty: nested, ..attribute("deep", "Too deep.") },
        attribute("deep", "Twice."),
    ])
    .version(-1);
    let found: Vec<_> = check_identity_schema(&identity, &resource)
        .iter()
        .map(|violation| violation.to_string())
        .collect();
    assert_eq!(found.len(), 8, "{found:#?}");
}

#[tokio::test]
async fn identities_are_declared() {
    let bench = Bench::unconfigured();
    let request = pb::get_resource_identity_schemas::Request {};
    let answer = bench.server.get_resource_identity_schemas(Request::new(request)).await.unwrap();
    let schemas = answer.into_inner().identity_schemas;
    assert_eq!(schemas.keys().collect::<Vec<_>>(), ["crates_crate"]);
    let schema = &schemas["crates_crate"];
    assert_eq!(schema.version, 2);
    let [serial, shelf] = &schema.identity_attributes[..] else { panic!("{schema:?}") };
    assert!(serial.required_for_import && !serial.optional_for_import);
    assert!(!shelf.required_for_import && shelf.optional_for_import);
}

#[tokio::test]
async fn an_object_has_one_identity_from_its_plan_to_its_end() {
    let bench = Bench::new().await;
    let planned = bench.plan(&nothing(), &config([("name", "one".into())])).await.good();
    assert_eq!(planned.identity, Value::Null, "not known before it is made");
    let made = bench.create("one").await;
    assert_eq!(made.identity, identity("c-1", "front"));

    let heavier = config([("name", "one".into()), ("weight", 5_u32.into())]);
    let planned = bench.plan(&made, &heavier).await.good();
    assert_eq!(planned.identity, made.identity, "known in the plan of an update");
    let changed = bench.settle(&made, &heavier).await;
    assert_eq!(changed.identity, made.identity);

    let sealed = config([("name", "one".into()), ("sealed", true.into())]);
    assert!(bench.plan(&changed, &sealed).await.replaces);

    let destroyed = bench.plan(&changed, &Value::Null).await.good();
    assert_eq!(destroyed.identity, made.identity);
    // A deletion for a replacement is not told the identity.
    let planned = Object { identity: Value::Null, ..destroyed };
    let gone = bench.apply(&changed, &planned, &Value::Null).await.good();
    assert_eq!((gone.state, gone.identity), (Value::Null, Value::Null));
    let read = bench.read(&changed).await;
    assert_eq!((&read.object.state, &read.object.identity), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn an_identity_that_changes_is_an_error_that_names_it() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    let wanders = config([("name", "wanders".into())]);
    let planned = bench.plan(&made, &wanders).await;
    assert_eq!(planned.errors(), ["Identity changed"]);
    assert!(planned.told[0].detail.contains("`serial`"), "{:?}", planned.told);

    let other = Object { identity: identity("c-1", "back"), ..made.clone() };
    let read = bench.read(&other).await;
    assert_eq!(read.errors(), ["Identity changed"]);
    assert!(read.told[0].detail.contains("`shelf`"));
    assert_eq!(read.object.identity, other.identity, "it stays");
}

#[tokio::test]
async fn an_object_without_a_complete_identity_is_an_error() {
    let bench = Bench::new().await;
    let config = config([("name", "anonymous".into())]);
    let planned = bench.plan(&nothing(), &config).await.good();
    let made = bench.apply(&nothing(), &planned, &config).await;
    assert!(made.errors().contains(&"Identity missing"), "{:?}", made.told);
    assert!(!made.object.state.is_null(), "it exists, so it is stored");
}

#[tokio::test]
async fn a_failure_keeps_the_identity_and_what_was_kept() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    let breaks = config([("name", "breaks".into())]);
    let planned = bench.plan(&made, &breaks).await.good();
    let failed = bench.apply(&made, &planned, &breaks).await;
    assert_eq!(failed.errors(), ["Broken"]);
    assert_eq!((&failed.object.state, &failed.object.identity), (&made.state, &made.identity));
    assert_eq!(touched(&failed.object), "plan create plan update", "what was written stays");

    let broken = config([("name", "breaks at once".into())]);
    let planned = bench.plan(&nothing(), &broken).await.good();
    let tainted = bench.apply(&nothing(), &planned, &broken).await;
    assert_eq!(tainted.errors(), ["Broken"]);
    assert_eq!(tainted.object.identity, identity("c-2", "front"), "it exists");

    let mut stuck = made.clone();
    stuck.state.set_attribute("name", "breaks");
    let destroyed = bench.plan(&stuck, &Value::Null).await.good();
    let kept = bench.apply(&stuck, &destroyed, &Value::Null).await;
    assert_eq!(kept.errors(), ["Stuck"]);
    assert_eq!(kept.object, stuck);

    let unconfigured = Bench::unconfigured();
    let unread = unconfigured.read(&made).await;
    assert_eq!(unread.errors(), ["Provider not configured"]);
    assert_eq!(unread.object, made);
}

#[tokio::test]
async fn a_state_from_before_identities_gets_one() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    let old = Object { identity: Value::Null, ..made.clone() };
    assert_eq!(bench.read(&old).await.good().identity, made.identity);
    // Without a refresh, too.
    let heavier = config([("name", "one".into()), ("weight", 5_u32.into())]);
    let planned = bench.plan(&old, &heavier).await.good();
    assert_eq!(planned.identity, made.identity);
    assert_eq!(bench.apply(&old, &planned, &heavier).await.good().identity, made.identity);
}

#[tokio::test]
async fn an_import_goes_by_identity_or_by_id() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    for given in [identity("c-1", Value::Null), identity("c-1", "front")] {
        let imported = bench.import("crates_crate", "", &given).await.good();
        assert_eq!(imported.state.text("serial"), "c-1");
        assert_eq!(imported.identity, given, "what was given, until more is read");
        let read = bench.read(&imported).await.good();
        assert_eq!((&read.state, &read.identity), (&made.state, &made.identity));
    }
    let sack = bench.import("crates_sack", "c-1", &Value::Null).await.good();
    assert_eq!((sack.state.text("serial"), sack.identity), ("c-1", Value::Null));
}

#[tokio::test]
async fn an_identity_that_finds_nothing_says_what_it_lacks() {
    let bench = Bench::new().await;
    let incomplete = bench.import("crates_crate", "", &identity_of(Value::Null)).await;
    assert_eq!(incomplete.errors(), ["Identity incomplete"]);
    let detail = &incomplete.told[0].detail;
    assert!(detail.contains("`serial` is not given: Its number."), "{detail}");
    assert!(detail.contains("may give no other but `serial`, `shelf`"), "{detail}");
    let unknown = bench.import("crates_crate", "", &identity_of(Value::UNKNOWN)).await;
    assert_eq!(unknown.errors(), ["Identity not known yet"]);
    let none = bench.import("crates_sack", "", &identity("c-1", Value::Null)).await;
    assert_eq!(none.errors(), ["No import by identity"]);
}

fn identity_of(serial: Value) -> Value {
    Value::object([("serial", serial), ("shelf", "front".into())])
}

#[tokio::test]
async fn old_identities_are_upgraded_link_by_link() {
    let bench = Bench::unconfigured();
    let upgrade = async |version, json: &str| {
        let request = pb::upgrade_resource_identity::Request {
            type_name: "crates_crate".to_owned(),
            version,
            raw_identity: Some(pb::RawState { json: json.into(), ..Default::default() }),
        };
        let answer = bench.server.upgrade_resource_identity(Request::new(request)).await.unwrap();
        let answer = answer.into_inner();
        let told: Vec<String> = answer.diagnostics.iter().map(|d| d.summary.clone()).collect();
        (bench.object(None, answer.upgraded_identity.as_ref(), Vec::new()).identity, told)
    };
    for (version, json) in [
        (0, r#"{"no":"7"}"#),
        (1, r#"{"number":"7","hall":"dropped long ago"}"#),
        (2, r#"{"serial":"c-7"}"#),
    ] {
        assert_eq!(upgrade(version, json).await, (identity("c-7", Value::Null), vec![]));
    }
    for (version, json, problem) in [
        (3, r#"{"serial":"c-7"}"#, "Unknown version of the identity"),
        (-1, r#"{"serial":"c-7"}"#, "Unknown version of the identity"),
        (0, r#"{"no":null}"#, "No number"),
        (2, "[1,", "Unreadable value"),
        (2, "null", "Identity of the wrong form"),
        (2, "", "State too old"),
    ] {
        let (identity, told) = upgrade(version, json).await;
        assert_eq!((identity, told), (Value::Null, vec![problem.to_owned()]), "{version} {json}");
    }
}

#[tokio::test]
async fn a_moved_object_has_the_identity_of_its_new_type() {
    let bench = Bench::unconfigured();
    let request = pb::move_resource_state::Request {
        source_type_name: "box".to_owned(),
        source_state: Some(pb::RawState {
            json: br#"{"number":"c-9"}"#.to_vec(),
            ..Default::default()
        }),
        source_private: b"theirs".to_vec(),
        target_type_name: "crates_crate".to_owned(),
        ..Default::default()
    };
    let moved = bench.server.move_resource_state(Request::new(request)).await.unwrap().into_inner();
    let moved = bench.object(
        moved.target_state.as_ref(),
        moved.target_identity.as_ref(),
        moved.target_private.clone(),
    );
    assert_eq!(moved.identity, identity("c-9", Value::Null));
    assert_eq!(moved.private, b"theirs");
}

/// What a crate's operations have left of themselves.
fn touched(object: &Object) -> String {
    let private: serde_json::Value = serde_json::from_slice(&object.private).unwrap();
    private[TOUCHED].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_kept_goes_from_plan_to_apply_and_on() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    assert_eq!(touched(&made), "plan create");
    let heavier = config([("name", "one".into()), ("weight", 5_u32.into())]);
    let planned = bench.plan(&made, &heavier).await.good();
    assert_eq!(touched(&planned), "plan create plan");
    // A CLI that hands back what the first plan kept has it to plan from.
    let again = bench.plan_again(&made, &heavier, &planned.private).await.good();
    assert_eq!(touched(&again), "plan create plan plan");
    let changed = bench.apply(&made, &planned, &heavier).await.good();
    assert_eq!(touched(&changed), "plan create plan update");
}

#[tokio::test]
async fn what_others_kept_stays_as_it_is() {
    let bench = Bench::new().await;
    let made = bench.create("one").await;
    for theirs in ["not json", r#"{ "theirs" : 1.50 }"#, "", "\u{0}"] {
        let theirs = Object { private: theirs.into(), ..made.clone() };
        assert_eq!(bench.read(&theirs).await.good(), theirs);
        let unchanged = bench.plan(&theirs, &config([("name", "one".into())])).await.good();
        assert_eq!(unchanged, theirs);
    }
    let theirs = Object { private: br#"{"theirs":1.50}"#.to_vec(), ..made };
    let heavier = config([("name", "one".into()), ("weight", 5_u32.into())]);
    let planned = bench.plan(&theirs, &heavier).await.good();
    assert_eq!(planned.private, br#"{"theirs":1.50,"touched":"plan"}"#);
    let long = "x".repeat(PRIVATE_BYTES_MAX);
    let full = Object { private: format!(r#"{{"touched":"{long}"}}"#).into(), ..theirs };
    let answer = bench.plan(&full, &heavier).await;
    assert_eq!(answer.errors(), ["Too much to keep"]);
    assert_eq!(answer.object.private, full.private);
}

#[tokio::test]
async fn an_unknown_provider_configuration_puts_off_where_that_is_allowed() {
    let mut bench = Bench::new().await;
    let made = bench.create("one").await;
    let one = config([("name", "one".into()), ("weight", 5_u32.into())]);
    bench.configure(Value::UNKNOWN).await;

    let read = bench.read(&made).await;
    assert_eq!((read.errors(), read.deferred), (vec!["Provider not configured"], None));
    assert_eq!(bench.plan(&made, &one).await.deferred, None, "planned as far as it goes");
    assert_eq!(import_deferral(&bench).await, (1, None));
    assert_eq!(crane(&bench).await, (1, None, true));

    bench.may_defer = true;
    let unknown = Some(Reason::ProviderConfigUnknown);
    let read = bench.read(&made).await;
    assert_eq!((read.errors(), read.deferred), (vec![], unknown));
    assert_eq!(read.object, made, "as it was");
    let planned = bench.plan(&made, &one).await;
    assert_eq!((planned.errors(), planned.deferred), (vec![], unknown));
    assert_eq!(planned.object.state.get("weight").as_u32(), Some(5));
    assert_eq!(bench.plan(&made, &Value::Null).await.deferred, unknown);
    assert_eq!(import_deferral(&bench).await, (0, unknown));
    assert_eq!(crane(&bench).await, (0, unknown, false));

    // In the walk that applies, everything is known, and nothing is put off any more.
    bench.configure("A".into()).await;
    assert_eq!(bench.plan(&made, &one).await.deferred, None);
    assert_eq!(bench.read(&made).await.good(), made);
}

async fn import_deferral(bench: &Bench) -> (usize, Option<Reason>) {
    let request = pb::import_resource_state::Request {
        type_name: "crates_crate".to_owned(),
        identity: bench.encode_identity(&identity("c-1", Value::Null)),
        client_capabilities: bench.capabilities(),
        ..Default::default()
    };
    let answer = bench.server.import_resource_state(Request::new(request)).await.unwrap();
    let answer = answer.into_inner();
    (answer.imported_resources.len(), answer.deferred.map(|deferred| deferred.reason()))
}

/// How many problems reading a data source has, why it is put off, and whether it has no state.
async fn crane(bench: &Bench) -> (usize, Option<Reason>, bool) {
    let ty = Crates::default().data_sources()[0].schema().value_type();
    let config = Value::object([("name", "big".into()), ("lifts", Value::Null)]);
    let request = pb::read_data_source::Request {
        type_name: "crates_crane".to_owned(),
        config: Some(wire::encode(&ty, &config).unwrap()),
        client_capabilities: bench.capabilities(),
        ..Default::default()
    };
    let answer = bench.server.read_data_source(Request::new(request)).await.unwrap().into_inner();
    let state = wire::decode(&ty, answer.state.as_ref()).unwrap();
    if answer.deferred.is_some() {
        let put_off = Value::object([("name", "big".into()), ("lifts", Value::UNKNOWN)]);
        assert_eq!(state, put_off);
    }
    (answer.diagnostics.len(), answer.deferred.map(|deferred| deferred.reason()), state.is_null())
}

#[tokio::test]
async fn a_resource_is_put_off_at_its_own_wish_only_where_that_is_allowed() {
    let mut bench = Bench::new().await;
    let waits = |weight| config([("name", "waits".into()), ("weight", weight)]);
    let absent = Some(Reason::AbsentPrereq);
    assert_eq!(bench.plan(&nothing(), &waits(Value::UNKNOWN)).await.deferred, None);
    bench.may_defer = true;
    assert_eq!(bench.plan(&nothing(), &waits(Value::UNKNOWN)).await.deferred, absent);
    // With all of it known it may be the walk that applies.
    let made = bench.create_without_reading(&waits(1_u32.into())).await;
    let read = bench.read(&made).await;
    assert_eq!((read.errors(), read.deferred), (vec![], absent));
    assert_eq!(read.object.state, made.state);
    bench.may_defer = false;
    assert_eq!(bench.read(&made).await.deferred, None);
}

impl Bench {
    async fn create_without_reading(&self, config: &Value) -> Object {
        let planned = self.plan(&nothing(), config).await.good();
        self.apply(&nothing(), &planned, config).await.good()
    }
}
