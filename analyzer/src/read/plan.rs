//! The walk over a plan's top level.
//!
//! - Sections are handed on in the order in which they stand; the [`Sink`] copes with any order.
//! - Other kinds of JSON are recognised by their keys once the document is known to be whole.

use super::{
    Entry, Limits, Part, ReadError, Reference, WrongKind,
    events::read_stream,
    source::{Source, Taken},
    text::{self, decode},
};
use crate::{report::Reason, value::Value};
use std::{collections::BTreeSet, io};

/// What a plan says about itself. `None` means that it does not say: OpenTofu and older versions
/// have no `applyable` and no `complete`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) format_version: Option<String>,
    pub(crate) terraform_version: Option<String>,
    /// Why it proves less than it should, as far as one section alone tells.
    pub(crate) reasons: BTreeSet<Reason>,
    pub(crate) complete: Option<bool>,
    /// Whether an apply would do something, be it to the state alone.
    pub(crate) applyable: Option<bool>,
    pub(crate) timestamp: Option<String>,
    pub(crate) deferred: usize,
    /// The names of all sections.
    pub(crate) sections: BTreeSet<String>,
    /// Nothing would be left after an apply.
    pub(crate) plans_nothing: bool,
    /// Text stood around the JSON.
    pub(crate) wrapped: bool,
    /// It says that OpenTofu made it.
    pub(crate) is_tofu: bool,
    /// What else is worth a warning; not cleared of secrets.
    pub(crate) remarks: Vec<String>,
}

/// In what form a plan was written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By `show -json`.
    #[default]
    Plan,
    /// For HCP Terraform's own display: sensitive values are replaced.
    Redacted,
    /// As events, without values.
    Stream,
}

impl Header {
    /// True when the plan has a section of that name, even if it is empty.
    pub(crate) fn has(&self, section: &str) -> bool {
        self.sections.contains(section)
    }
}

/// Receives what is read, entry by entry.
pub(crate) trait Sink {
    /// All values that are marked as sensitive were replaced.
    fn redacted(&mut self);
    /// An object of which it is only known that it was changed outside. Fails like [`Self::drift`].
    fn announced(&mut self, entry: &Entry<'_>) -> Result<(), ReadError>;
    /// An object that was changed outside. Fails when it came too late to be of use.
    fn drift(&mut self, entry: &Entry<'_>) -> Result<(), ReadError>;
    /// What is planned for an object.
    fn change(&mut self, entry: &Entry<'_>) -> Result<(), ReadError>;
    /// The drift section begins, even if it is empty.
    fn drift_begins(&mut self);
    fn output(&mut self, name: &str, change: Value);
    fn variable(&mut self, name: &str, value: Value);
    fn sensitive_variable(&mut self, name: &str);
    /// True when it is of use who refers to whom.
    fn wants_references(&self) -> bool {
        false
    }
    /// What a part of the module at `path` refers to.
    fn uses(&mut self, _path: &[String], _part: Part<'_>, _references: Vec<Reference>) {}
    /// A change that waits for something else, and why.
    fn deferred(&mut self, entry: &Entry<'_>, reason: &str);
    /// A provider's action that apply runs, or why it is deferred.
    fn invocation(&mut self, invocation: &Value, deferred: Option<&str>);
    /// The outcome of a condition.
    fn check(&mut self, check: &Value);
    /// An attribute that a planned change depends on.
    fn relevant(&mut self, resource: &str, attribute: &Value);
}

/// The documents of an input, one after the other.
pub(crate) struct Documents<R> {
    source: Source<R>,
    /// Of the ones that were read: all are of one kind.
    kind: Option<Kind>,
}

impl<R: io::Read> Documents<R> {
    pub(crate) fn new(reader: R, limits: Limits) -> Self {
        Self { source: Source::new(reader, limits), kind: None }
    }

    /// Reads the next plan to its end. `None` behind the last one.
    pub(crate) fn next(&mut self, sink: &mut impl Sink) -> Result<Option<Header>, ReadError> {
        match self.kind {
            None => self.source.open()?,
            Some(_) if !self.source.next()? => return Ok(None),
            Some(_) => {}
        }
        let outcome = if self.source.is_event()? {
            read_stream(&mut self.source, sink)
        } else {
            read_plan(&mut self.source, sink)
        };
        match (self.kind, outcome) {
            (None, Ok(header)) => {
                self.kind = Some(header.kind);
                Ok(Some(header))
            }
            (Some(kind), Ok(header)) if kind == header.kind => Ok(Some(header)),
            // What is of another kind is explained only when it stands alone.
            (Some(_), Ok(_) | Err(ReadError::Kind(_))) => Err(WrongKind::SeveralDocuments.into()),
            (_, Err(error)) => Err(error),
        }
    }

    /// True when other text stood around the documents that were read.
    pub(crate) fn are_wrapped(&self) -> bool {
        self.source.wrapped
    }
}

fn read_plan<R: io::Read>(
    source: &mut Source<R>,
    sink: &mut impl Sink,
) -> Result<Header, ReadError> {
    let mut walk = Walk::new(sink);
    source.object(|source, key| {
        source.section = short(key);
        walk.section(source, key)
    })?;
    walk.refuse_other_kinds()?;
    Ok(walk.header)
}

pub(super) struct Walk<'s, S> {
    pub(super) header: Header,
    /// What an encrypted document says in clear.
    clear: Vec<String>,
    pub(super) sink: &'s mut S,
}

impl<'s, S: Sink> Walk<'s, S> {
    fn new(sink: &'s mut S) -> Self {
        Self { header: Header::default(), clear: Vec::new(), sink }
    }

    fn section<R: io::Read>(&mut self, source: &mut Source<R>, key: &str) -> Result<(), ReadError> {
        if !self.header.sections.insert(key.to_owned()) && key.starts_with("resource_") {
            return Err(shape(source, "it stands twice in the plan"));
        }
        match key {
            "@level" | "@message" | "@timestamp" => Err(WrongKind::EventStream.into()),
            "plan_format_version" => {
                self.header.kind = Kind::Redacted;
                self.header.reasons.insert(Reason::Redacted);
                self.sink.redacted();
                self.header.format_version = string(&source.take()?);
                self.check_version()
            }
            "format_version" => {
                self.header.format_version = string(&source.take()?);
                self.check_version()
            }
            "terraform_version" => {
                self.header.terraform_version = string(&source.take()?);
                Ok(())
            }
            "timestamp" => {
                self.header.timestamp = string(&source.take()?);
                Ok(())
            }
            "errored" => {
                if source.take()?.bytes == b"true" {
                    self.header.reasons.insert(Reason::Errored);
                }
                Ok(())
            }
            "applyable" => {
                self.header.applyable = Some(source.take()?.bytes == b"true");
                Ok(())
            }
            "complete" => {
                self.header.complete = Some(source.take()?.bytes == b"true");
                Ok(())
            }
            "resource_drift" => {
                self.sink.drift_begins();
                self.entries(source, S::drift)
            }
            "resource_changes" => self.entries(source, S::change),
            "deferred_changes" => self.deferred_changes(source),
            "deferred_action_invocations" => self.deferred_invocations(source),
            "action_invocations" => self.invocations(source),
            "checks" => self.checks(source),
            "relevant_attributes" => self.relevant_attributes(source),
            "planned_values" => self.planned_values(source),
            "output_changes" => self.map(source, S::output),
            "variables" => self.map(source, |sink, name, value| {
                sink.variable(name, value.get("value").cloned().unwrap_or(Value::Null));
            }),
            "configuration" => self.configuration(source),
            "lineage" | "serial" => {
                let value = source.take()?;
                let text = decode(value.bytes);
                self.clear.push(format!("{key} {}", short(&text)));
                Ok(())
            }
            "meta" if source.peek()? == Some(b'{') => source.object(|source, name| {
                self.clear.push(short(name));
                source.skip()
            }),
            _ => source.skip(),
        }
    }

    fn entries<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        mut hand_on: impl FnMut(&mut S, &Entry<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        match source.peek()? {
            Some(b'[') => {}
            Some(b'n') => return source.skip(),
            _ => return Err(shape(source, "it is not a list")),
        }
        let section = source.section.clone();
        source.list(|source, position| {
            let Taken { bytes, offset } = source.take()?;
            let entry = Entry::find(bytes).ok_or_else(|| ReadError::Shape {
                section: format!("{section}[{position}]"),
                reason: "it is not an object with a change".to_owned(),
                offset,
            })?;
            hand_on(self.sink, &entry)
        })
    }

    /// A section that is a map from names to small values.
    pub(super) fn map<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        mut hand_on: impl FnMut(&mut S, &str, Value),
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, name| {
            let value = text::value(source.take()?.bytes);
            hand_on(self.sink, name, value);
            Ok(())
        })
    }

    /// Of the configuration it is needed which variables are sensitive, and, when something was
    /// changed outside, who refers to whom.
    fn configuration<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        self.descend(source, "root_module", |walk, source| {
            if walk.sink.wants_references() {
                return walk.module(source, &[]);
            }
            walk.descend(source, "variables", Self::root_variables)
        })
    }

    pub(super) fn root_variables<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<(), ReadError> {
        self.map(source, |sink, name, value| {
            if value.get("sensitive") == Some(&Value::Bool(true)) {
                sink.sensitive_variable(name);
            }
        })
    }

    pub(super) fn descend<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        wanted: &str,
        mut visit: impl FnMut(&mut Self, &mut Source<R>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, key| if key == wanted { visit(self, source) } else { source.skip() })
    }

    fn check_version(&self) -> Result<(), ReadError> {
        let version = self.header.format_version.as_deref().unwrap_or("");
        let major = version.split('.').next().unwrap_or("");
        // States and plans number alike, so a known kind is told by its other keys later.
        if matches!(major, "0" | "1") {
            return Ok(());
        }
        Err(ReadError::Version(format!("`{}`", short(version))))
    }

    fn refuse_other_kinds(&self) -> Result<(), ReadError> {
        let has = |keys: &[&str]| keys.iter().any(|key| self.header.has(key));
        if has(&["encrypted_data", "encryption_version"]) {
            let what = if has(&["lineage", "serial"]) { "a state" } else { "a plan" };
            let clear: Vec<&str> = self.clear.iter().take(8).map(String::as_str).collect();
            let about = if clear.is_empty() { String::new() } else { clear.join(", ") };
            return Err(WrongKind::Encrypted(format!("{what} ({about})")).into());
        }
        if has(&[
            "plan_format_version",
            "planned_values",
            "resource_changes",
            "resource_drift",
            "output_changes",
            "prior_state",
            "deferred_changes",
        ]) || (has(&["configuration"]) && has(&["format_version"]))
        {
            return Ok(());
        }
        Err(if has(&["backend"]) && has(&["version"]) {
            WrongKind::BackendStub
        } else if has(&["serial", "lineage", "modules"]) && has(&["version", "terraform_version"]) {
            WrongKind::RawState
        } else if has(&["provider_schemas"]) {
            WrongKind::Schemas
        } else if has(&["values", "format_version"]) {
            WrongKind::StateJson
        } else {
            WrongKind::OtherJson
        }
        .into())
    }
}

/// What may stand in a message: short, and without control characters.
fn short(text: &str) -> String {
    text.escape_debug().take(60).collect()
}

fn string(taken: &Taken<'_>) -> Option<String> {
    taken.bytes.starts_with(b"\"").then(|| decode(taken.bytes).into_owned())
}

fn shape<R: io::Read>(source: &Source<R>, reason: &str) -> ReadError {
    ReadError::Shape {
        section: source.section.clone(),
        reason: reason.to_owned(),
        offset: source.offset(),
    }
}
