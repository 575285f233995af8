//! What a planned change adds: to the drift of its resource, or by itself.

use super::{Analysis, Key, sensitive::Side};
use crate::{
    action::Action,
    drift::{Intent, Joined, join},
    noise::Noise,
    read::Entry,
    report::{Planned, PlannedNote},
};

impl Analysis {
    /// A change of a resource that did not drift.
    pub(super) fn change_alone(&mut self, entry: &Entry<'_>) {
        let action = entry.action();
        let deposed = Some(entry.deposed()).filter(|id| !id.is_empty());
        let moved_from = entry.previous_address();
        let note = if entry.is_import() {
            Some(PlannedNote::Import)
        } else {
            moved_from.map(PlannedNote::MovedFrom).or(deposed.map(PlannedNote::Deposed))
        };
        let is_alike = action == Action::Update && entry.has_values() && entry.sides_are_alike();
        if is_alike && note.is_none() && !entry.leaves_something_open() && !entry.identity_changed()
        {
            let marks_differ = entry.before_sensitive() != entry.after_sensitive();
            let kind = if marks_differ { Noise::SensitivityOnly } else { Noise::MetadataOnly };
            self.from_changes.add_noise(entry, String::new(), kind);
        } else if !action.is_idle()
            || matches!(note, Some(PlannedNote::Import | PlannedNote::MovedFrom(_)))
        {
            let (address, reason) = (entry.address().into_owned(), entry.action_reason());
            self.from_changes.add_planned(Planned { address, action, reason, note });
        }
    }

    /// Joins a change with the drift of the same resource.
    pub(super) fn change_drifted(&mut self, entry: &Entry<'_>, key: &Key) {
        let intent = Intent {
            action: entry.action(),
            reason: entry.action_reason(),
            real: entry.before(),
            desired: entry.after(),
            unknown: entry.after_unknown(),
            mask: self.mask_of(entry, Side::After),
        };
        let Some(record) = self.records.get_mut(key) else { return };
        let joined: Joined = join(&record.drift.changes, intent);
        let pending = !joined.pending.is_empty();
        let planned = pending.then(|| Planned {
            address: key.0.clone(),
            action: joined.action.clone(),
            reason: joined.reason.clone(),
            note: None,
        });
        record.drift.joined = Some(joined);
        if let Some(planned) = planned {
            self.from_changes.add_planned(planned);
        }
    }
}
