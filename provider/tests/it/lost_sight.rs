//! What leaves nothing in a state, when the host is lost sight of: what is told, and what is undone.

use std::{net::SocketAddr, time::Duration};

use provider::{
    actions::ACTIONS,
    client::{Client, Settings},
    ephemeral_resources::EPHEMERAL_RESOURCES,
    framework::{Context, Diagnostics, Progress, Value},
};
use tonic::Status;

use crate::fake_host::{FakeHost, context, settings};

struct Silent;

impl Progress for Silent {
    fn say(&self, _message: String) {}
}

/// A context whose client waits only a moment for an answer.
fn impatient(address: SocketAddr) -> Context<Client> {
    let settings = Settings { request_timeout: Duration::from_millis(500), ..settings(address) };
    context(Client::new(settings, None).unwrap())
}

/// The summary and detail of what restarting a pool's workers fails with.
async fn failure(context: &Context<Client>) -> (String, String) {
    let action =
        ACTIONS.iter().find(|it| it.type_name() == "runtimecloud_restart_workers").unwrap();
    let schema = action.schema();
    let mut config = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    config.set_attribute("worker_pool", "dev/web");
    let mut diagnostics = Diagnostics::new();
    let invoked = action.invoke(context, &config, &Silent, &mut diagnostics).await;
    assert!(invoked.is_err());
    let told = diagnostics.iter().next().unwrap();
    (told.summary.clone(), told.detail.clone())
}

#[tokio::test]
async fn an_operation_that_is_lost_sight_of_is_told_to_go_on() {
    let (host, address) = FakeHost::start().await;
    host.memory().failures_of_reads = vec![Status::permission_denied("no longer")];
    let (summary, detail) = failure(&impatient(address)).await;
    assert_eq!(summary, "The token may not do this");
    for part in ["`op_1`", "1 of 3 workers", "The host goes on with it", "operations dev/web"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
}

#[tokio::test]
async fn an_operation_that_may_have_begun_is_told_to_be_looked_for() {
    let (host, address) = FakeHost::start().await;
    host.memory().hangs_on = Some("start");
    let (summary, detail) = failure(&impatient(address)).await;
    assert_eq!(summary, "The host did not answer in time");
    assert!(detail.contains("may have begun it all the same"), "{detail}");
    let calls = host.memory().calls.clone();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0], calls[1], "it is tried again under the same request id");
}

#[tokio::test]
async fn a_lease_whose_grant_got_lost_is_ended_if_no_other_run_can_have_made_it() {
    for name in [None, Some("mine")] {
        let (host, address) = FakeHost::start().await;
        host.memory().loses_answers = true;
        let context = impatient(address);
        let mut leases = EPHEMERAL_RESOURCES.iter();
        let lease = leases.find(|it| it.type_name() == "runtimecloud_capacity_lease").unwrap();
        let schema = lease.schema();
        let mut config = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
        config.set_attribute("environment", "dev");
        config.set_attribute("amounts", Value::map([("cpu", "1")]));
        config.set_attribute("name", Value::from(name.map(str::to_owned)));
        let mut diagnostics = Diagnostics::new();
        assert!(lease.open(&context, &config, &mut diagnostics).await.is_err());
        let ended = host.memory().calls.iter().filter(|(call, _)| *call == "delete").count();
        assert_eq!(ended, usize::from(name.is_none()), "{name:?}");
    }
}
