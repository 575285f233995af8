//! Where the deliveries of all subscriptions stand, for those who look.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;

use super::delivery::Delivery;
use crate::ids::EventSubscriptionId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stand {
    pub delivery: Delivery,
    pub dead_letters: u64,
}

pub type Stands = Arc<BTreeMap<EventSubscriptionId, Stand>>;

/// Written by the couriers alone.
#[derive(Debug)]
pub struct Standing {
    stands: Mutex<Stands>,
    /// Dead letters are to be looked at again.
    letters: watch::Sender<u64>,
}

impl Default for Standing {
    fn default() -> Self {
        Self { stands: Mutex::default(), letters: watch::Sender::new(0) }
    }
}

impl Standing {
    pub fn all(&self) -> Stands {
        Arc::clone(&self.stands.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None`: there is no such subscription any more.
    pub fn set(&self, id: EventSubscriptionId, stand: Option<Stand>) {
        let mut stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        let stands = Arc::make_mut(&mut stands);
        match stand {
            Some(stand) => stands.insert(id, stand),
            None => stands.remove(&id),
        };
    }

    /// Wakes who sends.
    pub fn letters_changed(&self) {
        self.letters.send_modify(|number| *number += 1);
    }

    pub fn letters(&self) -> watch::Receiver<u64> {
        self.letters.subscribe()
    }
}
