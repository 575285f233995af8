//! From the start of the process to its end, as a CLI sees it.

use acceptance_tests::simulator::plugin::{
    Identity, Plugin, as_plugin, binary, client, command, plugin_command, within,
};
use proto::tfplugin6::{
    DynamicValue, configure_provider, get_provider_schema, read_resource, stop_provider,
};
use provider::{
    framework::{Provider as _, Schema, Value},
    provider::RuntimeCloud,
    resources::RESOURCES,
    wire,
};
use rustix::process::Signal;
use std::time::Duration;
use tokio::{io::AsyncReadExt, net::TcpListener, process::Command};

#[tokio::test]
async fn a_cli_connects_with_mutual_tls_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::new().unwrap();
    let plugin =
        Plugin::start(plugin_command(folder.path(), Some(&identity)).unwrap()).await.unwrap();
    assert_eq!(plugin.fields[..3], ["1", "6", "unix"]);
    assert_eq!(plugin.fields[4], "grpc");
    assert_eq!(plugin.fields.len(), 6);
    let socket = plugin.socket();
    assert!(socket.starts_with(folder.path()));

    let channel = plugin.channel(Some(&identity)).await.unwrap();
    let request = get_provider_schema::Request {};
    let schema = client(channel.clone()).get_provider_schema(request).await.unwrap().into_inner();
    assert!(schema.resource_schemas.contains_key("runtimecloud_worker_pool"));
    assert!(schema.provider.is_some() && schema.diagnostics.is_empty());

    let (status, rest) = plugin.shut_down(channel).await.unwrap();
    assert!(status.success(), "{rest:?}");
    assert_eq!(rest.stdout, "");
    assert!(!socket.exists());
}

#[tokio::test]
async fn only_the_holder_of_the_clis_certificate_may_connect() {
    let folder = tempfile::tempdir().unwrap();
    let (identity, stranger) = (Identity::new().unwrap(), Identity::new().unwrap());
    let plugin =
        Plugin::start(plugin_command(folder.path(), Some(&identity)).unwrap()).await.unwrap();
    for intruder in [None, Some(&stranger)] {
        let refused = match plugin.tls(intruder).await {
            // With TLS 1.3 the refusal comes after the client's side of the handshake is done.
            Ok(mut stream) => within(stream.read_u8()).await.unwrap().is_err(),
            Err(_) => true,
        };
        assert!(refused);
    }
    let channel = plugin.channel(Some(&identity)).await.unwrap();
    let answer = client(channel.clone()).stop_provider(stop_provider::Request {}).await;
    assert!(answer.is_ok(), "an attempt must not harm the owner");
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}

#[tokio::test]
async fn without_a_certificate_there_is_no_tls() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None).unwrap()).await.unwrap();
    assert_eq!(plugin.fields[5], "");
    let channel = plugin.channel(None).await.unwrap();
    let request = get_provider_schema::Request {};
    assert!(client(channel.clone()).get_provider_schema(request).await.is_ok());
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}

#[tokio::test]
async fn a_person_is_told_what_the_program_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = within(command(folder.path()).unwrap().output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("required_providers") && text.contains("--debug"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_interrupt_from_the_keyboard_is_left_to_the_cli() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None).unwrap()).await.unwrap();
    let channel = plugin.channel(None).await.unwrap();
    for _ in 0..2 {
        plugin.signal(Signal::INT).unwrap();
        let request = get_provider_schema::Request {};
        assert!(client(channel.clone()).get_provider_schema(request).await.is_ok());
    }
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}

/// An object of which only these attributes are set.
fn encoded(schema: &Schema, given: &[(&str, &str)]) -> Option<DynamicValue> {
    let nulls = schema.attributes.iter().map(|attribute| (attribute.name, Value::Null));
    let mut object = Value::object(nulls);
    for (name, value) in given {
        object.set_attribute(name, *value);
    }
    Some(wire::encode(&schema.value_type(), &object).unwrap())
}

/// As when a CI job is cancelled: the signal reaches the CLI and the plugin, and the CLI waits for
/// what the plugin has to say.
#[tokio::test]
async fn a_signal_to_terminate_ends_what_waits_and_the_plugin_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    // Takes the connection and never says a word.
    let host = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = host.local_addr().unwrap();
    let mut command = plugin_command(folder.path(), None).unwrap();
    command.env("RUNTIMECLOUD_ENDPOINT", format!("http://{address}"));
    command.env("RUNTIMECLOUD_TOKEN", "a-token");
    let plugin = Plugin::start(command).await.unwrap();
    let socket = plugin.socket();
    let channel = plugin.channel(None).await.unwrap();
    let nothing = encoded(&RuntimeCloud::new(|_| None).schema(), &[]);
    let request = configure_provider::Request { config: nothing, ..Default::default() };
    let configured = client(channel.clone()).configure_provider(request).await.unwrap();
    assert_eq!(configured.into_inner().diagnostics, []);

    let quota = RESOURCES.iter().find(|it| it.type_name() == "runtimecloud_quota").unwrap();
    let mut reader = client(channel.clone());
    let read = reader.read_resource(read_resource::Request {
        type_name: quota.type_name().to_owned(),
        current_state: encoded(&quota.schema(), &[("id", "quota_1"), ("name", "team-a")]),
        ..Default::default()
    });
    let terminated = async {
        let connected = host.accept().await.unwrap();
        plugin.signal(Signal::TERM).unwrap();
        connected
    };
    let (read, _connected) = within(async { tokio::join!(read, terminated) }).await.unwrap();
    let read = read.unwrap().into_inner();
    assert_eq!(read.diagnostics[0].summary, "Cancelled");
    assert!(read.new_state.is_some(), "the state stays");

    assert!(plugin.shut_down(channel).await.unwrap().0.success());
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_plugin_whose_cli_was_killed_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    // A shell in the CLI's place, that starts the plugin and waits for it.
    let cli = {
        let mut cli = as_plugin(Command::new("/bin/sh"), folder.path(), None);
        cli.args(["-c", "\"$0\" & wait"]).arg(binary().unwrap());
        cli
    };
    let plugin = Plugin::start(cli).await.unwrap();
    let socket = plugin.socket();
    assert!(socket.exists());
    plugin.signal(Signal::KILL).unwrap();
    within(async {
        while socket.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_folder_too_deep_for_a_socket_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("x".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let plugin = Plugin::start(plugin_command(&deep, None).unwrap()).await.unwrap();
    assert!(plugin.socket().as_os_str().len() < 108);
    let channel = plugin.channel(None).await.unwrap();
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}
