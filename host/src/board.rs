//! Where the last observation hangs for everyone to read.

use std::sync::{Arc, PoisonError, RwLock};

use crate::observed::Observed;

#[derive(Debug, Default)]
pub struct Board(RwLock<Arc<Observed>>);

impl Board {
    pub fn observed(&self) -> Arc<Observed> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn hang(&self, observed: Arc<Observed>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = observed;
    }
}
