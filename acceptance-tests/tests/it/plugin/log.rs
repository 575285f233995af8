//! The log as the CLI's own logger reads it.

use acceptance_tests::simulator::plugin::{Plugin, client, plugin_command};
use proto::tfplugin6::{DynamicValue, get_provider_schema, validate_provider_config};

async fn log_of(level: Option<(&str, &str)>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = plugin_command(folder.path(), None).unwrap();
    if let Some((name, value)) = level {
        command.env(name, value);
    }
    let plugin = Plugin::start(command).await.unwrap();
    let channel = plugin.channel(None).await.unwrap();
    let mut client = client(channel.clone());
    client.get_provider_schema(get_provider_schema::Request {}).await.unwrap();
    let config = DynamicValue { json: br#"{"token":"very-secret"}"#.to_vec(), msgpack: Vec::new() };
    let request = validate_provider_config::Request { config: Some(config) };
    client.validate_provider_config(request).await.unwrap();
    plugin.shut_down(channel).await.unwrap().1.stderr
}

#[tokio::test]
async fn each_line_is_an_object_that_the_cli_understands() {
    for variable in ["TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_PROVIDER_RUNTIMECLOUD"] {
        let log = log_of(Some((variable, "DEBUG"))).await;
        assert!(log.contains("GetProviderSchema"), "{log}");
        for line in log.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(line["@message"].is_string() && line["@level"].is_string(), "{line}");
            let timestamp = line["@timestamp"].as_str().unwrap();
            assert_eq!(timestamp.len(), "2026-01-02T03:04:05.123456Z".len(), "{timestamp}");
            let is_of_a_call = line["tf_rpc"].is_string();
            assert_eq!(
                line["tf_req_id"].is_string(),
                is_of_a_call,
                "lines of a call are told apart"
            );
        }
        assert!(!log.contains("very-secret"), "{log}");
    }
}

#[tokio::test]
async fn even_the_fullest_log_tells_no_values() {
    let log = log_of(Some(("TF_LOG", "JSON"))).await;
    assert!(log.contains("ValidateProviderConfig") && !log.contains("very-secret"), "{log}");
}

#[tokio::test]
async fn nothing_is_logged_unless_asked_for() {
    assert_eq!(log_of(None).await, "");
    assert_eq!(log_of(Some(("TF_LOG", "OFF"))).await, "");
}
