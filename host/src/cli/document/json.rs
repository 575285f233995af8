//! Documents of JSON: one or more objects, one after the other or in a list.

use std::ops::Range;

use super::{Block, Entry, Fault, Named, Node, Parsed, Value, add_entry};

/// What the host prints of a resource beyond what can be declared.
const IGNORED: &[&str] =
    &["created_at", "deleting_since", "generation", "id", "observed", "revision", "updated_at"];

pub(super) fn parse(text: &str) -> Parsed {
    if let Err(fault) = check(text) {
        return Parsed::fault(fault);
    }
    let mut reader = Reader { text, rest: 0, faults: Vec::new() };
    let mut blocks = Vec::new();
    reader.skip_space();
    while reader.rest < text.len() {
        let node = reader.node();
        let documents = match node.value {
            Value::List(documents) => documents,
            _ => vec![node],
        };
        for document in documents {
            blocks.extend(reader.declaration(document));
        }
        reader.skip_space();
    }
    Parsed { blocks, faults: reader.faults }
}

/// Whether it is JSON at all. What passes is no deeper than the parser's own limit, which only holds
/// where values are kept; so reading it again can not overflow the stack.
fn check(text: &str) -> Result<(), Fault> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let (mut documents, mut last) = (documents, 0);
    loop {
        match documents.next() {
            None => return Ok(()),
            Some(Ok(_)) => last = documents.byte_offset(),
            Some(Err(error)) => {
                let at = offset(text, error.line(), error.column()).max(last);
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                return Err(Fault::new(at.min(text.len()), format!("this is not JSON: {message}")));
            }
        }
    }
}

/// The byte of a line and column, both from 1, the column in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let at = lines.map(str::len).sum::<usize>() + column.saturating_sub(1);
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Walks over text that is known to be JSON.
struct Reader<'a> {
    text: &'a str,
    rest: usize,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, at: usize, message: impl Into<String>) {
        self.faults.push(Fault::new(at, message));
    }

    fn declaration(&mut self, document: Node) -> Option<Block> {
        let Value::Map(entries) = document.value else {
            let kind = document.value.kind();
            self.fault(document.at, format!("a declaration is an object, not {kind}"));
            return None;
        };
        let (mut kind, mut name, mut body) = (None, None, Vec::new());
        for entry in entries {
            match (entry.name.as_str(), entry.node.value) {
                ("kind", Value::Text(text)) => kind = Some(Named { at: entry.node.at, text }),
                ("name", Value::Text(text)) => name = Some(Named { at: entry.node.at, text }),
                ("spec", Value::Map(spec)) => body.extend(spec),
                ("labels", value) => {
                    body.push(Entry { node: Node { at: entry.node.at, value }, ..entry });
                }
                ("kind" | "name", other) => {
                    let message = format!("`{}` is a string, not {}", entry.name, other.kind());
                    self.fault(entry.node.at, message);
                }
                ("spec", other) => {
                    self.fault(entry.node.at, format!("`spec` is an object, not {}", other.kind()));
                }
                (ignored, _) if IGNORED.contains(&ignored) => {}
                (unknown, _) => {
                    let message = format!(
                        "`{unknown}` is not known here: a declaration has `kind`, `name`, `labels` and `spec`"
                    );
                    self.fault(entry.at, message);
                }
            }
        }
        for (missing, is_missing) in [("kind", kind.is_none()), ("name", name.is_none())] {
            if is_missing && self.faults.is_empty() {
                self.fault(document.at, format!("the declaration has no `{missing}`"));
            }
        }
        Some(Block { kind: kind?, name: name?, body })
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.rest).copied().unwrap_or(b'}')
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.rest..];
        self.rest += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Steps over a character between values.
    fn step(&mut self) {
        self.rest = (self.rest + 1).min(self.text.len());
        self.skip_space();
    }

    fn node(&mut self) -> Node {
        self.skip_space();
        let at = self.rest;
        let value = match self.peek() {
            b'{' => self.map(),
            b'[' => self.list(),
            b'"' => Value::Text(self.string()),
            _ => {
                let word = &self.text[self.scalar()];
                match word {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    number => Value::Number(number.to_owned()),
                }
            }
        };
        self.skip_space();
        Node { at, value }
    }

    fn scalar(&mut self) -> Range<usize> {
        let start = self.rest;
        let rest = &self.text[start..];
        let len = rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        self.rest += len.max(1).min(rest.len());
        start..self.rest
    }

    fn string(&mut self) -> String {
        let start = self.rest;
        let mut is_escaped = false;
        let end = self.text[start + 1..].find(|char| {
            let is_end = char == '"' && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            is_end
        });
        self.rest = end.map_or(self.text.len(), |end| start + 1 + end + 1);
        serde_json::from_str(&self.text[start..self.rest]).unwrap_or_default()
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        self.step();
        while self.peek() != b']' && self.rest < self.text.len() {
            items.push(self.node());
            if self.peek() == b',' {
                self.step();
            }
        }
        self.step();
        Value::List(items)
    }

    fn map(&mut self) -> Value {
        let mut entries = Vec::new();
        self.step();
        while self.peek() != b'}' && self.rest < self.text.len() {
            let at = self.rest;
            let name = self.string();
            self.skip_space();
            self.step();
            let entry = Entry { at, name, node: self.node() };
            add_entry(&mut entries, entry, &mut self.faults);
            if self.peek() == b',' {
                self.step();
            }
        }
        self.step();
        Value::Map(entries)
    }
}
