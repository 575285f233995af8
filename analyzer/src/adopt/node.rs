//! A parsed file as plain data, whatever syntax it is written in: names, values, and where they
//! stand.
//!
//! - Every range is one of bytes of the file's text, without white space around it.
//! - A [`Location`] names a place by what leads to it, so that it can be found again after an edit.

use crate::{number::Number, path::Step, value::Value};
use std::ops::Range;

/// A file or a block: named values and nested blocks, each in the order they are written in.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// What stands between the brackets; of a file, all of it.
    pub(super) range: Range<usize>,
    pub(super) entries: Vec<Entry>,
    pub(super) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) labels: Vec<String>,
    /// From its first word to its closing bracket.
    pub(super) range: Range<usize>,
    pub(super) body: Body,
}

/// A named value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Range<usize>,
    /// `None` when the name is computed.
    pub(super) name: Option<String>,
    pub(super) value: Node,
}

/// A value as it is written.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A heredoc without templates: what it says.
    Heredoc(String),
    /// A text that is a path below the folder of the module.
    ModulePath(String),
    List(Vec<Node>),
    Object(Vec<Entry>),
    Reference(Reference),
    Call {
        function: String,
        arguments: Vec<Node>,
    },
    /// Anything else, in words.
    Computed(&'static str),
}

/// A name of something else and steps into it, such as `var.sizes["a"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) root: String,
    pub(super) picks: Vec<Pick>,
}

/// One step of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    Step(Step),
    EachKey,
    CountIndex,
}

/// One step to a place of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    /// Of the blocks of a body, by position.
    Block(usize),
    Name(String),
    Index(usize),
    Argument(usize),
}

/// Where something stands in a file.
pub(super) type Location = Vec<Segment>;

/// What a location leads to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    Body(&'a Body),
    Node(&'a Node),
}

impl Body {
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        named(&self.entries, name)
    }

    /// The position of the only block of that kind with these labels.
    pub(super) fn position(&self, kind: &str, labels: &[&str]) -> Option<usize> {
        self.blocks.iter().position(|block| block.is(kind, labels))
    }

    pub(super) fn block(&self, kind: &str, labels: &[&str]) -> Option<&Block> {
        self.blocks.get(self.position(kind, labels)?)
    }

    /// The blocks of a kind, with their positions.
    pub(super) fn blocks_of<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (usize, &'a Block)> {
        self.blocks.iter().enumerate().filter(move |(_, block)| block.kind == kind)
    }

    /// What stands at the end of a location.
    pub(super) fn find(&self, location: &[Segment]) -> Option<Found<'_>> {
        location.iter().try_fold(Found::Body(self), |found, segment| found.step(segment))
    }

    pub(super) fn node(&self, location: &[Segment]) -> Option<&Node> {
        match self.find(location)? {
            Found::Node(node) => Some(node),
            Found::Body(_) => None,
        }
    }

    /// The block at a location.
    pub(super) fn block_at(&self, location: &[Segment]) -> Option<&Block> {
        let (last, rest) = location.split_last()?;
        match (self.find(rest)?, last) {
            (Found::Body(body), Segment::Block(at)) => body.blocks.get(*at),
            _ => None,
        }
    }
}

impl Block {
    pub(super) fn is(&self, kind: &str, labels: &[&str]) -> bool {
        self.kind == kind && self.labels == labels
    }
}

impl<'a> Found<'a> {
    fn step(self, segment: &Segment) -> Option<Self> {
        Some(match (self, segment) {
            (Self::Body(body), Segment::Block(at)) => Self::Body(&body.blocks.get(*at)?.body),
            (found, Segment::Name(name)) => Self::Node(&named(found.entries()?, name)?.value),
            (Self::Node(node), segment) => Self::Node(match (&node.kind, segment) {
                (Kind::List(items), Segment::Index(at)) => items.get(*at)?,
                (Kind::Call { arguments, .. }, Segment::Argument(at)) => arguments.get(*at)?,
                _ => return None,
            }),
            _ => return None,
        })
    }

    /// The named values in it.
    pub(super) fn entries(self) -> Option<&'a [Entry]> {
        match self {
            Self::Body(body) => Some(&body.entries),
            Self::Node(Node { kind: Kind::Object(entries), .. }) => Some(entries),
            Self::Node(_) => None,
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        match self {
            Self::Body(body) => body.range.clone(),
            Self::Node(node) => node.range.clone(),
        }
    }
}

/// The only entry of that name.
pub(super) fn named<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Entry> {
    let mut found = entries.iter().filter(|entry| entry.name.as_deref() == Some(name));
    found.next().filter(|_| found.next().is_none())
}

impl Node {
    /// The value of a literal; `None` when any part of it is computed.
    pub(super) fn literal(&self) -> Option<Value> {
        Some(match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) | Kind::Heredoc(text) => Value::String(text.clone()),
            Kind::List(items) => {
                Value::List(items.iter().map(Self::literal).collect::<Option<_>>()?)
            }
            Kind::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| Some((entry.name.clone()?, entry.value.literal()?)))
                    .collect::<Option<_>>()?,
            ),
            Kind::ModulePath(_) | Kind::Reference(_) | Kind::Call { .. } | Kind::Computed(_) => {
                return None;
            }
        })
    }

    /// What it is, for refusals.
    pub(super) fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) => "a literal",
            Kind::Text(_) => "a literal text",
            Kind::Heredoc(_) => "a heredoc",
            Kind::ModulePath(_) => "a text with a template in it",
            Kind::List(_) | Kind::Object(_) => "a collection with computed parts",
            Kind::Reference(_) => "a reference",
            Kind::Call { .. } => "a function call",
            Kind::Computed(what) => what,
        }
    }

    /// This node and all below it.
    pub(super) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match &self.kind {
            Kind::List(items) => items.iter().for_each(|item| item.walk(visit)),
            Kind::Object(entries) => entries.iter().for_each(|entry| entry.value.walk(visit)),
            Kind::Call { arguments, .. } => arguments.iter().for_each(|it| it.walk(visit)),
            _ => {}
        }
    }
}

impl Body {
    /// All nodes of a body.
    pub(super) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Node)) {
        self.entries.iter().for_each(|entry| entry.value.walk(visit));
        self.blocks.iter().for_each(|block| block.body.walk(visit));
    }
}

/// Two files, of which one is the other after an edit.
pub(super) struct Comparison<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// The kind of block that comes or goes where the meant location ends at a block.
    pub(super) kind: Option<&'a str>,
}

/// A location that leads nowhere: nothing is meant.
const NOWHERE: &[Segment] = &[Segment::Argument(usize::MAX)];

impl Comparison<'_> {
    /// True when the bodies say the same everywhere but at `meant`.
    pub(super) fn same_but(&self, old: &Body, new: &Body, meant: &[Segment]) -> bool {
        if meant.is_empty() {
            return true;
        }
        // A whole block comes or goes: those of its kind are not compared here.
        let kind = self.kind.filter(|_| matches!(meant, [Segment::Block(_)]));
        let rest = |body: &Body| -> Vec<usize> {
            let is_other = |at: &usize| Some(body.blocks[*at].kind.as_str()) != kind;
            (0..body.blocks.len()).filter(is_other).collect()
        };
        let (left, right) = (rest(old), rest(new));
        left.len() == right.len()
            && left.iter().zip(&right).all(|(left, right)| {
                let below = match meant {
                    [Segment::Block(at), below @ ..] if at == left && !below.is_empty() => below,
                    _ => NOWHERE,
                };
                let (left, right) = (&old.blocks[*left], &new.blocks[*right]);
                left.kind == right.kind
                    && left.labels == right.labels
                    && self.same_but(&left.body, &right.body, below)
            })
            && self.same_entries(&old.entries, &new.entries, meant)
    }

    fn same_entries(&self, old: &[Entry], new: &[Entry], meant: &[Segment]) -> bool {
        let name = match meant {
            [Segment::Name(name)] => Some(name.as_str()),
            // In JSON a block is a name too.
            [Segment::Block(_)] => self.kind,
            _ => None,
        };
        let rest = |entry: &&Entry| name.is_none() || entry.name.as_deref() != name;
        let (mut left, mut right) = (old.iter().filter(rest), new.iter().filter(rest));
        loop {
            let (left, right) = match (left.next(), right.next()) {
                (None, None) => return true,
                (Some(left), Some(right)) => (left, right),
                _ => return false,
            };
            let below = match meant {
                [Segment::Name(name), below @ ..] if left.name.as_ref() == Some(name) => below,
                _ => NOWHERE,
            };
            let same_key = match (&left.name, &right.name) {
                (None, None) => self.old[left.key.clone()] == self.new[right.key.clone()],
                (left, right) => left == right,
            };
            if !same_key || !self.same_node(&left.value, &right.value, below) {
                return false;
            }
        }
    }

    fn same_node(&self, old: &Node, new: &Node, meant: &[Segment]) -> bool {
        if meant.is_empty() {
            return true;
        }
        let same_items = |left: &[Node], right: &[Node]| {
            left.len() == right.len()
                && left.iter().zip(right).enumerate().all(|(at, (left, right))| {
                    let below = match meant {
                        [Segment::Index(index) | Segment::Argument(index), below @ ..]
                            if *index == at =>
                        {
                            below
                        }
                        _ => NOWHERE,
                    };
                    self.same_node(left, right, below)
                })
        };
        match (&old.kind, &new.kind) {
            (Kind::Object(left), Kind::Object(right)) => self.same_entries(left, right, meant),
            (Kind::List(left), Kind::List(right)) => same_items(left, right),
            (
                Kind::Call { function, arguments: left },
                Kind::Call { function: other, arguments: right },
            ) => function == other && same_items(left, right),
            _ => self.old[old.range.clone()] == self.new[new.range.clone()],
        }
    }
}
