//! The mode for developers: the provider runs, and the CLI is told where.

use acceptance_tests::{
    processes,
    simulator::plugin::{client, command, plain, within},
};
use proto::tfplugin6::get_provider_schema;
use rustix::process::Signal;
use std::path::Path;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test]
async fn debug_mode_prints_the_variable_and_serves_until_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path()).unwrap().arg("--debug").spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let variable = loop {
        let line =
            within(lines.next_line()).await.unwrap().unwrap().expect("it prints the variable");
        if let Some((_, variable)) = line.split_once("TF_REATTACH_PROVIDERS='") {
            break variable.trim_end_matches('\'').to_owned();
        }
    };
    let json: serde_json::Value = serde_json::from_str(&variable).unwrap();
    let reattach = &json["registry.terraform.io/runtimecloud/runtimecloud"];
    assert_eq!(reattach["Protocol"], "grpc");
    assert_eq!(reattach["ProtocolVersion"].as_u64(), Some(6));
    assert_eq!(reattach["Pid"].as_u64(), child.id().map(u64::from));
    assert_eq!(reattach["Test"], true);
    let socket = Path::new(reattach["Addr"]["String"].as_str().unwrap());

    for _ in 0..2 {
        let channel = plain(socket).await.unwrap();
        let request = get_provider_schema::Request {};
        assert!(client(channel).get_provider_schema(request).await.is_ok());
    }
    processes::signal(child.id().unwrap(), Signal::INT).unwrap();
    assert!(within(child.wait()).await.unwrap().unwrap().success());
    assert!(!socket.exists());
}

#[tokio::test]
async fn an_unknown_argument_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        within(command(folder.path()).unwrap().arg("--what").output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--debug"));
}
