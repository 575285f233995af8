//! The open driver of each capacity target.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Once, PoisonError},
};

use crate::{
    capacity::target::CapacityTarget,
    drivers::{CapacityDriver, DriverError},
    ids::CapacityTargetId,
    records::Records,
};

/// Opens drivers. Opening one for the same target again finds the same workers.
pub trait OpenDriver: Send + Sync {
    fn open(&self, target: &CapacityTarget) -> Result<Arc<dyn CapacityDriver>, DriverError>;

    /// Sees off what is left of targets that are gone. Called once, before any target is opened.
    fn sweep(&self, records: &Records);
}

pub struct Places {
    opener: Box<dyn OpenDriver>,
    swept: Once,
    open: Mutex<BTreeMap<CapacityTargetId, Arc<dyn CapacityDriver>>>,
}

impl Places {
    pub fn new(opener: Box<dyn OpenDriver>) -> Self {
        Self { opener, swept: Once::new(), open: Mutex::default() }
    }

    /// The driver of a target, opened when it is first asked for.
    pub fn driver(&self, target: &CapacityTarget) -> Result<Arc<dyn CapacityDriver>, DriverError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = open.get(&target.id) {
            return Ok(Arc::clone(driver));
        }
        let driver = self.opener.open(target)?;
        open.insert(target.id, Arc::clone(&driver));
        Ok(driver)
    }

    /// Lets go of the drivers of targets that are gone.
    pub fn retain(&self, records: &Records) {
        self.swept.call_once(|| self.opener.sweep(records));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|target, _| records.capacity_targets.contains_key(target));
    }
}
