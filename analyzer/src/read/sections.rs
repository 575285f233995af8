//! The smaller sections of a plan: one item in memory at a time.

use super::{
    Entry, ReadError,
    plan::{Sink, Walk},
    source::Source,
    text,
};
use crate::value::Value;
use std::io;

impl<S: Sink> Walk<'_, S> {
    /// Changes that wait for something else: each with its reason.
    pub(super) fn deferred_changes<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.each(source, |walk, raw| {
            walk.header.deferred += 1;
            let reason = field(raw, b"reason").map(text::decode).unwrap_or_default();
            if let Some(entry) = field(raw, b"resource_change").and_then(Entry::find) {
                walk.sink.deferred(&entry, &reason);
            }
        })
    }

    pub(super) fn deferred_invocations<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.each(source, |walk, raw| {
            walk.header.deferred += 1;
            let item = text::value(raw);
            let reason = item.get("reason").and_then(Value::as_str).unwrap_or_default();
            if let Some(invocation) = item.get("action_invocation") {
                walk.sink.invocation(invocation, Some(reason));
            }
        })
    }

    pub(super) fn invocations<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.each(source, |walk, raw| walk.sink.invocation(&text::value(raw), None))
    }

    pub(super) fn checks<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        self.each(source, |walk, raw| walk.sink.check(&text::value(raw)))
    }

    pub(super) fn relevant_attributes<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.each(source, |walk, raw| {
            let item = text::value(raw);
            if let Some(resource) = item.get("resource").and_then(Value::as_str) {
                walk.sink.relevant(resource, item.get("attribute").unwrap_or(&Value::Null));
            }
        })
    }

    /// Whether the planned values hold anything: after the destruction of everything they do not.
    pub(super) fn planned_values<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.header.plans_nothing = true;
        self.descend(source, "root_module", |walk, source| {
            if source.peek()? != Some(b'{') {
                return source.skip();
            }
            source.object(|source, _| {
                walk.header.plans_nothing = false;
                source.skip()
            })
        })
    }

    /// Hands on each item of a list; what is no list is passed over.
    fn each<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        mut hand_on: impl FnMut(&mut Self, &[u8]),
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'[') {
            return source.skip();
        }
        source.list(|source, _| {
            hand_on(self, source.take()?.bytes);
            Ok(())
        })
    }
}

fn field<'a>(raw: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut fields = text::fields(raw);
    let mut found = None;
    while let Some(key) = fields.key() {
        let value = fields.value();
        if key.as_ref() == name {
            found = Some(value);
        }
    }
    found
}
