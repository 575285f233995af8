//! What an entry of the drift section adds: noise, or a resource that was changed outside.

use super::{Analysis, Order, Pass, Record, Rereading, block_of};
use crate::{
    action::Action,
    drift::Drift,
    noise::Noise,
    read::{Entry, ReadError},
};

impl Analysis {
    /// Noise of a drift entry whose attributes are all the same.
    pub(super) fn add_empty_drift(&mut self, entry: &Entry<'_>) {
        let kind = if entry.before_sensitive() != entry.after_sensitive() {
            Noise::SensitivityOnly
        } else if entry.has_address() {
            Noise::MetadataOnly
        } else {
            Noise::Phantom
        };
        if entry.action() != Action::NoOp {
            self.from_drift.add_noise(entry, String::new(), kind);
        }
    }

    /// Keeps a resource that drifted, for the changes to come.
    pub(super) fn add_record(&mut self, entry: &Entry<'_>, drift: Drift) -> Result<(), ReadError> {
        if self.order == Order::ChangesFirst {
            match self.rereading {
                Rereading::Possible => self.pass = Pass::MustReread,
                Rereading::Impossible if self.held.is_over() => {
                    return Err(ReadError::OrderNeedsFile);
                }
                Rereading::Impossible => {}
            }
        }
        let provider = entry.provider_name().into_owned();
        self.opentofu |= provider.starts_with("registry.opentofu.org/");
        let block = block_of(entry);
        self.names.insert(block.name.clone());
        self.instances.insert(block.clone(), 0);
        let record = Record {
            drift,
            provider,
            moved_from: entry.previous_address(),
            block,
            identity_changed: entry.identity_changed(),
            relevant: false,
            observed: None,
        };
        self.records.insert(entry.key(), record);
        Ok(())
    }
}
