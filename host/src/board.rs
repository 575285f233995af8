//! Where the last observation, and the last recount, hang for everyone to read.

use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;

use crate::{capacity::recount::Recount, observed::Observed};

#[derive(Debug, Default)]
pub struct Board {
    observed: RwLock<Arc<Observed>>,
    recounted: RwLock<Option<(Timestamp, Arc<Recount>)>>,
}

impl Board {
    pub fn observed(&self) -> Arc<Observed> {
        Arc::clone(&self.observed.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn hang(&self, observed: Arc<Observed>) {
        *self.observed.write().unwrap_or_else(PoisonError::into_inner) = observed;
    }

    /// What was found when usage was last counted anew.
    pub fn recounted(&self) -> Option<(Timestamp, Arc<Recount>)> {
        self.recounted.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn hang_recount(&self, at: Timestamp, recount: Arc<Recount>) {
        *self.recounted.write().unwrap_or_else(PoisonError::into_inner) = Some((at, recount));
    }
}
