//! A token's secret: when it is sent, and that it is told nowhere; and tokens that are over.

use proto::runtimecloud::v1 as api;
use provider::{
    client::Client,
    framework::{
        Context, Create, Diagnostics, Plan, Read, Resource, Update, Value, conformance, plan,
        validate,
    },
    resources::RESOURCES,
};
use tonic::Status;

use crate::fake_host::{FakeHost, context, settings};

const FIRST: &str = "the-first-secret-of-32-characters!";
const SECOND: &str = "the-second-secret-of-32-characters";

fn resource() -> &'static dyn Resource<Client> {
    let is_it =
        |it: &&&dyn Resource<Client>| it.type_name() == "runtimecloud_service_account_token";
    *RESOURCES.iter().find(is_it).unwrap()
}

fn config(secret: &str, version: u32, labels: &[(&str, &str)]) -> Value {
    let given = Value::object([
        ("service_account", "ci".into()),
        ("name", "deploy".into()),
        ("secret_wo", secret.into()),
        ("secret_wo_version", version.into()),
        ("labels", Value::map(labels.iter().map(|(name, value)| (*name, *value)))),
    ]);
    let all = resource().schema().attributes.into_iter();
    Value::object(all.map(|attribute| (attribute.name, given.get(attribute.name).clone())))
}

async fn planned(context: &Context<Client>, prior: &Value, config: &Value) -> Value {
    let (schema, mut diagnostics) = (resource().schema(), Diagnostics::new());
    let request = Plan { prior, config };
    let proposed = conformance::proposed_new_state(&schema, prior, config);
    let mut planned = plan::plan(&schema, request, &proposed);
    resource().plan(context, request, &mut planned, &mut diagnostics).await.unwrap();
    planned.state
}

async fn created(context: &Context<Client>, config: &Value) -> Value {
    let mut diagnostics = Diagnostics::new();
    let planned = planned(context, &Value::Null, config).await;
    let request = Create { planned: &planned, config };
    let mut state = resource().create(context, request, &mut diagnostics).await.unwrap();
    for (name, value) in planned.entries() {
        if state.get(name).is_null() && !value.is_unknown() {
            state.set_attribute(name, value.clone());
        }
    }
    state
}

async fn start() -> (FakeHost, Context<Client>) {
    let (host, address) = FakeHost::start().await;
    let client = Client::new(settings(address), Some([].into())).unwrap();
    (host, context(client))
}

fn sent(host: &FakeHost) -> String {
    host.memory().tokens.values().next().unwrap().spec.clone().unwrap().secret
}

#[tokio::test]
async fn a_secret_is_sent_at_creation_and_when_its_version_changes_and_is_never_kept() {
    let (host, context) = start().await;
    let first = config(FIRST, 1, &[]);
    let state = created(&context, &first).await;
    assert_eq!(sent(&host), FIRST);
    assert!(!format!("{state:?}").contains(FIRST));
    for (config, secret) in [
        // A secret that is new with each run means nothing by itself.
        (config(SECOND, 1, &[("team", "a")]), ""),
        (config(SECOND, 2, &[]), SECOND),
    ] {
        let mut diagnostics = Diagnostics::new();
        let planned = planned(&context, &state, &config).await;
        assert!(!format!("{planned:?}").contains("secret-of"));
        let request = Update { prior: &state, planned: &planned, config: &config };
        resource().update(&context, request, &mut diagnostics).await.unwrap();
        assert_eq!(sent(&host), secret);
        host.memory()
            .tokens
            .values_mut()
            .for_each(|it| it.metadata.as_mut().unwrap().labels.clear());
    }
    assert_eq!(planned(&context, &state, &config(SECOND, 1, &[])).await, state, "nothing is to do");
}

#[tokio::test]
async fn no_diagnostic_tells_a_secret() {
    let (host, context) = start().await;
    let short = "a-secret-that-is-too-short";
    let mut diagnostics = Diagnostics::new();
    validate::validate(&resource().schema(), &config(short, 1, &[]), &mut diagnostics);
    validate::refuse_write_only(&resource().schema(), &config(short, 1, &[]), &mut diagnostics);
    assert_eq!(diagnostics.iter().count(), 2);
    host.memory().failures_of_writes.push(Status::invalid_argument("the host refuses it"));
    let config = config(FIRST, 1, &[]);
    let planned = planned(&context, &Value::Null, &config).await;
    let request = Create { planned: &planned, config: &config };
    assert!(resource().create(&context, request, &mut diagnostics).await.is_err());
    let told = format!("{diagnostics:?}");
    assert!(told.contains("the host refuses it") && told.contains("1.11"), "{told}");
    assert!(!told.contains(FIRST) && !told.contains(short), "{told}");
}

#[tokio::test]
async fn a_token_that_is_over_leaves_the_state_with_a_warning() {
    let (host, context) = start().await;
    let state = created(&context, &config(FIRST, 1, &[])).await;
    for (reason, is_revoked, end) in [
        ("Revoked", true, Some("has ended (it was revoked)")),
        ("Expired", false, Some("has ended (it has expired)")),
        ("AccountDisabled", false, None),
    ] {
        let observed = api::TokenObserved {
            reason: reason.to_owned(),
            revoked_at: is_revoked.then(prost_types::Timestamp::default),
            ..api::TokenObserved::default()
        };
        for token in host.memory().tokens.values_mut() {
            token.observed = Some(observed.clone());
        }
        let mut diagnostics = Diagnostics::new();
        let request = Read { prior: &state };
        let read = resource().read(&context, request, &mut diagnostics).await.unwrap();
        assert_eq!(read.is_none(), end.is_some(), "{reason}");
        let told: Vec<_> = diagnostics.iter().map(|it| it.detail.clone()).collect();
        match end {
            Some(end) => assert!(told[0].contains(&format!("`ci/deploy` {end}")), "{told:?}"),
            None => assert!(told.is_empty(), "{told:?}"),
        }
    }
}
