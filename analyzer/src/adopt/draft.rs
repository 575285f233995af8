//! A configuration with the edits made so far, and what can be looked up in it.
//!
//! - The configuration itself is never changed; edited files lie over it.
//! - A draft can be put back to what it was: edits that belong together are made all or none.

use super::{
    change::{self, Change, Refused},
    configuration::{Configuration, Module},
    file::{SourceFile, Syntax},
    hidden::Marks,
    lexer::{Class, tokens},
    node::{Block, Body, Location, Segment},
    patch,
};
use crate::report::Place;
use std::{collections::BTreeMap, ops::Range};

/// Why something cannot be written, and where that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denied {
    pub(super) reason: String,
    pub(super) place: Option<Place>,
}

impl Denied {
    pub(super) fn new(reason: impl Into<String>, place: Option<Place>) -> Self {
        Self { reason: reason.into(), place }
    }
}

/// A block and where it is declared.
#[derive(Clone, Copy)]
pub(super) struct Declared<'a> {
    pub(super) file: &'a SourceFile,
    /// Its position among the blocks of the file.
    pub(super) at: usize,
    pub(super) block: &'a Block,
}

impl Declared<'_> {
    pub(super) fn location(&self) -> Location {
        vec![Segment::Block(self.at)]
    }

    pub(super) fn place(&self) -> Place {
        self.file.place(self.block.range.start)
    }

    /// True when it stands for more than one object, or may.
    pub(super) fn is_repeated(&self) -> bool {
        self.block.body.entry("count").is_some() || self.block.body.entry("for_each").is_some()
    }
}

#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub(super) base: &'a Configuration,
    edited: BTreeMap<String, SourceFile>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(base: &'a Configuration) -> Self {
        Self { base, edited: BTreeMap::new() }
    }

    /// The texts of the edited files, by path.
    pub(super) fn into_texts(self) -> BTreeMap<String, String> {
        self.edited.into_iter().map(|(path, file)| (path, file.text.to_string())).collect()
    }

    /// The patch of each edited file, or why there is none.
    pub(super) fn diffs(&self, marks: &Marks<'_>) -> Vec<(&String, Result<String, String>)> {
        let diff = |new: &SourceFile| match self.base.file(&new.path) {
            Some(old) => patch::unified(old, new, marks),
            None => Ok(String::new()),
        };
        self.edited.iter().map(|(path, file)| (path, diff(file))).collect()
    }

    pub(super) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.edited.get(path).or_else(|| self.base.file(path))
    }

    /// The usable and unusable files of a folder.
    pub(super) fn files(&self, folder: &str) -> impl Iterator<Item = &SourceFile> {
        let files = self.base.folders.get(folder).map_or(&[][..], Vec::as_slice);
        files.iter().map(|file| self.edited.get(&file.path).unwrap_or(file))
    }

    /// The folder of a module, or why it is not ours to edit.
    pub(super) fn folder(&self, calls: &[String]) -> Result<&'a str, String> {
        match self.base.modules.get(calls) {
            Some(Module::Local { folder }) => Ok(folder),
            Some(Module::Closed(reason)) => Err(reason.clone()),
            None => Err("its module is not called in this configuration".to_owned()),
        }
    }

    /// How many module calls lead to a folder.
    pub(super) fn callers(&self, folder: &str) -> usize {
        let calls = self.base.modules.values();
        calls.filter(|it| matches!(it, Module::Local { folder: other } if other == folder)).count()
    }

    /// The blocks of that kind and with these labels in a folder; overrides last.
    pub(super) fn blocks(&self, folder: &str, kind: &str, labels: &[&str]) -> Vec<Declared<'_>> {
        let mut found: Vec<Declared<'_>> = self
            .bodies(folder)
            .flat_map(|(file, body)| {
                let blocks = body.blocks.iter().enumerate();
                let blocks = blocks.filter(|(_, block)| block.is(kind, labels));
                blocks.map(move |(at, block)| Declared { file, at, block })
            })
            .collect();
        found.sort_by_key(|it| it.file.is_override());
        found
    }

    fn bodies(&self, folder: &str) -> impl Iterator<Item = (&SourceFile, &Body)> {
        self.files(folder).filter_map(|file| Some((file, &**file.body.as_ref().ok()?)))
    }

    /// The only block of that kind, leaving overrides aside.
    pub(super) fn declaration(
        &self,
        folder: &str,
        kind: &str,
        labels: &[&str],
    ) -> Result<Declared<'_>, String> {
        let mut blocks = self.blocks(folder, kind, labels);
        blocks.retain(|it| !it.file.is_override());
        match blocks.as_slice() {
            [only] => Ok(*only),
            [_, second, ..] => {
                Err(format!("the block is declared twice, again in {}", second.file.path))
            }
            [] => Err(match self.files(folder).find_map(SourceFile::problem) {
                Some(problem) => format!("the block was not found, but {problem}"),
                None => "the block is not in the configuration".to_owned(),
            }),
        }
    }

    /// Where `root.name` is used in the files of a folder, but for the given part of a file.
    pub(super) fn uses(
        &self,
        folder: &str,
        (root, name): (&str, &str),
        except: Option<(&str, &Range<usize>)>,
    ) -> Vec<Place> {
        let mut places = Vec::new();
        for file in self.files(folder).filter(|file| !file.syntax.is_variables()) {
            for at in mentions(file, root, name) {
                let is_excepted =
                    except.is_some_and(|(path, range)| path == file.path && range.contains(&at));
                if !is_excepted {
                    places.push(file.place(at));
                }
            }
        }
        places
    }

    /// Carries out a change.
    pub(super) fn apply(&mut self, path: &str, change: &Change) -> Result<(), Denied> {
        let file = self.file(path).ok_or_else(|| Denied::new("its file is not there", None))?;
        match change::apply(file, change) {
            Ok(edited) => {
                if edited.text != file.text {
                    self.edited.insert(path.to_owned(), edited);
                }
                Ok(())
            }
            Err(Refused { reason, at }) => Err(Denied::new(reason, Some(file.place(at)))),
        }
    }
}

/// The bytes at which a text says `root.name`.
fn mentions(file: &SourceFile, root: &str, name: &str) -> Vec<usize> {
    let text = &file.text;
    if file.syntax == Syntax::Json {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let mention = format!("{root}.{name}");
        return text
            .match_indices(&mention)
            .map(|(at, _)| at)
            .filter(|at| {
                let behind = &text[at + mention.len()..];
                !behind.starts_with(part) && !text[..*at].ends_with(|c| part(c) || c == '.')
            })
            .collect();
    }
    let tokens = tokens(text);
    let says = |at: usize, word: &str| {
        tokens
            .get(at)
            .is_some_and(|it| it.class == Class::Identifier && &text[it.range.clone()] == word)
    };
    let is_dot = |at: usize| tokens.get(at).is_some_and(|it| it.class == Class::Dot);
    (0..tokens.len())
        .filter(|at| says(*at, root) && is_dot(at + 1) && says(at + 2, name))
        .filter(|at| at.checked_sub(1).is_none_or(|before| !is_dot(before)))
        .map(|at| tokens[at].range.start)
        .collect()
}

impl Configuration {
    pub(super) fn file(&self, path: &str) -> Option<&SourceFile> {
        let known = || self.folders.values().flatten().find(|file| file.path == path);
        known().or_else(|| self.plain.get(path))
    }
}
