//! The provider block: where its arguments come from, and what is said when they can not be used.

use provider::{
    client::Client,
    framework::{Configure, Diagnostics, Provider as _, Reported, Value, validate::validate},
    provider::RuntimeCloud,
};

type Configured = (Result<Option<Client>, Reported>, Diagnostics);

/// Configures with arguments, the others null, and without environment variables but the token.
async fn configured(given: &[(&str, Value)]) -> Configured {
    configured_with(given, |name| (name == "RUNTIMECLOUD_TOKEN").then(|| "t".to_owned())).await
}

async fn configured_with(
    given: &[(&str, Value)],
    variable: fn(&str) -> Option<String>,
) -> Configured {
    let provider = RuntimeCloud::new(variable);
    let mut config = Value::object(
        provider.schema().attributes.iter().map(|attribute| (attribute.name, Value::Null)),
    );
    for (name, value) in given {
        config.set_attribute(name, value.clone());
    }
    let mut diagnostics = Diagnostics::new();
    let request = Configure { config: &config, terraform_version: "1.11.4" };
    (provider.configure(request, &mut diagnostics).await, diagnostics)
}

fn labels(client: &Client) -> String {
    let labels = client.default_labels().unwrap().iter();
    labels.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn each_argument_may_come_from_an_environment_variable_and_the_block_wins() {
    let variable = |name: &str| {
        let value = match name {
            "RUNTIMECLOUD_ENDPOINT" => "http://[::1]:1",
            "RUNTIMECLOUD_TOKEN" => "t",
            "RUNTIMECLOUD_REQUEST_TIMEOUT" => "3s",
            "RUNTIMECLOUD_DEFAULT_LABELS" => "team=a, stage = dev,",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let (client, diagnostics) = configured_with(&[], variable).await;
    assert_eq!(diagnostics, Diagnostics::new());
    let client = client.unwrap().unwrap();
    assert_eq!(labels(&client), "stage=dev,team=a");
    let shown = format!("{client:?}");
    assert!(shown.contains("http://[::1]:1") && shown.contains("3s"), "{shown}");

    let given =
        [("endpoint", "http://localhost:2".into()), ("default_labels", Value::map([("x", "y")]))];
    let (client, _) = configured_with(&given, variable).await;
    let client = client.unwrap().unwrap();
    assert_eq!(labels(&client), "x=y");
    assert!(format!("{client:?}").contains("http://localhost:2"));
}

#[tokio::test]
async fn what_can_not_be_used_is_told_at_its_argument() {
    for (argument, value, summary) in [
        ("endpoint", "127.0.0.1:7443", "The provider can not be configured"),
        ("token", "a\nb", "The provider can not be configured"),
        ("ca_file", "/does/not/exist", "Certificates can not be read"),
        ("request_timeout", "soon", "Not a length of time"),
        ("request_timeout", "0s", "Not a length of time"),
    ] {
        let (client, diagnostics) = configured(&[(argument, value.into())]).await;
        assert!(client.is_err(), "{argument}");
        let found = diagnostics.iter().next().unwrap();
        assert_eq!((found.path.to_string().as_str(), found.summary.as_str()), (argument, summary));
    }
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let variable =
        |name: &str| (name == "RUNTIMECLOUD_DEFAULT_LABELS").then(|| "no label".to_owned());
    let (client, diagnostics) = configured_with(&[("ca_file", "/nope".into())], variable).await;
    assert!(client.is_err());
    let summaries: Vec<&str> = diagnostics.iter().map(|found| found.summary.as_str()).collect();
    assert_eq!(summaries, ["Not labels", "No token", "Certificates can not be read"]);
}

#[tokio::test]
async fn default_labels_obey_the_rules_of_labels_before_any_resource_has_them() {
    let variable = |name: &str| match name {
        "RUNTIMECLOUD_TOKEN" => Some("t".to_owned()),
        "RUNTIMECLOUD_DEFAULT_LABELS" => Some("the team=a".to_owned()),
        _ => None,
    };
    let (client, diagnostics) = configured_with(&[], variable).await;
    let told = diagnostics.iter().next().unwrap();
    assert_eq!((client.is_err(), told.path.to_string()), (true, "default_labels".to_owned()));
    assert!(told.detail.contains("RUNTIMECLOUD_DEFAULT_LABELS has a key"), "{told:?}");

    let schema = RuntimeCloud::new(|_| None).schema();
    let labels = Value::map([("the team", "a")]);
    let mut diagnostics = Diagnostics::new();
    validate(&schema, &Value::object([("default_labels", labels)]), &mut diagnostics);
    let told = diagnostics.iter().next().unwrap();
    assert_eq!(told.path.to_string(), "default_labels");
}

#[tokio::test]
async fn what_is_not_known_yet_is_no_error() {
    for argument in ["endpoint", "token", "ca_file", "request_timeout"] {
        let (client, diagnostics) = configured(&[(argument, Value::UNKNOWN)]).await;
        assert!(matches!(client, Ok(None)), "{argument}");
        assert_eq!(diagnostics, Diagnostics::new());
    }
    let labels = Value::map([("run", Value::UNKNOWN)]);
    let (client, _) = configured(&[("default_labels", labels)]).await;
    assert_eq!(
        client.unwrap().unwrap().default_labels(),
        None,
        "the host can be called all the same"
    );
}

#[tokio::test]
async fn a_token_that_would_cross_a_network_in_clear_is_warned_of() {
    for (endpoint, warned) in [("http://cloud.example:1", true), ("http://localhost:1", false)] {
        let (client, diagnostics) = configured(&[("endpoint", endpoint.into())]).await;
        assert!(client.is_ok());
        assert_eq!(diagnostics.iter().count() == 1, warned, "{endpoint}");
    }
}
