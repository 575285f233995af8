//! What is sensitive in an entry: by its own marks, by the schema of its provider, or by names.

use super::Analysis;
use crate::{
    read::Entry,
    redact::{mask_by_names, unite},
    schemas::Schema,
    value::Value,
};

#[derive(Clone, Copy)]
pub(super) enum Side {
    Before,
    After,
}

impl Analysis {
    /// What the provider says of a resource's attributes.
    pub(super) fn schema(&self, entry: &Entry<'_>) -> Option<Schema<'_>> {
        // Data sources have schemas of their own.
        let schemas = self.options.schemas.as_deref().filter(|_| entry.is_managed())?;
        schemas.resource(&entry.provider_name(), &entry.kind())
    }

    /// What is sensitive on one side; by name where neither the plan nor the schema says.
    pub(super) fn mask_of(&self, entry: &Entry<'_>, side: Side) -> Value {
        let values = || match side {
            Side::Before => entry.before(),
            Side::After => entry.after(),
        };
        let marked = match (entry.has_masks(), side) {
            (true, Side::Before) => entry.before_sensitive(),
            (true, Side::After) => entry.after_sensitive(),
            (false, _) => mask_by_names(&values()),
        };
        match self.schema(entry) {
            Some(schema) => unite(marked, schema.mask(&values())),
            None => marked,
        }
    }

    pub(super) fn learn_secrets(&mut self, entry: &Entry<'_>) {
        self.learn_by_schema(entry);
        if !entry.has_masks() {
            self.without_masks |= entry.has_values();
            return;
        }
        entry.for_each_secret(|path, secret| {
            // What stands in place of a secret is none.
            if !self.redacted {
                self.secrets.learn_all(secret);
            }
            self.secrets.learn_attribute(&entry.kind(), path);
        });
    }

    /// What old versions do not mark in the plan.
    fn learn_by_schema(&mut self, entry: &Entry<'_>) {
        let Some(schema) = self.schema(entry).filter(|_| !self.redacted) else { return };
        let sides = [entry.before(), entry.after()];
        let marked = sides.map(|values| (schema.mask(&values), values));
        for (mask, values) in &marked {
            self.secrets.learn_marked(&entry.kind(), values, mask);
        }
    }
}
