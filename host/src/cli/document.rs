//! Declarations in a file: blocks of HCL or documents of JSON, as a tree that knows where each part
//! stands, so that every fault can name its line and column.
//!
//! ```hcl
//! worker_pool "dev/web" {
//!   size   = 3
//!   worker = { command = ["sleep", "1000"] }
//! }
//! ```
//!
//! The same as JSON is what `get --output json` prints; what only the host can say is left out or
//! ignored:
//!
//! ```json
//! {"kind": "worker_pool", "name": "dev/web", "spec": {"size": 3, "worker": {"command": ["sleep", "1000"]}}}
//! ```

pub mod fields;
mod hcl;
mod json;

/// A part of a file, and the byte at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub at: usize,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    /// Not a plain value; its fault is told already.
    Unreadable,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

impl Value {
    /// What it is, to follow "not".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Unreadable => "computed",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

/// A named part. Names of one map differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: usize,
    pub name: String,
    pub node: Node,
}

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: Named,
    pub name: Named,
    pub body: Vec<Entry>,
}

/// A word of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub at: usize,
    pub text: String,
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub at: usize,
    pub message: String,
}

impl Fault {
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// What a file declares as far as it can be read, and its faults.
#[derive(Debug, Default)]
pub struct Parsed {
    pub blocks: Vec<Block>,
    pub faults: Vec<Fault>,
}

impl Parsed {
    fn fault(fault: Fault) -> Self {
        Self { blocks: Vec::new(), faults: vec![fault] }
    }
}

/// Reads all declarations of a file. JSON is told by its first character. A mark of the byte order, which
/// some editors put before it all, must be gone.
pub fn parse(text: &str) -> Parsed {
    if text.trim_start().starts_with(['{', '[']) { json::parse(text) } else { hcl::parse(text) }
}

/// Line and column of a byte, both from 1, the column in characters.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Adds an entry, or a fault when its name is taken.
fn add_entry(entries: &mut Vec<Entry>, entry: Entry, faults: &mut Vec<Fault>) {
    if entries.iter().any(|other| other.name == entry.name) {
        faults.push(Fault::new(entry.at, format!("`{}` is given twice", entry.name)));
    } else {
        entries.push(entry);
    }
}

#[cfg(test)]
mod tests;
