//! Sends events to those who subscribed to them: one courier for each subscription.
//!
//! Invariants:
//! - A courier's deliveries are in the order of the log, and the next begins when the one before is done.
//! - How far it is, is stored after the delivery and never before: what is lost is only what was noted
//!   last, so an event may come twice and is never left out.
//! - A failure is stored before the pause that follows it.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    admission::Command,
    causes::with_causes,
    clock::Clock,
    conditions,
    events::{LoggedEvent, cloud},
    ids::EventSubscriptionId,
    store::{CommitError, EventQuery, LetterChange, LetterQuery, Store, StoreError, Write},
    subscriptions::{
        delivery::{self, DeadLetter, Failure, Next, Outcome},
        model::EventSubscription,
        send::{Post, Sender},
        standing::{Stand, Standing},
        vault::Vault,
    },
};

/// What all couriers work with.
#[derive(Clone)]
pub struct Deliverer {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub standing: Arc<Standing>,
    pub vault: Arc<Vault>,
    pub sender: Sender,
}

/// Events read at once.
const CHUNK: u32 = 64;
/// Deliveries that went well are noted at least so often while they go on.
const NOTE_EVERY: Duration = Duration::from_millis(200);
/// After a failure of the host's own.
const PAUSE: Duration = Duration::from_secs(1);
/// The clock may be set anew meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Deliverer {
    /// Goes on until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut version = self.store.version();
        let mut couriers: BTreeMap<EventSubscriptionId, CancellationToken> = BTreeMap::new();
        let mut under_way = JoinSet::new();
        self.sweep().await;
        while !stop.is_cancelled() {
            version.mark_unchanged();
            let records = self.store.records();
            let subscriptions = &records.event_subscriptions;
            couriers.retain(|id, stop| {
                let is_there = subscriptions.contains_key(id);
                if !is_there {
                    stop.cancel();
                }
                is_there
            });
            for id in subscriptions.keys() {
                couriers.entry(*id).or_insert_with(|| {
                    let stop = stop.child_token();
                    let deliverer = self.clone();
                    let (courier_stop, id) = (stop.clone(), *id);
                    under_way.spawn(async move {
                        deliverer.serve(id, courier_stop).await;
                        id
                    });
                    stop
                });
            }
            tokio::select! {
                () = stop.cancelled() => {}
                _ = version.changed() => {}
                Some(ended) = under_way.join_next() => match ended {
                    Ok(id) if !self.store.records().event_subscriptions.contains_key(&id) => {
                        self.forget(id).await;
                    }
                    Ok(_) => {}
                    Err(error) => tracing::error!(%error, "a courier ended in a fault"),
                },
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    /// Goes on until `stop`, also after a fault of ours.
    async fn serve(self, id: EventSubscriptionId, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let served = Courier::serve(self.clone(), id, stop.clone());
            match AssertUnwindSafe(served).catch_unwind().await {
                Ok(()) => return,
                Err(_) => tracing::error!(subscription = %id, "deliveries ended in a panic"),
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = time::sleep(PAUSE) => {}
            }
        }
    }

    /// Forgets what is left of subscriptions that are gone.
    async fn sweep(&self) {
        let known = self.store.delivered_subscriptions().await.unwrap_or_default();
        for id in known {
            if !self.store.records().event_subscriptions.contains_key(&id) {
                self.forget(id).await;
            }
        }
    }

    async fn forget(&self, id: EventSubscriptionId) {
        self.standing.set(id, None);
        if let Err(error) = self.store.forget_delivery(id).await {
            tracing::warn!(error = with_causes(&error), "deliveries are forgotten later");
        }
    }
}

struct Courier {
    with: Deliverer,
    id: EventSubscriptionId,
    stop: CancellationToken,
    stand: Stand,
    /// When what went well since was noted last.
    noted: Instant,
    is_noted: bool,
    /// What is still to be said; after a failure of the store it is tried again.
    version: watch::Receiver<u64>,
    position: watch::Receiver<u64>,
    letters: watch::Receiver<u64>,
}

/// Why a courier can not go on at present.
enum Stuck {
    /// The subscription is gone, or the host ends.
    Over,
    Failed(String),
}

impl From<StoreError> for Stuck {
    fn from(error: StoreError) -> Self {
        Self::Failed(with_causes(&error))
    }
}

impl From<CommitError> for Stuck {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Closed => Self::Over,
            CommitError::Failed(_) | CommitError::Panicked | CommitError::Refused(_) => {
                Self::Failed(with_causes(&error))
            }
        }
    }
}

impl Courier {
    async fn serve(with: Deliverer, id: EventSubscriptionId, stop: CancellationToken) {
        let mut courier = Self {
            version: with.store.version(),
            position: with.store.last_position(),
            letters: with.standing.letters(),
            stand: Stand::default(),
            noted: Instant::now(),
            is_noted: true,
            with,
            id,
            stop,
        };
        let mut is_begun = false;
        loop {
            let gone_on = async {
                if !is_begun {
                    courier.begin().await?;
                    is_begun = true;
                }
                courier.go_on().await
            };
            match gone_on.await {
                Ok(()) => {}
                Err(Stuck::Over) => break,
                Err(Stuck::Failed(error)) => {
                    tracing::error!(subscription = %id, error, "deliveries go on in a moment");
                    tokio::select! {
                        () = courier.stop.cancelled() => break,
                        () = time::sleep(PAUSE) => {}
                    }
                }
            }
        }
        if !courier.is_noted {
            let _ = courier.note(LetterChange::None).await.is_ok();
        }
    }

    async fn begin(&mut self) -> Result<(), Stuck> {
        let (delivery, dead_letters) = self.with.store.delivery(self.id).await?;
        self.stand = Stand { delivery, dead_letters };
        self.hang();
        Ok(())
    }

    fn subscription(&self) -> Result<Arc<EventSubscription>, Stuck> {
        let records = self.with.store.records();
        let it = records.event_subscriptions.get(&self.id).map(Arc::clone);
        if self.stop.is_cancelled() { Err(Stuck::Over) } else { it.ok_or(Stuck::Over) }
    }

    /// Sends what there is to send, and waits until there may be more.
    async fn go_on(&mut self) -> Result<(), Stuck> {
        self.version.mark_unchanged();
        self.position.mark_unchanged();
        self.letters.mark_unchanged();
        let it = self.subscription()?;
        if self.stand.delivery.follow(&it) {
            self.note(LetterChange::None).await?;
        }
        self.report(&it).await?;
        let now = self.with.clock.now();
        let is_stopped = it.spec.suspended || self.stand.delivery.stopped.is_some();
        let due = self.stand.delivery.next_attempt_at.filter(|at| *at > now);
        if !is_stopped && self.redeliver(&it).await? {
            return Ok(());
        }
        if !is_stopped && due.is_none() && self.send_some(&it).await? {
            return Ok(());
        }
        self.rest(due).await
    }

    async fn rest(&mut self, due: Option<Timestamp>) -> Result<(), Stuck> {
        if !self.is_noted {
            self.note(LetterChange::None).await?;
        }
        let left = due.map(|due| due.duration_since(self.with.clock.now()).unsigned_abs());
        let pause = left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN);
        // While it waits to try again, news of the log are no news to it.
        let is_retrying = due.is_some();
        tokio::select! {
            () = self.stop.cancelled() => Err(Stuck::Over),
            _ = self.version.changed() => Ok(()),
            _ = self.position.changed(), if !is_retrying => Ok(()),
            _ = self.letters.changed() => Ok(()),
            () = time::sleep(pause) => Ok(()),
        }
    }

    /// Sends the next events; whether there were any.
    async fn send_some(&mut self, it: &EventSubscription) -> Result<bool, Stuck> {
        let after = self.stand.delivery.position;
        let page = self.with.store.events(EventQuery::after(after, CHUNK)).await?;
        if after < page.gone {
            self.stand.delivery.skip_gone(page.gone);
            self.note(LetterChange::None).await?;
            return Ok(true);
        }
        for event in &page.events {
            if !it.spec.wants(event) || is_its_own_state(it, event) {
                self.stand.delivery.done_with(event.position);
                self.is_noted = false;
                continue;
            }
            let is_taken = self.send(it, event).await?;
            let now = self.subscription()?;
            if !is_taken || now.meta.revision != it.meta.revision {
                break;
            }
            self.hang();
        }
        if !self.is_noted && self.noted.elapsed() > NOTE_EVERY {
            self.note(LetterChange::None).await?;
        }
        self.hang();
        Ok(!page.events.is_empty())
    }

    /// One attempt; whether the following event is next.
    async fn send(&mut self, it: &EventSubscription, event: &LoggedEvent) -> Result<bool, Stuck> {
        let host = self.with.store.host_id();
        let body = cloud::json(event, host).map_err(|error| Stuck::Failed(error.to_string()))?;
        let outcome = self.attempt(it, &event.id.to_string(), &body).await?;
        let now = self.with.clock.now();
        let random = getrandom::u32().unwrap_or(0) % 1_000;
        let attempts = self.stand.delivery.attempts + 1;
        let tried = (event.position, &outcome);
        match self.stand.delivery.take_in(tried, &it.spec, (now, random)) {
            Next::Following => {
                self.is_noted = false;
                if self.noted.elapsed() > NOTE_EVERY {
                    self.note(LetterChange::None).await?;
                }
                Ok(true)
            }
            Next::Again => {
                self.note(LetterChange::None).await?;
                Ok(false)
            }
            Next::GiveUp => {
                let failure = self.stand.delivery.failure.clone();
                let letter = DeadLetter {
                    position: event.position,
                    event_id: event.id.to_string(),
                    event_type: event.type_name.clone(),
                    body,
                    attempts,
                    failure: failure.unwrap_or(Failure { at: now, why: String::new() }),
                    redelivering: false,
                };
                self.note(LetterChange::Put(letter)).await?;
                Ok(self.stand.delivery.stopped.is_none())
            }
        }
    }

    async fn attempt(
        &self,
        it: &EventSubscription,
        event_id: &str,
        body: &str,
    ) -> Result<Outcome, Stuck> {
        let now = self.with.clock.now();
        let before = it.secret_before.as_ref().filter(|(_, until)| *until > now);
        let secrets = [Some(&it.secret), before.map(|(secret, _)| secret)];
        let mut signatures = Vec::new();
        for secret in secrets.into_iter().flatten() {
            match self.with.vault.signer(secret) {
                Ok(signer) => signatures.push(signer.sign(event_id, now.as_second(), body)),
                Err(error) => {
                    return Ok(Outcome::Failed { why: error.to_string(), retry_after: None });
                }
            }
        }
        let signatures = signatures.join(" ");
        let (url, timeout) = (it.spec.url.as_str(), it.spec.timeout);
        let post = Post { url, event_id, now, signatures, body, timeout };
        tokio::select! {
            outcome = self.with.sender.post(post) => Ok(outcome),
            () = self.stop.cancelled() => Err(Stuck::Over),
        }
    }

    /// Sends one dead letter that somebody wants sent again; whether there was one.
    async fn redeliver(&mut self, it: &EventSubscription) -> Result<bool, Stuck> {
        let (subscription, redelivering) = (self.id, true);
        let query = LetterQuery { subscription, after: 0, limit: 1, redelivering };
        let Some(mut letter) = self.with.store.dead_letters(query).await?.pop() else {
            return Ok(false);
        };
        let outcome = self.attempt(it, &letter.event_id, &letter.body).await?;
        let at = self.with.clock.now();
        letter.redelivering = false;
        letter.attempts += 1;
        let why = match outcome {
            Outcome::Taken => {
                self.stand.delivery.delivered += 1;
                self.stand.delivery.delivered_at = Some(at);
                self.note(LetterChange::Remove(letter.position)).await?;
                return Ok(true);
            }
            Outcome::Failed { why, .. } => why,
            Outcome::Gone => "it answered 410".to_owned(),
        };
        letter.failure = Failure { at, why };
        self.note(LetterChange::Put(letter)).await?;
        Ok(true)
    }

    /// Stores how far it is.
    async fn note(&mut self, letter: LetterChange) -> Result<(), Stuck> {
        let delivery = self.stand.delivery.clone();
        let letters = self.with.store.save_delivery(self.id, delivery, letter).await?;
        self.stand.dead_letters = letters;
        self.noted = Instant::now();
        self.is_noted = true;
        self.hang();
        Ok(())
    }

    fn hang(&self) {
        self.with.standing.set(self.id, Some(self.stand.clone()));
    }

    /// Tells of a condition that is new.
    async fn report(&mut self, it: &EventSubscription) -> Result<(), Stuck> {
        // Others may have dropped some.
        let (_, letters) = self.with.store.delivery(self.id).await?;
        self.stand.dead_letters = letters;
        self.hang();
        let last = *self.position.borrow();
        let said = delivery::conditions(it, &self.stand.delivery, (letters, last));
        let records = self.with.store.records();
        let before = records.conditions.get(&self.id.to_string());
        if conditions::record(before, self.with.clock.now(), &said).is_some() {
            let command = Command::SubscriptionStands { id: self.id, said };
            self.with.store.commit(Write::of_host(command)).await?;
        }
        Ok(())
    }
}

/// What tells of a subscription's own deliveries is not sent to it: it would never end.
fn is_its_own_state(it: &EventSubscription, event: &LoggedEvent) -> bool {
    event.type_name == "EventSubscriptionStateChanged" && event.subject_id == it.id.to_string()
}
