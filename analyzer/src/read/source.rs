//! A forward-only reader of JSON that holds one block, or one entry when that is larger.
//!
//! - `skip` passes over a value of any size without keeping it; `take` keeps exactly one.
//! - All bytes are checked to be UTF-8, and all values to be JSON.
//! - Offsets in errors count from the start of the input, a byte-order mark and text around the
//!   JSON included.

use super::{
    Limits, ReadError, WrongKind,
    error::ReadError as E,
    grammar::{Fault, Grammar},
};
use std::{io, ops::Range};

const BLOCK: usize = 128 * 1024;

/// How far text in front of the JSON is searched for its beginning.
const WRAPPER_SEARCH: usize = 1024 * 1024;

pub(super) struct Source<R> {
    reader: R,
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
}

impl<R: io::Read> Source<R> {
    pub(super) fn new(reader: R, limits: Limits) -> Self {
        Self {
            reader,
            buffer: vec![0; BLOCK],
            at: 0,
            end: 0,
            checked: 0,
            base: 0,
            ended: false,
            grammar: Grammar::new(),
            limits,
            section: "the top level".to_owned(),
        }
    }

    /// Position of the next unread byte in the input.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Goes to the first `{`, refusing what is not JSON. True when text stood in front of it.
    pub(super) fn open(&mut self) -> Result<bool, ReadError> {
        while self.end < 4 && !self.ended {
            self.read_block(self.at)?;
        }
        match &self.buffer[..self.end] {
            [] => return Err(WrongKind::Empty.into()),
            [b'P', b'K', ..] => return Err(WrongKind::BinaryPlan.into()),
            [0x1f, 0x8b, ..] => return Err(WrongKind::Gzip.into()),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, _, ..] => {
                return Err(WrongKind::Utf16.into());
            }
            [0xef, 0xbb, 0xbf, ..] => self.at = 3,
            _ => {}
        }
        self.check_utf8()?;
        match self.peek()? {
            None => Err(WrongKind::Empty.into()),
            Some(b'{') => Ok(false),
            Some(found) => self.find_wrapped(found).map(|()| true),
        }
    }

    /// Looks for a plan inside other output.
    fn find_wrapped(&mut self, found: u8) -> Result<(), ReadError> {
        let finder = memchr::memmem::Finder::new(b"\"format_version\"");
        while self.end - self.at < WRAPPER_SEARCH && !self.ended {
            self.fill(self.at)?;
        }
        for hit in finder.find_iter(&self.buffer[self.at..self.end]) {
            let before = self.buffer[self.at..self.at + hit].trim_ascii_end();
            if before.last() == Some(&b'{') {
                self.at += before.len() - 1;
                return Ok(());
            }
        }
        Err(E::syntax(self.offset(), Fault::Unexpected { found, wanted: "a plan's `{`" }))
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
            match fed.map_err(|(at, fault)| E::syntax(self.offset() + at as u64, fault))? {
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
            let from = self.offset() + length as u64;
            match fed.map_err(|(at, fault)| E::syntax(from + at as u64, fault))? {
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
        E::CutOff { length: self.base + self.end as u64, section: self.section.clone() }
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
                Err(source) => {
                    return Err(E::Io { offset: self.base + self.end as u64, source });
                }
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
        let offset = self.base + self.checked as u64;
        Err(E::Syntax { offset, reason: "the text is not UTF-8".to_owned() })
    }
}

/// One whole value and where it begins in the input.
pub(super) struct Taken<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: u64,
}
