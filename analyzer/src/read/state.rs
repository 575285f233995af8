//! The walk over a state: one resource in memory at a time, whatever the format.
//!
//! - The format is told by the keys: `format_version` of `show -json`, `version` of a stored state.
//! - `prior_state` of a plan is read by the same walk.

use super::{
    Limits, ReadError, WrongKind,
    source::{Source, Taken},
    text::{self, decode},
};
use crate::{
    address::ModuleCall,
    state::{Format, Info, Object, Receiver, json, raw3, raw4},
    value::Value,
};
use std::{collections::BTreeSet, io};

/// How deep modules may nest: deeper than any configuration, and far from the end of the stack.
const MODULES_MAX: usize = 128;

/// Reads one state to its end.
pub(crate) fn read_state(
    reader: impl io::Read,
    limits: Limits,
    receiver: &mut impl Receiver,
) -> Result<Info, ReadError> {
    let mut source = Source::new(reader, limits);
    source.open()?;
    let mut info = Walk::new(receiver).state(&mut source)?;
    if source.next()? {
        return Err(WrongKind::SeveralDocuments.into());
    }
    info.wrapped = source.wrapped;
    Ok(info)
}

/// Reads the state inside a plan. `None` when it was empty: then the plan leaves it out.
pub(crate) fn read_prior_state(
    reader: impl io::Read,
    limits: Limits,
    receiver: &mut impl Receiver,
) -> Result<Option<Info>, ReadError> {
    let mut source = Source::new(reader, limits);
    source.open()?;
    let mut info = None;
    let mut is_plan = false;
    source.object(|source, key| {
        is_plan |= key == "format_version";
        if key != "prior_state" || source.peek()? != Some(b'{') {
            return source.skip();
        }
        info = Some(Walk::new(receiver).state(source)?);
        Ok(())
    })?;
    // Other kinds of plans have no states, which says nothing of what they found.
    if info.is_none() && !is_plan {
        return Err(WrongKind::NoPriorState.into());
    }
    Ok(info)
}

struct Walk<'r, T> {
    info: Info,
    seen: BTreeSet<String>,
    receiver: &'r mut T,
}

impl<'r, T: Receiver> Walk<'r, T> {
    fn new(receiver: &'r mut T) -> Self {
        Self { info: Info::default(), seen: BTreeSet::new(), receiver }
    }

    fn state<R: io::Read>(mut self, source: &mut Source<R>) -> Result<Info, ReadError> {
        source.object(|source, key| {
            source.section = key.escape_debug().take(60).collect();
            self.seen.insert(key.to_owned());
            self.section(source, key)
        })?;
        self.check_kind()?;
        Ok(self.info)
    }

    fn section<R: io::Read>(&mut self, source: &mut Source<R>, key: &str) -> Result<(), ReadError> {
        match key {
            "@level" | "@message" | "@timestamp" => Err(WrongKind::NotState.into()),
            "plan_format_version"
            | "planned_values"
            | "resource_changes"
            | "resource_drift"
            | "output_changes"
            | "prior_state"
            | "deferred_changes" => Err(WrongKind::Plan.into()),
            "provider_schemas" => Err(WrongKind::Schemas.into()),
            "format_version" => {
                let version = string(&source.take()?).unwrap_or_default();
                if !matches!(version.split('.').next(), Some("0" | "1")) {
                    return Err(WrongKind::StateVersion(short(&version)).into());
                }
                self.info.format = Format::Json(version);
                Ok(())
            }
            "version" => {
                self.info.format = Format::Raw(number(&source.take()?).unwrap_or(0));
                Ok(())
            }
            "terraform_version" => {
                self.info.tool_version = string(&source.take()?);
                Ok(())
            }
            "serial" => {
                self.info.serial = number(&source.take()?);
                Ok(())
            }
            "lineage" => {
                self.info.lineage = string(&source.take()?);
                Ok(())
            }
            "values" => self.values(source),
            "outputs" => self.outputs(source),
            "resources" => self.resources(source),
            "modules" => self.old_modules(source),
            _ => source.skip(),
        }
    }

    /// `{"outputs": {...}, "root_module": {...}}`
    fn values<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, key| match key {
            "outputs" => self.outputs(source),
            "root_module" => self.module(source, 0),
            _ => source.skip(),
        })
    }

    fn outputs<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, name| {
            let output = text::value(source.take()?.bytes);
            let sensitive = output.get("sensitive") == Some(&Value::Bool(true));
            let value = output.get("value").cloned().unwrap_or(Value::Null);
            self.receiver.output(name, value, sensitive);
            Ok(())
        })
    }

    /// A module of `show -json`: its resources, its address, the modules in it.
    fn module<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        depth: usize,
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        if depth > MODULES_MAX {
            return Err(shape(source, "modules nest too deep"));
        }
        let mut address = (depth == 0).then(Vec::new);
        // Resources that wait for the address.
        let mut waiting: Vec<Box<[u8]>> = Vec::new();
        source.object(|source, key| match key {
            "resources" if source.peek()? == Some(b'[') => source.list(|source, position| {
                let Taken { bytes, offset } = source.take()?;
                let found = json::object(bytes, address.as_deref());
                if matches!(found, json::Found::Relative) {
                    waiting.push(bytes.into());
                    return Ok(());
                }
                self.take_found(found).map_err(|reason| ReadError::Shape {
                    section: format!("{}, resource {position}", source.section),
                    reason: reason.to_owned(),
                    offset,
                })
            }),
            "address" => {
                let text = string(&source.take()?).unwrap_or_default();
                address = ModuleCall::parse_path(&text).ok();
                Ok(())
            }
            "child_modules" if source.peek()? == Some(b'[') => {
                source.list(|source, _| self.module(source, depth + 1))
            }
            _ => source.skip(),
        })?;
        let address = address.unwrap_or_default();
        for raw in waiting {
            let found = json::object(&raw, Some(&address));
            self.take_found(found).map_err(|reason| shape(source, reason))?;
        }
        Ok(())
    }

    fn take_found(&mut self, found: json::Found) -> Result<(), &'static str> {
        self.info.entries += 1;
        match found {
            json::Found::Object(object) => self.receiver.object(*object),
            json::Found::Unknown | json::Found::Relative => self.info.unknown += 1,
            json::Found::Fault(reason) => return Err(reason),
        }
        Ok(())
    }

    /// Resources of a stored state of version 4.
    fn resources<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        if source.peek()? != Some(b'[') {
            return source.skip();
        }
        source.list(|source, position| {
            let Taken { bytes, offset } = source.take()?;
            let known = raw4::objects(bytes, |object| self.receiver.object(object));
            let known = known.map_err(|reason| ReadError::Shape {
                section: format!("resources[{position}]"),
                reason: reason.to_owned(),
                offset,
            })?;
            self.info.entries += 1;
            self.info.unknown += usize::from(!known);
            Ok(())
        })
    }

    /// Modules of a stored state of version 3; the path stands in front of the resources.
    fn old_modules<R: io::Read>(&mut self, source: &mut Source<R>) -> Result<(), ReadError> {
        if source.peek()? != Some(b'[') {
            return source.skip();
        }
        source.list(|source, position| {
            if source.peek()? != Some(b'{') {
                return Err(shape(source, "a module is not an object"));
            }
            let mut path: Option<Vec<ModuleCall>> = None;
            source.object(|source, key| match key {
                "path" => {
                    path = Some(raw3::modules(source.take()?.bytes));
                    Ok(())
                }
                "outputs" if path.as_ref().is_some_and(Vec::is_empty) => self.outputs(source),
                "resources" if source.peek()? == Some(b'{') => {
                    let Some(path) = &path else {
                        return Err(shape(source, "a module's path comes after its resources"));
                    };
                    source.object(|source, key| {
                        let Taken { bytes, offset } = source.take()?;
                        let hand_on = |object: Object| {
                            self.info.entries += 1;
                            self.receiver.object(object);
                        };
                        raw3::objects(key, bytes, path, hand_on).map_err(|reason| {
                            ReadError::Shape {
                                section: format!("modules[{position}].resources"),
                                reason: reason.to_owned(),
                                offset,
                            }
                        })
                    })
                }
                _ => source.skip(),
            })
        })
    }

    fn check_kind(&self) -> Result<(), ReadError> {
        let has = |key: &str| self.seen.contains(key);
        if has("encrypted_data") || has("encryption_version") {
            let serial = self.info.serial.map(|serial| format!("serial {serial}"));
            let lineage = self.info.lineage.as_deref().map(|it| format!("lineage {}", short(it)));
            let about: Vec<String> = serial.into_iter().chain(lineage).collect();
            return Err(WrongKind::Encrypted(format!("a state ({})", about.join(", "))).into());
        }
        if has("backend") {
            return Err(WrongKind::BackendStub.into());
        }
        Err(match &self.info.format {
            Format::Json(_) => return Ok(()),
            Format::Raw(3 | 4) => return Ok(()),
            Format::Raw(version @ (1 | 2)) => WrongKind::OldState(*version),
            Format::Raw(version) => WrongKind::StateVersion(version.to_string()),
            Format::Unknown => WrongKind::NotState,
        }
        .into())
    }
}

fn short(text: &str) -> String {
    text.escape_debug().take(60).collect()
}

fn string(taken: &Taken<'_>) -> Option<String> {
    taken.bytes.starts_with(b"\"").then(|| decode(taken.bytes).into_owned())
}

fn number(taken: &Taken<'_>) -> Option<u64> {
    str::from_utf8(taken.bytes).ok()?.parse().ok()
}

fn shape<R: io::Read>(source: &Source<R>, reason: &str) -> ReadError {
    ReadError::Shape {
        section: source.section.clone(),
        reason: reason.to_owned(),
        offset: source.offset(),
    }
}
