//! From the start of the process to its end, as a CLI sees it.

use crate::cli::{Identity, Plugin, as_plugin, client, command, plugin_command, within};
use proto::tfplugin6::{get_provider_schema, stop_provider};
use std::time::Duration;
use tokio::{io::AsyncReadExt, process::Command};

#[tokio::test]
async fn a_cli_connects_with_mutual_tls_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::new();
    let plugin = Plugin::start(plugin_command(folder.path(), Some(&identity))).await;
    assert_eq!(plugin.fields[..3], ["1", "6", "unix"]);
    assert_eq!(plugin.fields[4], "grpc");
    assert_eq!(plugin.fields.len(), 6);
    let socket = plugin.socket();
    assert!(socket.starts_with(folder.path()));

    let channel = plugin.channel(Some(&identity)).await;
    let request = get_provider_schema::Request {};
    let schema = client(channel.clone()).get_provider_schema(request).await.unwrap().into_inner();
    assert!(schema.resource_schemas.contains_key("runtimecloud_worker_pool"));
    assert!(schema.provider.is_some() && schema.diagnostics.is_empty());

    let (status, rest) = plugin.shut_down(channel).await;
    assert!(status.success(), "{rest:?}");
    assert_eq!(rest.stdout, "");
    assert!(!socket.exists());
}

#[tokio::test]
async fn only_the_holder_of_the_clis_certificate_may_connect() {
    let folder = tempfile::tempdir().unwrap();
    let (identity, stranger) = (Identity::new(), Identity::new());
    let plugin = Plugin::start(plugin_command(folder.path(), Some(&identity))).await;
    for intruder in [None, Some(&stranger)] {
        let refused = match plugin.tls(intruder).await {
            // With TLS 1.3 the refusal comes after the client's side of the handshake is done.
            Ok(mut stream) => within(stream.read_u8()).await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(refused.is_err());
    }
    let channel = plugin.channel(Some(&identity)).await;
    let answer = client(channel.clone()).stop_provider(stop_provider::Request {}).await;
    assert!(answer.is_ok(), "an attempt must not harm the owner");
    assert!(plugin.shut_down(channel).await.0.success());
}

#[tokio::test]
async fn without_a_certificate_there_is_no_tls() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None)).await;
    assert_eq!(plugin.fields[5], "");
    let channel = plugin.channel(None).await;
    let request = get_provider_schema::Request {};
    assert!(client(channel.clone()).get_provider_schema(request).await.is_ok());
    assert!(plugin.shut_down(channel).await.0.success());
}

#[tokio::test]
async fn a_person_is_told_what_the_program_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = within(command(folder.path()).output()).await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("required_providers") && text.contains("--debug"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_interrupt_from_the_keyboard_is_left_to_the_cli() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None)).await;
    let channel = plugin.channel(None).await;
    for _ in 0..2 {
        plugin.signal("-INT");
        let request = get_provider_schema::Request {};
        assert!(client(channel.clone()).get_provider_schema(request).await.is_ok());
    }
    assert!(plugin.shut_down(channel).await.0.success());
}

#[tokio::test]
async fn a_terminated_plugin_takes_its_socket_along() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None)).await;
    // An open connection must not keep it.
    let _channel = plugin.channel(None).await;
    let socket = plugin.socket();
    plugin.signal("-TERM");
    assert!(plugin.end().await.0.success());
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_plugin_whose_cli_was_killed_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_terraform-provider-runtimecloud");
    // A shell in the CLI's place, that starts the plugin and waits for it.
    let cli = {
        let mut cli = as_plugin(Command::new("/bin/sh"), folder.path(), None);
        cli.args(["-c", "\"$0\" & wait", binary]);
        cli
    };
    let plugin = Plugin::start(cli).await;
    let socket = plugin.socket();
    assert!(socket.exists());
    plugin.signal("-KILL");
    within(async {
        while socket.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_folder_too_deep_for_a_socket_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("x".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let plugin = Plugin::start(plugin_command(&deep, None)).await;
    assert!(plugin.socket().as_os_str().len() < 108);
    let channel = plugin.channel(None).await;
    assert!(plugin.shut_down(channel).await.0.success());
}
