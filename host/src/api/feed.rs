//! A reader's way through the event log, whatever it is told on: from a position on, and following.
//!
//! Invariants:
//! - Nothing is left out: a reader who has fallen behind what is kept is told so, and gets no more.
//! - Whoever does not read holds back nobody but himself.

use std::time::Duration;

use tokio::{sync::mpsc, time};

use super::Core;
use crate::{
    events::LoggedEvent,
    store::{EventPage, EventQuery, StoreError},
};

/// Events read at once, and on their way to a reader.
const CHUNK: u32 = 256;
/// How often a reader hears how far the log was read while nothing comes for him.
pub const BOOKMARK_EVERY: Duration = Duration::from_secs(15);

/// What a reader asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub after: u64,
    /// Empty: all.
    pub types: Vec<String>,
    pub subject_id: Option<String>,
    pub until: Until,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// All that is there has been read.
    End,
    /// The reader has gone.
    Gone,
}

pub enum Item {
    Event(LoggedEvent),
    /// The log was read up to this position.
    Bookmark(u64),
}

/// Why there is no more.
pub enum Ended {
    /// The log has no such position, or not any more.
    BadPosition {
        after: u64,
        page: EventPage,
    },
    Failed(StoreError),
}

/// Begins to read.
pub fn open(core: &Core, wanted: Wanted) -> mpsc::Receiver<Result<Item, Ended>> {
    let (sender, receiver) = mpsc::channel(CHUNK as usize);
    tokio::spawn(send(core.clone(), wanted, sender));
    receiver
}

/// Sends events until there are no more, or for as long as somebody listens.
async fn send(core: Core, wanted: Wanted, sender: mpsc::Sender<Result<Item, Ended>>) {
    let mut last = core.store.last_position();
    let Wanted { after, types, subject_id, until } = wanted;
    let mut query = EventQuery { types, subject_id, ..EventQuery::after(after, CHUNK) };
    loop {
        last.mark_unchanged();
        let page = match core.store.events(query.clone()).await {
            Ok(page) if page.goes_on_from(query.after) => page,
            Ok(page) => {
                let ended = Ended::BadPosition { after: query.after, page };
                let _ = sender.send(Err(ended)).await.is_ok();
                return;
            }
            Err(error) => {
                let _ = sender.send(Err(Ended::Failed(error))).await.is_ok();
                return;
            }
        };
        let EventPage { events, last: end, .. } = page;
        let is_all = events.len() < CHUNK as usize;
        for event in events {
            query.after = event.position;
            if sender.send(Ok(Item::Event(event))).await.is_err() {
                return;
            }
        }
        if !is_all {
            continue;
        }
        // All up to the end were looked at, whether they were wanted or not.
        query.after = query.after.max(end);
        if until == Until::End {
            return;
        }
        let mut look_again = false;
        while !look_again {
            tokio::select! {
                changed = last.changed() => match changed {
                    Ok(()) => look_again = true,
                    Err(_) => return,
                },
                () = sender.closed() => return,
                () = core.shutdown.cancelled() => return,
                () = time::sleep(BOOKMARK_EVERY) => {
                    if sender.send(Ok(Item::Bookmark(query.after))).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
