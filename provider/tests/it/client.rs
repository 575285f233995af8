//! The client against a host that behaves as told: what is repeated, what is not, and what the user
//! is told when it ends.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use proto::runtimecloud::v1 as api;
use provider::{
    client::{CallError, Client, Draft, Fault, Secret, Settings},
    framework::Context,
};
use tokio::time::Instant;
use tonic::Status;

use crate::fake_host::{FakeHost, context, settings};

fn client(settings: Settings) -> Context<Client> {
    context(Client::new(settings, None).unwrap())
}

fn draft() -> Draft<api::QuotaSpec> {
    let spec = api::QuotaSpec::default();
    Draft { parent: String::new(), name: "q".to_owned(), labels: [].into(), spec }
}

async fn create(context: &Context<Client>) -> Result<api::Quota, CallError> {
    context.client_if_configured().unwrap().create::<api::Quota>(draft(), context).await
}

/// An address where nobody listens.
async fn nowhere() -> SocketAddr {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn a_write_is_repeated_under_the_same_request_id() {
    let (host, address) = FakeHost::start().await;
    host.memory().failures = vec![Status::unavailable("restarting"); 2];
    create(&client(settings(address))).await.unwrap();
    let memory = host.memory();
    let ids: Vec<&str> = memory.calls.iter().map(|(_, id)| id.as_str()).collect();
    assert_eq!(ids.len(), 3);
    assert!(!ids[0].is_empty() && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(memory.quotas.len(), 1);
}

#[tokio::test]
async fn what_the_host_refuses_is_not_repeated() {
    let (host, address) = FakeHost::start().await;
    host.memory().failures = vec![Status::already_exists("it exists"), Status::internal("no")];
    let error = create(&client(settings(address))).await.unwrap_err();
    assert_eq!(error.problems().0.summary, "The name is taken");
    assert_eq!(host.memory().calls.len(), 1);
}

#[tokio::test]
async fn a_wrong_token_is_told_as_such_and_never_shown() {
    let (_host, address) = FakeHost::start().await;
    let wrong = Settings { token: Secret::new("hunter2"), ..settings(address) };
    let context = client(wrong);
    let problem = create(&context).await.unwrap_err().problems().0;
    assert_eq!(problem.summary, "The host does not accept the token");
    let shown = format!("{problem:?} {:?}", context.client_if_configured().unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_host_that_is_not_there_is_told_with_its_address() {
    let address = nowhere().await;
    let problem = create(&client(settings(address))).await.unwrap_err().problems().0;
    assert_eq!(problem.summary, "The host can not be reached");
    assert!(problem.detail.contains(&address.to_string()), "{}", problem.detail);
    assert!(problem.detail.contains("refused"), "{}", problem.detail);
}

#[tokio::test]
async fn what_holds_for_every_call_is_told_at_length_once() {
    let (_host, address) = FakeHost::start().await;
    let context = client(Settings { token: Secret::new("wrong"), ..settings(address) });
    let glance = context.client_if_configured().unwrap().glance::<api::Quota>("q", &context);
    assert!(!glance.await.unwrap_err().repeated, "nobody is told of a glance");
    let [first, second] = [create(&context).await, create(&context).await]
        .map(|result| result.unwrap_err().problems().0);
    assert_eq!(first.summary, second.summary);
    assert!(first.detail.contains("RUNTIMECLOUD_TOKEN"), "{}", first.detail);
    assert!(!second.detail.contains("RUNTIMECLOUD_TOKEN"), "{}", second.detail);
}

#[tokio::test]
async fn a_host_with_tls_is_reached_by_those_who_trust_it() {
    let (address, certificate) = FakeHost::start_with_tls().await;
    let endpoint = format!("https://localhost:{}", address.port());
    let trusting = |pem| Settings {
        endpoint: endpoint.clone(),
        ca_certificates: Some(pem),
        ..settings(address)
    };
    create(&client(trusting(certificate))).await.unwrap();

    let (_, another) = FakeHost::start_with_tls().await;
    let problem = create(&client(trusting(another))).await.unwrap_err().problems().0;
    assert_eq!(problem.summary, "No secure connection to the host", "{}", problem.detail);
    assert!(problem.detail.contains("invalid peer certificate"), "{}", problem.detail);
}

#[tokio::test]
async fn a_host_without_tls_is_told_as_trouble_with_tls() {
    let (_host, address) = FakeHost::start().await;
    let endpoint = format!("https://{address}");
    let authority = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let ca_certificates = Some(authority.cert.pem().into_bytes());
    let context = client(Settings { endpoint, ca_certificates, ..settings(address) });
    let problem = create(&context).await.unwrap_err().problems().0;
    assert_eq!(problem.summary, "No secure connection to the host", "{}", problem.detail);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_time() {
    let (host, address) = FakeHost::start().await;
    host.memory().hangs = true;
    let request_timeout = Duration::from_millis(100);
    let error = create(&client(Settings { request_timeout, ..settings(address) })).await;
    assert!(matches!(error.unwrap_err().fault, Fault::TimedOut { .. }));
    assert_eq!(host.memory().calls.len(), 2, "it was tried twice");
}

#[tokio::test]
async fn an_interrupted_read_ends_at_once() {
    let (host, address) = FakeHost::start().await;
    host.memory().hangs = true;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = Box::pin(async move { drop(stopped.await) });
    let client = Client::new(settings(address), None).unwrap();
    let deadline = (Instant::now() + Duration::from_secs(60)).into_std();
    let context = Context::new(Some(Arc::new(client)), stopped, deadline);
    let client = context.client_if_configured().unwrap();
    let called = async {
        while host.memory().calls.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.send(()).unwrap();
    };
    let (read, ()) = tokio::join!(client.get::<api::Quota>("q", &context), called);
    assert_eq!(read.unwrap_err().fault, Fault::Cancelled);
    let again = client.get::<api::Quota>("q", &context).await;
    assert_eq!(again.unwrap_err().fault, Fault::Cancelled, "nothing is begun after that");
    assert_eq!(host.memory().calls.len(), 1);
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let (host, address) = FakeHost::start().await;
    let worker = |id: &str| api::Worker {
        id: id.to_owned(),
        worker_pool: "pool_1".to_owned(),
        ..Default::default()
    };
    host.memory().workers = ["wrk_5", "wrk_3", "wrk_4", "wrk_2", "wrk_1"].map(worker).into();
    let context = client(settings(address));
    let workers = context.client_if_configured().unwrap().workers("pool_1", &context).await;
    let ids: Vec<String> = workers.unwrap().into_iter().map(|worker| worker.id).collect();
    assert_eq!(ids, ["wrk_1", "wrk_2", "wrk_3", "wrk_4", "wrk_5"]);
}
