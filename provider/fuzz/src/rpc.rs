//! What holds of the calls of the protocol.
//!
//! An input is a tape of choices: a provider that is configured (for a host that is not there) or not,
//! and then calls, one after the other, each with bytes of any kind or with a request made by the
//! choices. No call panics, and each is answered in a way that a CLI understands.

use std::sync::Arc;

use prost::Message as _;
use proto::tfplugin6::{self as pb, provider_server::ProviderServer};
use provider::{
    framework::{Provider as _, Value},
    provider::RuntimeCloud,
    server::Server,
    wire::encode,
};
use tokio_stream::StreamExt as _;
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};

use super::{
    catalog::{CATALOG, Entry},
    raw::Raw,
    request::Maker,
    tape::Tape,
};

type Provider = Grpc<ProviderServer<Server<RuntimeCloud>>>;

const CALLS_MAX: usize = 4;

/// Panics where something that should hold does not.
pub async fn check(data: &[u8]) {
    let tape = &mut Tape::new(data);
    let server = Arc::new(Server::new(RuntimeCloud::new(|_| None)));
    let mut provider = Grpc::new(server.into_service());
    if tape.chance(2) {
        call(&mut provider, "ConfigureProvider", vec![configuration()]).await;
    }
    for _ in 0..CALLS_MAX {
        if tape.is_over() {
            break;
        }
        let method = &CATALOG.methods[tape.choose(CATALOG.methods.len())];
        let many = if method.client_streaming() { tape.choose(3) } else { 1 };
        let requests = (0..many).map(|_| request(tape, method)).collect();
        call(&mut provider, method.name(), requests).await;
        if method.name() == "ConfigureProvider" {
            // It may name a host that is not ours to call.
            break;
        }
    }
}

/// A provider block that is complete. Nobody listens on this port.
fn configuration() -> Vec<u8> {
    let schema = RuntimeCloud::new(|_| None).schema();
    let given = [("endpoint", "http://127.0.0.1:1"), ("token", "t")];
    let config = Value::object(schema.attributes.iter().map(|attribute| {
        let value = given.iter().find(|(name, _)| *name == attribute.name);
        (attribute.name, value.map(|(_, value)| *value).into())
    }));
    let config =
        Some(encode(&schema.value_type(), &config).expect("the block has these attributes"));
    pb::configure_provider::Request { config, ..Default::default() }.encode_to_vec()
}

fn request(tape: &mut Tape<'_>, method: &prost_types::MethodDescriptorProto) -> Vec<u8> {
    let form = tape.choose(8);
    if form == 7 {
        let length = tape.choose(256);
        return tape.take(length).to_vec();
    }
    let entries = CATALOG.entries(method.name());
    let nothing = Entry::default();
    let entry = entries.get(tape.choose(entries.len())).unwrap_or(&nothing);
    let mut request = Maker { tape, entry, last: None }.message(method.input_type(), 0);
    if form == 6 && !request.is_empty() {
        let at = (tape.choose(256) << 8 | tape.choose(256)) % request.len();
        request[at] = request[at].wrapping_add(1 << tape.choose(8));
    }
    request
}

async fn call(provider: &mut Provider, method: &str, requests: Vec<Vec<u8>>) {
    let path = PathAndQuery::try_from(format!("/tfplugin6.Provider/{method}")).expect("a path");
    let requests = Request::new(tokio_stream::iter(requests));
    provider.ready().await.expect("a server in this process is ready");
    match provider.streaming(requests, path, Raw).await {
        Ok(response) => {
            let mut events = response.into_inner();
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => understood(method, &event),
                    Err(status) => refused(method, &status),
                }
            }
        }
        Err(status) => refused(method, &status),
    }
}

fn understood(method: &str, answer: &[u8]) {
    let crashed = b"Provider crashed";
    assert!(
        !answer.windows(crashed.len()).any(|part| part == crashed),
        "{method} panicked: {}",
        String::from_utf8_lossy(answer),
    );
    if method == "InvokeAction" {
        let event = pb::invoke_action::Event::decode(answer).expect("an event");
        assert!(event.r#type.is_some(), "an event of an action says what it is");
    }
}

fn refused(method: &str, status: &Status) {
    let is_no_message = status.code() == Code::Internal
        && status.message().starts_with("failed to decode Protobuf message");
    assert!(
        is_no_message || matches!(status.code(), Code::Unimplemented | Code::InvalidArgument),
        "{method}: {status:?}",
    );
}
