//! A forward-only reader of JSON that holds one block, or one entry when that is larger.
//!
//! - `skip` passes over a value of any size without keeping it; `take` keeps exactly one.
//! - All bytes are checked to be UTF-8, and all values to be JSON.
//! - Positions in errors count from the start of the text, a byte-order mark and text around the
//!   JSON included.
//! - What the text is packed in is the [`Envelope`]'s matter.

use super::{
    Limits, ReadError, WrongKind,
    envelope::{Envelope, Position},
    error::ReadError as E,
    grammar::{Fault, Grammar},
};
use std::{
    io::{self, Read as _},
    ops::Range,
};

const BLOCK: usize = 128 * 1024;

/// How far text in front of the first document is searched for its beginning.
const WRAPPER_SEARCH: u64 = 16 * 1024 * 1024;

/// Enough to see a document's first key.
const FIRST_KEY: usize = 96;

/// The keys by which a document is found in other text: any of them may be the first, for some
/// tools sort.
const KEYS: &[&str] = &[
    "@caller",
    "@level",
    "@message",
    "@module",
    "@timestamp",
    "action_invocations",
    "applyable",
    "checks",
    "complete",
    "configuration",
    "deferred_action_invocations",
    "deferred_changes",
    "encrypted_data",
    "encryption_version",
    "errored",
    "format_version",
    "lineage",
    "output_changes",
    "plan_format_version",
    "planned_values",
    "prior_state",
    "provider_format_version",
    "provider_schemas",
    "relevant_attributes",
    "resource_changes",
    "resource_drift",
    "serial",
    "terraform_version",
    "version",
];

pub(super) struct Source<R> {
    reader: Envelope<R>,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[at..end]`.
    at: usize,
    end: usize,
    /// Up to here the buffer is known to be UTF-8.
    checked: usize,
    /// Position of `buffer[0]` in the input.
    base: u64,
    ended: bool,
    grammar: Grammar,
    limits: Limits,
    /// What we are in, for messages.
    pub(super) section: String,
    /// Other text stood around the documents.
    pub(super) wrapped: bool,
}

impl<R: io::Read> Source<R> {
    pub(super) fn new(reader: R, limits: Limits) -> Self {
        Self {
            reader: Envelope::new(reader),
            buffer: vec![0; BLOCK],
            at: 0,
            end: 0,
            checked: 0,
            base: 0,
            ended: false,
            grammar: Grammar::new(),
            limits,
            section: "the top level".to_owned(),
            wrapped: false,
        }
    }

    /// Position of the next unread byte.
    pub(super) fn offset(&self) -> Position {
        self.position(self.at)
    }

    /// Position of a byte of the buffer.
    fn position(&self, at: usize) -> Position {
        Position { byte: self.base + at as u64, text: self.reader.text() }
    }

    /// Goes to the first document, refusing what is no JSON.
    pub(super) fn open(&mut self) -> Result<(), ReadError> {
        while self.end < 4 && !self.ended {
            self.read_block(self.at)?;
        }
        match &self.buffer[..self.end] {
            [] => return Err(WrongKind::Empty.into()),
            [b'P', b'K', ..] => return Err(WrongKind::BinaryPlan.into()),
            [0xef, 0xbb, 0xbf, ..] => self.at = 3,
            _ => {}
        }
        self.check_utf8()?;
        let found = match self.peek()? {
            None => return Err(WrongKind::Empty.into()),
            Some(b'{') => return Ok(()),
            Some(found) => found,
        };
        let from = self.offset();
        self.wrapped = true;
        if self.find_document(from.byte + WRAPPER_SEARCH)? {
            return Ok(());
        }
        Err(E::syntax(from, Fault::Unexpected { found, wanted: "a plan's `{`" }))
    }

    /// Behind a document: goes on to the next one. False when there is none.
    pub(super) fn next(&mut self) -> Result<bool, ReadError> {
        self.section = "the end".to_owned();
        match self.peek()? {
            None => return Ok(false),
            Some(b'{') if self.is_document()? => return Ok(true),
            Some(b'{' | b'[') if !self.wrapped => {
                return Err(WrongKind::SeveralDocuments.into());
            }
            // Wrappers print lines behind the JSON too.
            Some(_) => self.wrapped = true,
        }
        self.find_document(u64::MAX)
    }

    /// Behind an event: goes on to the next one. False at the end, or at a document of another kind.
    pub(super) fn next_event(&mut self) -> Result<bool, ReadError> {
        match self.peek()? {
            None => Ok(false),
            Some(b'{') if self.is_event()? => Ok(true),
            Some(_) => {
                self.wrapped |= !self.is_document()?;
                Ok(self.find_document(u64::MAX)? && self.is_event()?)
            }
        }
    }

    /// Takes no more of the input.
    pub(super) fn give_up(&mut self) {
        (self.at, self.ended) = (self.end, true);
    }

    /// True when the object that begins here is an event of a stream.
    pub(super) fn is_event(&mut self) -> Result<bool, ReadError> {
        Ok(self.is_document()? && self.first_key().starts_with(b"@"))
    }

    /// Goes to the next document inside other text that begins before `bound`. Without one, the
    /// text is passed over.
    pub(super) fn find_document(&mut self, bound: u64) -> Result<bool, ReadError> {
        loop {
            let hit = memchr::memchr(b'{', &self.buffer[self.at..self.end]);
            self.at = hit.map_or(self.end, |hit| self.at + hit);
            if self.offset().byte >= bound {
                return Ok(false);
            }
            match hit {
                Some(_) if self.is_document()? => return Ok(true),
                Some(_) => self.at += 1,
                None if self.ended => return Ok(false),
                None => self.fill(self.at)?,
            }
        }
    }

    /// True when the object that begins here has a known key in front.
    fn is_document(&mut self) -> Result<bool, ReadError> {
        while self.end - self.at < FIRST_KEY && !self.ended {
            self.fill(self.at)?;
        }
        let key = self.first_key();
        Ok(KEYS.iter().any(|known| known.as_bytes() == key))
    }

    /// The first key of the object that begins here, as far as it was read.
    fn first_key(&self) -> &[u8] {
        let seen = &self.buffer[self.at..self.end.min(self.at + FIRST_KEY)];
        let inner = seen.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
        let key = inner.strip_prefix(b"\"").unwrap_or_default();
        key.split(|&byte| byte == b'"').next().unwrap_or_default()
    }

    /// The next byte that is not white space, unread; `None` at the end of the input.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            while self.at < self.end {
                match self.buffer[self.at] {
                    b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                    byte => return Ok(Some(byte)),
                }
            }
            if self.ended {
                return Ok(None);
            }
            self.fill(self.at)?;
        }
    }

    /// Takes one byte of punctuation.
    fn expect(&mut self, wanted: u8, name: &'static str) -> Result<(), ReadError> {
        match self.peek()? {
            Some(found) if found == wanted => {
                self.at += 1;
                Ok(())
            }
            Some(found) => Err(E::syntax(self.offset(), Fault::Unexpected { found, wanted: name })),
            None => Err(self.cut_off()),
        }
    }

    /// Passes over one value.
    pub(super) fn skip(&mut self) -> Result<(), ReadError> {
        self.peek()?;
        self.grammar.reset();
        loop {
            let fed = self.grammar.feed(&self.buffer[self.at..self.end]);
            match fed.map_err(|(at, fault)| E::syntax(self.position(self.at + at), fault))? {
                Some(length) => {
                    self.at += length;
                    return Ok(());
                }
                None => self.at = self.end,
            }
            if self.ended {
                return if self.grammar.may_end() { Ok(()) } else { Err(self.cut_off()) };
            }
            self.fill(self.at)?;
        }
    }

    /// Takes one value whole, however many blocks it spans.
    pub(super) fn take(&mut self) -> Result<Taken<'_>, ReadError> {
        self.peek()?;
        self.grammar.reset();
        let mut length = 0;
        loop {
            let fed = self.grammar.feed(&self.buffer[self.at + length..self.end]);
            let from = self.at + length;
            match fed.map_err(|(at, fault)| E::syntax(self.position(from + at), fault))? {
                Some(more) => {
                    length += more;
                    break;
                }
                None => length = self.end - self.at,
            }
            if self.ended {
                if self.grammar.may_end() {
                    break;
                }
                return Err(self.cut_off());
            }
            if length > self.limits.entry_bytes_max {
                return Err(E::TooLarge {
                    section: self.section.clone(),
                    limit: self.limits.entry_bytes_max,
                    offset: self.offset(),
                });
            }
            self.fill(self.at)?;
        }
        let (offset, range) = (self.offset(), self.at..self.at + length);
        self.at += length;
        Ok(Taken { bytes: &self.buffer[range], offset })
    }

    /// Walks an object: `visit` gets each key and must take or skip the value.
    pub(super) fn object(
        &mut self,
        mut visit: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.expect(b'{', "an object")?;
        if self.peek()? == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if let Some(found) = self.peek()?
                && found != b'"'
            {
                let fault = Fault::Unexpected { found, wanted: "a key" };
                return Err(E::syntax(self.offset(), fault));
            }
            let key = super::text::decode(self.take()?.bytes).into_owned();
            self.expect(b':', "`:`")?;
            visit(self, &key)?;
            match self.peek()? {
                Some(b',') => self.at += 1,
                _ => return self.expect(b'}', "`,` or `}`"),
            }
        }
    }

    /// Walks a list; `visit` must take or skip the item, whose position is given.
    pub(super) fn list(
        &mut self,
        mut visit: impl FnMut(&mut Self, usize) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.expect(b'[', "a list")?;
        if self.peek()? == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        for position in 0.. {
            visit(self, position)?;
            match self.peek()? {
                Some(b',') => self.at += 1,
                _ => break,
            }
        }
        self.expect(b']', "`,` or `]`")
    }

    fn cut_off(&self) -> ReadError {
        E::CutOff { offset: self.position(self.end), section: self.section.clone() }
    }

    /// Reads one block behind what is kept from `keep` on.
    fn fill(&mut self, keep: usize) -> Result<(), ReadError> {
        self.read_block(keep)?;
        self.check_utf8()
    }

    fn read_block(&mut self, keep: usize) -> Result<(), ReadError> {
        let kept = self.end - keep;
        // A character may be cut by the block's end: the bytes not checked yet stay too.
        let keep = keep.min(self.checked);
        self.move_to_front(keep..self.end);
        if self.buffer.len() > 2 * BLOCK && kept < BLOCK / 2 {
            self.buffer.truncate(BLOCK);
            self.buffer.shrink_to(BLOCK);
        } else if self.end + BLOCK / 2 > self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Packed text that ends too early.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(self.cut_off());
                }
                Err(source) => return Err(E::Io { offset: self.position(self.end), source }),
            }
            return Ok(());
        }
    }

    fn move_to_front(&mut self, range: Range<usize>) {
        let (start, length) = (range.start, range.len());
        if start > 0 {
            self.buffer.copy_within(range, 0);
            self.base += start as u64;
            self.at -= start;
            self.checked -= start;
            self.end = length;
        }
    }

    fn check_utf8(&mut self) -> Result<(), ReadError> {
        let Err(error) = str::from_utf8(&self.buffer[self.checked..self.end]) else {
            self.checked = self.end;
            return Ok(());
        };
        self.checked += error.valid_up_to();
        if error.error_len().is_none() && !self.ended {
            return Ok(());
        }
        let offset = self.position(self.checked);
        Err(E::Syntax { offset, reason: "the text is not UTF-8".to_owned() })
    }
}

/// One whole value and where it begins in the input.
pub(super) struct Taken<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: Position,
}
