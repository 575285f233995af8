//! One change of a file.
//!
//! - The new text is the old one with a few bytes spliced: whatever is not meant stays as it was,
//!   to the byte.
//! - The result is read again, and nothing but the target may differ; otherwise the change is
//!   refused.

use super::{
    canonical,
    file::{SourceFile, Syntax},
    json::Texts,
    json_layout::{self, Style},
    layout::{self, Spliced, indentation, newline},
    lists,
    literal::{self, Layout},
    node::{Body, Comparison, Found, Kind, Location, Node, Segment},
    splice::{self, Splice},
};
use crate::{diff::alike, value::Value};

/// What to do at a place.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) at: Location,
    pub(super) act: Act,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Sets the value, also where there is none yet; `desired` is what the plan takes it for now.
    Set {
        value: Value,
        desired: Option<Value>,
    },
    /// Puts other text in place of a value that then means `means`.
    Rewrite {
        text: String,
        means: Value,
    },
    /// Takes the value out, with its name.
    Remove,
    /// Adds a piece of code to a list.
    Append(String),
    /// Sets a list of pieces of code where there is nothing yet.
    Codes(Vec<String>),
    /// Adds a block in the body at the end of the location but for its last step, which is where
    /// the block will be found.
    AddBlock(NewBlock),
    RemoveBlock,
}

/// A block to write.
#[derive(Clone, Debug, Default)]
pub(super) struct NewBlock {
    pub(super) kind: String,
    pub(super) entries: Vec<(String, NewValue)>,
    pub(super) blocks: Vec<Self>,
}

#[derive(Clone, Debug)]
pub(super) enum NewValue {
    Value(Value),
    /// An expression, such as an address.
    Code(String),
    /// A list of expressions.
    Codes(Vec<String>),
}

/// Why a change was refused, and at which byte of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) reason: String,
    pub(super) at: usize,
}

/// The file after the change.
pub(super) fn apply(file: &SourceFile, change: &Change) -> Result<SourceFile, Refused> {
    let at = start_of(file, &change.at);
    let refuse = |reason: String| Refused { reason, at };
    let body = file.body.as_ref().map_err(|reason| refuse(reason.clone()))?;
    if let (Act::Set { value, .. }, Some(node)) = (&change.act, body.node(&change.at))
        && node.literal().as_ref() == Some(value)
    {
        return Ok(file.clone());
    }
    if let (Syntax::Plain, Act::Rewrite { text, .. }) = (file.syntax, &change.act) {
        return Ok(SourceFile::new(file.path.clone(), text.clone(), file.syntax));
    }
    let splices = splices(file, change).map_err(refuse)?;
    let text = match file.syntax {
        Syntax::Native | Syntax::Variables => canonical::apply(&file.text, splices),
        Syntax::Json | Syntax::JsonVariables | Syntax::Plain => splice::apply(&file.text, splices),
    };
    let edited = SourceFile::new(file.path.clone(), text, file.syntax);
    check(file, &edited, change).map_err(refuse)?;
    Ok(edited)
}

fn start_of(file: &SourceFile, at: &[Segment]) -> usize {
    let Ok(body) = &file.body else { return 0 };
    let found = (0..=at.len()).rev().find_map(|length| {
        let block = body.block_at(&at[..length]).map(|block| block.range.start);
        block.or_else(|| body.find(&at[..length]).map(|found| found.range().start))
    });
    found.unwrap_or(0)
}

fn splices(file: &SourceFile, change: &Change) -> Spliced {
    let text = &file.text;
    let Ok(body) = &file.body else { return Err("the file does not parse".to_owned()) };
    let (last, outer) = change.at.split_last().ok_or("it has no place")?;
    let holder = body.find(outer).ok_or("it has no place")?;
    match (&change.act, last, body.node(&change.at)) {
        (Act::Set { value, desired }, _, Some(node)) => {
            replace(file, node, (value, desired.as_ref()), change)
        }
        (Act::Set { value, .. }, Segment::Name(name), None) => {
            let texts = file.texts(&change.at);
            if file.syntax.is_json() {
                let lines = text.contains('\n').then(|| deeper(text, holder)).flatten();
                let style = Style { texts, lines: lines.as_deref(), newline: newline(text) };
                let value = json_layout::write(value, style);
                json_layout::insert(text, holder, &json_layout::quote(name, texts), &value)
            } else {
                layout::insert(text, holder, name, &literal::write(value, Layout::OneLine))
            }
        }
        (Act::Rewrite { text: new, .. }, _, Some(node)) => {
            Ok(vec![Splice { range: node.range.clone(), text: new.clone() }])
        }
        (Act::Remove, Segment::Name(name), Some(_)) if file.syntax.is_json() => {
            json_layout::remove(holder, name)
        }
        (Act::Remove, Segment::Name(name), Some(_)) => layout::remove(text, holder, name),
        (Act::Append(code), _, Some(Node { kind: Kind::List(items), range })) => {
            let is_json = file.syntax.is_json();
            let write = |value: &Value| match value.as_str() {
                Some(code) if is_json => json_layout::quote(code, Texts::Verbatim),
                code => code.unwrap_or_default().to_owned(),
            };
            lists::append(text, (range, items), &Value::String(code.clone()), &write)
        }
        (Act::Codes(codes), Segment::Name(name), None) if file.syntax.is_json() => {
            let codes = codes.iter().map(|code| Value::String(code.clone())).collect();
            let style = Style { texts: Texts::Verbatim, lines: None, newline: newline(text) };
            let value = json_layout::write(&Value::List(codes), style);
            json_layout::insert(text, holder, &json_layout::quote(name, Texts::Verbatim), &value)
        }
        (Act::Codes(codes), Segment::Name(name), None) => {
            layout::insert(text, holder, name, &format!("[{}]", codes.join(", ")))
        }
        (Act::AddBlock(block), Segment::Block(at), _) => match holder {
            Found::Body(holder) if !file.syntax.is_json() => {
                let behind = at.checked_sub(1).filter(|_| {
                    *at < holder.blocks.len() || {
                        // At the end: behind a sibling if the last block is one.
                        holder
                            .blocks
                            .last()
                            .is_some_and(|last| last.kind == block.kind && !outer.is_empty())
                    }
                });
                layout::add_block(text, holder, behind, &block.native())
            }
            holder => block.add_to_json(text, holder),
        },
        (Act::RemoveBlock, Segment::Block(at), _) => match holder {
            Found::Body(holder) => match holder.blocks.get(*at) {
                Some(block) if !file.syntax.is_json() => layout::remove_block(text, &block.range),
                Some(_) => Err("blocks in JSON are not taken out".to_owned()),
                None => Err("it has no place".to_owned()),
            },
            Found::Node(_) => Err("it has no place".to_owned()),
        },
        _ => Err("it has no place".to_owned()),
    }
}

/// The indentation of what stands in a holder.
fn deeper(text: &str, holder: Found<'_>) -> Option<String> {
    let first = holder.entries()?.first()?;
    let start = first.key.start;
    let own_line = text[layout::line_start(text, start)..start].trim().is_empty();
    own_line.then(|| indentation(text, start).to_owned())
}

fn replace(
    file: &SourceFile,
    node: &Node,
    (value, desired): (&Value, Option<&Value>),
    change: &Change,
) -> Spliced {
    let text = &file.text;
    let written = &text[node.range.clone()];
    let texts = file.texts(&change.at);
    let is_json = file.syntax.is_json();
    let write_in = |value: &Value, indent: Option<&str>| match (is_json, indent) {
        (true, lines) => json_layout::write(value, Style { texts, lines, newline: newline(text) }),
        (false, Some(indent)) => {
            literal::write(value, Layout::Lines { indent, newline: newline(text) })
        }
        (false, None) => literal::write(value, Layout::OneLine),
    };
    if let (Kind::List(items), Value::List(wanted)) = (&node.kind, value)
        && !(items.is_empty() && written.contains(['\n', '#', '/']))
    {
        // Elements on lines of their own are written like the ones beside them.
        let spread = items.iter().any(|it| text[it.range.clone()].contains('\n'));
        let indent = items.first().map(|it| indentation(text, it.range.start));
        let write = |value: &Value| write_in(value, indent.filter(|_| spread));
        return lists::set(text, (&node.range, items), (wanted, desired), &write);
    }
    let has_lines = written.contains('\n') && !written.starts_with("<<");
    let indent = has_lines.then(|| indentation(text, node.range.start));
    Ok(vec![Splice { range: node.range.clone(), text: write_in(value, indent) }])
}

impl NewBlock {
    /// In the native syntax, in canonical form, without a line feed at the end.
    fn native(&self) -> String {
        let mut out = format!("{} {{\n", self.kind);
        self.native_body(1, &mut out);
        out.push('}');
        splice::apply(&out.clone(), canonical::corrections(&out))
    }

    fn native_body(&self, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        for (name, value) in &self.entries {
            let value = match value {
                NewValue::Value(value) => literal::write(value, Layout::OneLine),
                NewValue::Code(code) => code.clone(),
                NewValue::Codes(codes) => format!("[{}]", codes.join(", ")),
            };
            out.push_str(&format!("{indent}{name} = {value}\n"));
        }
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 || !self.entries.is_empty() {
                out.push('\n');
            }
            out.push_str(&format!("{indent}{} {{\n", block.kind));
            block.native_body(depth + 1, out);
            out.push_str(&format!("{indent}}}\n"));
        }
    }

    /// As a value, for the JSON syntax: code stands there as text.
    fn value(&self) -> Value {
        let text = |code: &String| Value::String(code.clone());
        let entries = self.entries.iter().map(|(name, value)| {
            let value = match value {
                NewValue::Value(value) => value.clone(),
                NewValue::Code(code) => text(code),
                NewValue::Codes(codes) => Value::List(codes.iter().map(text).collect()),
            };
            (name.clone(), value)
        });
        let blocks = self.blocks.iter().map(|block| (block.kind.clone(), block.value()));
        Value::Object(entries.chain(blocks).collect())
    }

    fn add_to_json(&self, text: &str, holder: Found<'_>) -> Spliced {
        let lines = text.contains('\n').then(|| deeper(text, holder)).flatten();
        let style =
            Style { texts: Texts::Templates, lines: lines.as_deref(), newline: newline(text) };
        let known = holder.entries().into_iter().flatten();
        let mut known = known.filter(|entry| entry.name.as_deref() == Some(self.kind.as_str()));
        let Some(known) = known.next_back() else {
            // A file may hold several of its blocks, a resource one.
            let value = match holder {
                Found::Body(body) if !body.blocks.is_empty() => Value::List(vec![self.value()]),
                _ => self.value(),
            };
            let value = json_layout::write(&value, style);
            let key = json_layout::quote(&self.kind, Texts::Verbatim);
            return json_layout::insert(text, holder, &key, &value);
        };
        let range = known.value.range.clone();
        let written = &text[range.clone()];
        let own = json_layout::write(&self.value(), Style { lines: None, ..style });
        Ok(match written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner) if inner.trim().is_empty() => {
                vec![Splice { range, text: format!("[{own}]") }]
            }
            Some(inner) => {
                let at = range.end - 1 - (inner.len() - inner.trim_end().len());
                vec![Splice { range: at..at, text: format!(", {own}") }]
            }
            None => vec![
                Splice { range: range.start..range.start, text: "[".to_owned() },
                Splice { range: range.end..range.end, text: format!(", {own}]") },
            ],
        })
    }
}

/// Reads the result as a stranger would, and compares everything that was not meant.
fn check(old: &SourceFile, new: &SourceFile, change: &Change) -> Result<(), String> {
    let before = old.body.as_ref().map_err(Clone::clone)?;
    let after = new.body.as_ref().map_err(|_| "the file would no longer parse".to_owned())?;
    let parent = &change.at[..change.at.len().saturating_sub(1)];
    let kind = match &change.act {
        Act::AddBlock(block) => Some(block.kind.as_str()),
        Act::RemoveBlock => before.block_at(&change.at).map(|block| block.kind.as_str()),
        Act::Set { .. } | Act::Rewrite { .. } | Act::Remove | Act::Append(_) | Act::Codes(_) => {
            None
        }
    };
    let comparison = Comparison { old: &old.text, new: &new.text, kind };
    if !comparison.same_but(before, after, &change.at) {
        return Err("the edit would change something else too".to_owned());
    }
    let means = |wanted: &Value| {
        let found = after.node(&change.at).and_then(Node::literal);
        found.as_ref() == Some(wanted) || alike(found.as_ref(), Some(wanted))
    };
    let reached = match &change.act {
        Act::Set { value, .. } | Act::Rewrite { means: value, .. } => means(value),
        Act::Remove => after.find(&change.at).is_none(),
        Act::Append(_) | Act::Codes(_) => after.node(&change.at).is_some(),
        Act::AddBlock(_) => count(after, parent, kind) == count(before, parent, kind) + 1,
        Act::RemoveBlock => count(after, parent, kind) + 1 == count(before, parent, kind),
    };
    if reached { Ok(()) } else { Err("the edit would not have the effect it should".to_owned()) }
}

/// How many blocks of a kind stand there, in either syntax.
fn count(body: &Body, parent: &[Segment], kind: Option<&str>) -> usize {
    let (Some(found), Some(kind)) = (body.find(parent), kind) else { return 0 };
    let blocks = match found {
        Found::Body(body) => body.blocks_of(kind).count(),
        Found::Node(_) => 0,
    };
    let named = found.entries().into_iter().flatten();
    let named = named.filter(|entry| entry.name.as_deref() == Some(kind));
    let listed = named.map(|entry| match &entry.value.kind {
        Kind::List(items) => items.len(),
        // The section of a whole file: its blocks are counted already.
        Kind::Object(entries) if entries.is_empty() => 0,
        _ => 1,
    });
    blocks + listed.sum::<usize>()
}
