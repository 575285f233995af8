//! Reading the JSON syntax, in which objects stand for blocks.
//!
//! - Texts are templates there, but for defaults of variables and for files of variables.
//! - Keys named `//` are comments.

use super::{
    hcl,
    node::{Block, Body, Entry, Kind, Node},
};
use crate::{number::Number, read::text::decode};
use std::ops::Range;

/// What a text in a JSON file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// `${` begins an expression.
    Templates,
    /// Every character is itself.
    Verbatim,
}

/// A file of configuration.
pub(super) fn parse(text: &str) -> Result<Body, String> {
    let root = document(text, Texts::Templates)?;
    let mut body = Body { range: inside(&root), entries: Vec::new(), blocks: Vec::new() };
    let tops = objects(root).ok_or("the file is no object")?;
    for entry in tops.into_iter().flat_map(|(_, entries)| entries) {
        // What a section holds are blocks; here is only where it stands.
        body.entries.push(Entry {
            key: entry.key.clone(),
            name: entry.name.clone(),
            value: Node { range: entry.value.range.clone(), kind: Kind::Object(Vec::new()) },
        });
        let Some(name) = entry.name.filter(|name| name != "//") else { continue };
        let labels = match name.as_str() {
            "resource" | "data" | "ephemeral" => 2,
            "variable" | "output" | "module" | "provider" | "check" => 1,
            _ => 0,
        };
        let mut section = Section { text, kind: name, found: &mut body.blocks };
        section.collect(&[], labels, entry.value);
    }
    Ok(body)
}

/// A file of variables.
pub(super) fn parse_variables(text: &str) -> Result<Body, String> {
    let root = document(text, Texts::Verbatim)?;
    let range = inside(&root);
    match root.kind {
        Kind::Object(entries) => Ok(Body { range, entries, blocks: Vec::new() }),
        _ => Err("the file is no object".to_owned()),
    }
}

/// A whole document as one value.
pub(super) fn document(text: &str, texts: Texts) -> Result<Node, String> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    serde_json::from_str::<serde::de::IgnoredAny>(&text[start..])
        .map_err(|error| format!("the file does not parse: not JSON in line {}", error.line()))?;
    let mut reader = Reader { text, at: start, texts };
    Ok(reader.node())
}

/// Collects the blocks of a section.
struct Section<'a> {
    text: &'a str,
    kind: String,
    found: &'a mut Vec<Block>,
}

impl Section<'_> {
    /// Objects behind so many labels become blocks; lists of objects are several.
    fn collect(&mut self, labels: &[String], missing: usize, node: Node) {
        for (range, mut entries) in objects(node).into_iter().flatten() {
            if missing > 0 {
                for entry in entries {
                    let Some(name) = entry.name.filter(|name| name != "//") else { continue };
                    let labels = [labels, &[name]].concat();
                    self.collect(&labels, missing - 1, entry.value);
                }
                continue;
            }
            if self.kind == "variable" {
                for entry in entries.iter_mut().filter(|it| it.name.as_deref() == Some("default")) {
                    let (text, at) = (self.text, entry.value.range.start);
                    entry.value = Reader { text, at, texts: Texts::Verbatim }.node();
                }
            }
            let inside = range.start + 1..range.end - 1;
            let body = Body { range: inside, entries, blocks: Vec::new() };
            let (kind, labels) = (self.kind.clone(), labels.to_vec());
            self.found.push(Block { kind, labels, range, body });
        }
    }
}

/// An object, or each of a list of objects.
fn objects(node: Node) -> Option<Vec<(Range<usize>, Vec<Entry>)>> {
    match node.kind {
        Kind::Object(entries) => Some(vec![(node.range, entries)]),
        Kind::List(items) => Some(items.into_iter().filter_map(objects).flatten().collect()),
        _ => None,
    }
}

fn inside(node: &Node) -> Range<usize> {
    node.range.start + 1..node.range.end.saturating_sub(1).max(node.range.start + 1)
}

/// Reads text that is known to be JSON.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    texts: Texts,
}

impl Reader<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    fn string(&mut self) -> Range<usize> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while self.at < bytes.len() && bytes[self.at] != b'"' {
            self.at += 1 + usize::from(bytes[self.at] == b'\\');
        }
        self.at = (self.at + 1).min(bytes.len());
        start..self.at
    }

    fn node(&mut self) -> Node {
        let first = self.peek();
        let start = self.at;
        let kind = match first {
            b'{' => {
                let mut entries = Vec::new();
                self.at += 1;
                while self.peek() == b'"' {
                    let key = self.string();
                    let name = decode(self.text[key.clone()].as_bytes()).into_owned();
                    self.peek();
                    self.at += 1;
                    entries.push(Entry { key, name: Some(name), value: self.node() });
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Kind::Object(entries)
            }
            b'[' => {
                let mut items = Vec::new();
                self.at += 1;
                while !matches!(self.peek(), b']' | 0) {
                    items.push(self.node());
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Kind::List(items)
            }
            b'"' => {
                let range = self.string();
                text(decode(self.text[range].as_bytes()).into_owned(), self.texts)
            }
            _ => {
                let word = |byte: &u8| !byte.is_ascii_whitespace() && !b",]}:".contains(byte);
                let length = self.text.as_bytes()[start..].iter().take_while(|it| word(it)).count();
                self.at += length.max(1);
                match self.text.get(start..self.at).unwrap_or_default() {
                    "true" => Kind::Bool(true),
                    "false" => Kind::Bool(false),
                    "null" => Kind::Null,
                    number => Kind::Number(Number::new(number)),
                }
            }
        };
        Node { range: start..self.at.min(self.text.len()), kind }
    }
}

/// What a text says: itself, a reference, or something computed.
fn text(text: String, texts: Texts) -> Kind {
    if texts == Texts::Verbatim {
        return Kind::Text(text);
    }
    let bare = text.replace("$${", "").replace("%%{", "");
    if !bare.contains("${") && !bare.contains("%{") {
        return Kind::Text(text.replace("$${", "${").replace("%%{", "%{"));
    }
    let single = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match single.and_then(hcl::parse_expression) {
        Some(kind @ Kind::Reference(_)) => kind,
        Some(Kind::Call { .. }) => Kind::Computed("a function call"),
        Some(Kind::Computed(what)) => Kind::Computed(what),
        _ => Kind::Computed("a text with a template in it"),
    }
}
