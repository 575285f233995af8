//! A subscriber that follows the log of events over all restarts, from the position it kept.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use acceptance_tests::host::Api;
use anyhow::{Context, Result, ensure};
use proto::runtimecloud::v1::{self as api, events_client::EventsClient, host_client::HostClient};
use tokio::{runtime::Runtime, task::JoinHandle, time::sleep};
use tonic::Status;

/// Events by position.
type Log = BTreeMap<u64, api::Event>;

pub(super) struct Watcher {
    log: Arc<Mutex<Log>>,
    task: JoinHandle<Result<()>>,
}

impl Watcher {
    pub(super) fn start(runtime: &Runtime, api: Api) -> Self {
        let log = Arc::default();
        let task = runtime.spawn(follow(api, Arc::clone(&log)));
        Self { log, task }
    }

    /// Waits for the last event. Then: did the watcher see what a new reader sees, and is each of the
    /// changes (a subject's id and a generation) there?
    pub(super) async fn expect_all(
        self,
        api: &Api,
        changes: impl IntoIterator<Item = (String, u64)>,
    ) -> Result<()> {
        let info =
            HostClient::new(api.clone()).get_info(api::GetInfoRequest {}).await?.into_inner();
        while !self.log().contains_key(&info.last_event_position) {
            ensure!(!self.task.is_finished(), "the watcher ended: {:?}", self.task.await);
            sleep(Duration::from_millis(20)).await;
        }
        self.task.abort();
        let watched = self.log();
        let anew = Mutex::default();
        read(api, Follow::No, &anew).await??;
        let anew: Log = anew.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (position, event) in &watched {
            ensure!(
                anew.get(position) == Some(event),
                "position {position} was {event:?} and is now {:?}",
                anew.get(position)
            );
        }
        ensure!(
            anew.keys().all(|position| {
                *position > info.last_event_position || watched.contains_key(position)
            }),
            "the watcher missed an event"
        );
        for (subject, generation) in changes {
            let found = watched
                .values()
                .any(|event| event.subject_id == subject && event.generation == generation);
            ensure!(found, "no event tells of generation {generation} of `{subject}`");
        }
        Ok(())
    }

    fn log(&self) -> Log {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps an event; its position must be beyond all that were kept.
fn keep(log: &mut Log, event: api::Event) -> Result<()> {
    let last = log.last_key_value().map_or(0, |(position, _)| *position);
    ensure!(event.position > last, "position {} came after {last}", event.position);
    log.insert(event.position, event);
    Ok(())
}

/// Reads on whenever the stream breaks, until an event is out of order.
async fn follow(api: Api, log: Arc<Mutex<Log>>) -> Result<()> {
    loop {
        // A stream that breaks is what this test is about.
        if let Ok(outcome) = read(&api, Follow::Yes, &log).await {
            outcome.context("the log of events")?;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    Yes,
    No,
}

/// Reads events from the position that was kept last. The outer error is that of the stream.
async fn read(api: &Api, follow: Follow, log: &Mutex<Log>) -> Result<Result<()>, Status> {
    let lock = || log.lock().unwrap_or_else(PoisonError::into_inner);
    let after = lock().last_key_value().map_or(0, |(position, _)| *position);
    let request =
        api::WatchEventsRequest { after, follow: follow == Follow::Yes, ..Default::default() };
    let mut events = EventsClient::new(api.clone()).watch(request).await?.into_inner();
    while let Some(event) = events.message().await? {
        if let Err(error) = keep(&mut lock(), event) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}
