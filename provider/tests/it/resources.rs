//! What holds for every resource, whatever its configuration: Terraform's rules of planning and
//! applying, empty plans when nothing is to do, and state that survives reading and importing.

use std::{collections::BTreeMap, sync::Arc};

use proptest::{collection, prelude::*, test_runner::TestRunner};
use provider::{
    client::Client,
    framework::{
        Context, Create, Delete, Diagnostics, Import, Plan, Planned, Read, Resource, Update, Value,
        conformance::{self, Violation},
        plan,
        result::{self, Leftover},
        validate,
    },
    resources::RESOURCES,
};

use crate::{
    configurations,
    fake_host::{FakeHost, context, settings},
};

const CASES: u32 = 32;

/// A resource, and a host to have it on.
struct Bench {
    resource: &'static dyn Resource<Client>,
    context: Context<Client>,
    host: FakeHost,
}

impl Bench {
    fn valid(&self, config: &Value) -> bool {
        let mut diagnostics = Diagnostics::new();
        validate::validate(&self.resource.schema(), config, &mut diagnostics);
        self.resource.validate(config, &mut diagnostics);
        !diagnostics.has_errors()
    }

    /// What Terraform and the provider make of a configuration; `Err`: refused.
    async fn plan(&self, prior: &Value, config: &Value) -> Result<Planned, Diagnostics> {
        let (schema, mut diagnostics) = (self.resource.schema(), Diagnostics::new());
        let request = Plan { prior, config };
        let proposed = conformance::proposed_new_state(&schema, prior, config);
        let shared = plan::plan(&schema, request, &proposed);
        let mut hooked = shared.clone();
        let result =
            self.resource.plan(&self.context, request, &mut hooked, &mut diagnostics).await;
        if result.is_err() {
            return Err(diagnostics);
        }
        let planned = plan::after_hook(&schema, request, &shared, hooked);
        clean(&conformance::check_plan(&schema, request, &planned.state));
        Ok(planned)
    }

    async fn create(&self, planned: &Value, config: &Value) -> Value {
        let mut diagnostics = Diagnostics::new();
        let request = Create { planned, config };
        let returned = self.resource.create(&self.context, request, &mut diagnostics).await;
        self.applied(planned, &returned.unwrap_or_else(|_| panic!("{diagnostics:?}")))
    }

    async fn update(&self, prior: &Value, planned: &Value, config: &Value) -> Value {
        let mut diagnostics = Diagnostics::new();
        let request = Update { prior, planned, config };
        let returned = self.resource.update(&self.context, request, &mut diagnostics).await;
        self.applied(planned, &returned.unwrap_or_else(|_| panic!("{diagnostics:?}")))
    }

    fn applied(&self, planned: &Value, returned: &Value) -> Value {
        let (schema, mut diagnostics) = (self.resource.schema(), Diagnostics::new());
        let settled =
            result::settle(&schema, (planned, returned), Leftover::Report, &mut diagnostics);
        let applied = settled.unwrap_or_else(|_| panic!("{diagnostics:?}"));
        clean(&conformance::check_apply(&schema, planned, &applied));
        applied
    }

    async fn read(&self, prior: &Value) -> Option<Value> {
        let (schema, mut diagnostics) = (self.resource.schema(), Diagnostics::new());
        let read = self.resource.read(&self.context, Read { prior }, &mut diagnostics).await;
        let returned = read.unwrap_or_else(|_| panic!("{diagnostics:?}"))?;
        let settled =
            result::settle(&schema, (prior, &returned), Leftover::Report, &mut diagnostics);
        Some(settled.unwrap_or_else(|_| panic!("{diagnostics:?}")))
    }

    fn upgrade(&self, state: &Value) -> Value {
        let (schema, mut diagnostics) = (self.resource.schema(), Diagnostics::new());
        let upgraded = result::upgraded(&schema, state, &mut diagnostics);
        upgraded.unwrap_or_else(|_| panic!("{diagnostics:?}"))
    }

    async fn import(&self, id: &str) -> Value {
        let (schema, mut diagnostics) = (self.resource.schema(), Diagnostics::new());
        let imported = self.resource.import(&self.context, Import::Id(id), &mut diagnostics).await;
        let imported = imported
            .and_then(|returned| result::imported(&schema, &returned, &mut diagnostics))
            .unwrap_or_else(|_| panic!("{diagnostics:?}"));
        self.read(&imported).await.unwrap()
    }

    async fn delete(&self, prior: &Value) {
        let mut diagnostics = Diagnostics::new();
        let deleted = self.resource.delete(&self.context, Delete { prior }, &mut diagnostics);
        assert!(deleted.await.is_ok(), "{diagnostics:?}");
    }

    /// Create, nothing to do, read, import, change (in place or by replacement), delete.
    async fn life(&self, mut first: Value, second: &Value) {
        first.set_attribute("deletion_protection", false);
        // The host of these tests runs nothing, so there is nothing to wait for.
        let has_wait = self.resource.schema().attribute("wait_for_ready").is_some();
        let mut second = second.clone();
        for config in [&mut first, &mut second] {
            if has_wait {
                config.set_attribute("wait_for_ready", false);
            }
        }
        let planned = self.plan(&Value::Null, &first).await.unwrap();
        assert!(planned.replace.is_empty());
        let state = self.create(&planned.state, &first).await;
        assert_eq!(self.upgrade(&state), state, "what is stored is read back");
        assert_eq!(self.plan(&state, &first).await.unwrap().state, state, "nothing is to do");
        assert_eq!(self.read(&state).await.as_ref(), Some(&state), "nothing has drifted");
        self.import_and_plan(&state, &first).await;

        let planned = self.plan(&state, &second).await.unwrap();
        let state = if planned.replace.is_empty() {
            self.update(&state, &planned.state, &second).await
        } else {
            let planned = self.plan(&Value::Null, &second).await.unwrap();
            self.delete(&state).await;
            self.create(&planned.state, &second).await
        };
        assert_eq!(self.plan(&state, &second).await.unwrap().state, state, "nothing is to do");
        assert_eq!(self.read(&state).await.as_ref(), Some(&state), "nothing has drifted");

        let destroyed = self.plan(&state, &Value::Null).await;
        if state.get("deletion_protection").as_bool() == Some(true) {
            let diagnostics = destroyed.unwrap_err();
            assert_eq!(diagnostics.iter().next().unwrap().path.to_string(), "deletion_protection");
        } else {
            assert_eq!(destroyed.unwrap(), Planned::default());
        }
        self.delete(&state).await;
        assert_eq!(self.read(&state).await, None);
        self.delete(&state).await;
    }

    /// Importing gives an empty plan, but for what only Terraform knows.
    async fn import_and_plan(&self, state: &Value, config: &Value) {
        let parent = state.get("environment").as_str().map(|parent| format!("{parent}/"));
        let name = parent.unwrap_or_default() + state.text("name");
        let is_pool = self.resource.type_name() == "runtimecloud_worker_pool";
        let mut config = without_empty(config);
        config.set_attribute("timeouts", Value::Null);
        for key in [if is_pool { &name } else { state.text("name") }, state.text("id")] {
            let mut imported = self.import(key).await;
            if is_pool {
                imported.set_attribute("wait_for_ready", false);
            }
            let planned = self.plan(&imported, &config).await.unwrap();
            assert_eq!(planned.state, imported, "a plan after import is empty");
        }
    }

    /// What is planned of unknown values still holds when they are known.
    async fn refine(&self, config: &Value, unknown: &[bool]) {
        let blurred = configurations::blurred(config, unknown);
        assert!(self.valid(&blurred), "what is not known is not wrong");
        let first = self.plan(&Value::Null, &blurred).await.unwrap();
        assert_eq!(first, self.plan(&Value::Null, &blurred).await.unwrap(), "the same twice");
        let second = self.plan(&Value::Null, config).await.unwrap();
        clean(&conformance::check_final_plan(&self.resource.schema(), &first.state, &second.state));
    }
}

/// Empty strings and collections left out: the host does not tell the one from the other.
fn without_empty(config: &Value) -> Value {
    match config {
        Value::Map(entries) if entries.is_empty() => Value::Null,
        Value::String(text) if text.is_empty() => Value::Null,
        Value::Object(_) => {
            Value::object(config.entries().map(|(name, value)| (name, without_empty(value))))
        }
        value => value.clone(),
    }
}

fn clean(violations: &[Violation]) {
    let found: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Runs a check of every resource with many pairs of valid configurations.
fn for_each_resource(check: &impl AsyncFn(&Bench, Value, Value, Vec<bool>)) {
    let team = [("team".to_owned(), "a".to_owned())];
    let defaults = [BTreeMap::from(team), BTreeMap::new()];
    for (resource, defaults) in RESOURCES.iter().flat_map(|r| defaults.iter().map(move |d| (r, d)))
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (host, address) = runtime.block_on(FakeHost::start());
        let client = Client::new(settings(address), Some(defaults.clone())).unwrap();
        let bench = Bench { resource: *resource, context: context(client), host };
        let bench = Arc::new(bench);
        let checked = Arc::clone(&bench);
        let config = configurations::of(&resource.schema())
            .prop_filter("a rule is broken", move |config| checked.valid(config))
            .boxed();
        let strategy = (config.clone(), config, collection::vec(any::<bool>(), 1..20));
        let mut runner = TestRunner::new(ProptestConfig {
            cases: CASES,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let result = runner.run(&strategy, |(first, second, unknown)| {
            *bench.host.memory() = Default::default();
            runtime.block_on(check(&bench, first, second, unknown));
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", resource.type_name()));
    }
}

#[test]
fn every_life_of_every_resource_keeps_terraforms_rules() {
    for_each_resource(&async |bench, first, second, _| bench.life(first, &second).await);
}

#[test]
fn every_plan_of_unknown_values_holds_when_they_are_known() {
    for_each_resource(&async |bench, config, _, unknown| bench.refine(&config, &unknown).await);
}

#[test]
fn null_elements_are_refused_where_they_stand() {
    let null = |key: &str| Value::map([(key, Value::Null)]);
    let worker = |name: &str, value| Value::object([(name, value)]);
    for (ty, attribute, value, path) in [
        ("environment", "variables", null("A"), r#"variables["A"]"#),
        ("environment", "labels", null("a"), r#"labels["a"]"#),
        ("quota", "limits", null("cpu"), r#"limits["cpu"]"#),
        ("worker_pool", "worker", worker("shape", null("cpu")), r#"worker.shape["cpu"]"#),
        (
            "worker_pool",
            "worker",
            worker("command", Value::list(["x".into(), Value::Null])),
            "worker.command[1]",
        ),
        ("worker_pool", "worker", worker("ports", Value::set([Value::Null])), "worker.ports[*]"),
    ] {
        let ty = format!("runtimecloud_{ty}");
        let resource = RESOURCES.iter().find(|resource| resource.type_name() == ty).unwrap();
        let mut diagnostics = Diagnostics::new();
        let config = Value::object([(attribute, value)]);
        validate::validate(&resource.schema(), &config, &mut diagnostics);
        let found: Vec<_> = diagnostics.iter().map(|d| (&*d.summary, d.path.to_string())).collect();
        assert_eq!(found, [("Null element", path.to_owned())]);
    }
}

#[test]
fn every_schema_is_one_that_terraform_takes() {
    for resource in RESOURCES {
        clean(&conformance::check_schema(&resource.schema()));
    }
}
