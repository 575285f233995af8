//! The walk over a plan's configuration: who refers to whom.
//!
//! One block is in memory at a time. What the plan leaves out is not known here either: local values
//! and `dynamic` blocks have no place in it.

use super::{ReadError, Sink, plan::Walk, source::Source, text};
use crate::value::Value;
use std::io;

/// A part of a module that refers to others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// By its address in the module.
    Resource(&'a str),
    Output(&'a str),
    /// What decides whether a module is called at all, and how often.
    Call(&'a str),
    Argument {
        call: &'a str,
        variable: &'a str,
    },
}

/// What a part refers to, as the configuration spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    InExpression(String),
    DependsOn(String),
}

impl<S: Sink> Walk<'_, S> {
    /// A module and those that it calls. `path` holds the names of the calls that lead to it.
    pub(super) fn module<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        path: &[String],
    ) -> Result<(), ReadError> {
        self.fields(source, |walk, source, key| match key {
            "variables" if path.is_empty() => walk.root_variables(source),
            "resources" => walk.resources(source, path),
            "outputs" => walk.map(source, |sink, name, output| {
                sink.uses(path, Part::Output(name), references(&output));
            }),
            "module_calls" => walk.fields(source, |walk, source, name| {
                let name = name.to_owned();
                walk.fields(source, |walk, source, key| walk.call(source, key, (path, &name)))
            }),
            _ => source.skip(),
        })
    }

    fn resources<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        path: &[String],
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'[') {
            return source.skip();
        }
        source.list(|source, _| {
            let block = text::value(source.take()?.bytes);
            if let Some(address) = block.get("address").and_then(Value::as_str) {
                self.sink.uses(path, Part::Resource(address), references(&block));
            }
            Ok(())
        })
    }

    fn call<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        key: &str,
        (path, name): (&[String], &str),
    ) -> Result<(), ReadError> {
        match key {
            "module" => {
                let inner: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
                self.module(source, &inner)
            }
            "expressions" => self.map(source, |sink, variable, value| {
                let part = Part::Argument { call: name, variable };
                sink.uses(path, part, references(&value));
            }),
            "count_expression" | "for_each_expression" | "depends_on" => {
                let value = text::value(source.take()?.bytes);
                let found = match key {
                    "depends_on" => depends_on(&value),
                    _ => references(&value),
                };
                self.sink.uses(path, Part::Call(name), found);
                Ok(())
            }
            _ => source.skip(),
        }
    }

    /// Each field of an object; anything else is passed over.
    fn fields<R: io::Read>(
        &mut self,
        source: &mut Source<R>,
        mut visit: impl FnMut(&mut Self, &mut Source<R>, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, key| visit(self, source, key))
    }
}

/// Everything that is referred to anywhere in a block or an expression.
fn references(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Reference>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match (key.as_str(), field) {
                    ("references", Value::List(items)) => {
                        let texts = items.iter().filter_map(Value::as_str);
                        found.extend(texts.map(|it| Reference::InExpression(it.to_owned())));
                    }
                    ("depends_on", Value::List(_)) => found.extend(depends_on(field)),
                    _ => collect(field, found),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn depends_on(value: &Value) -> Vec<Reference> {
    let Value::List(items) = value else { return Vec::new() };
    items.iter().filter_map(Value::as_str).map(|it| Reference::DependsOn(it.to_owned())).collect()
}
