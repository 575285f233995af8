//! What an input may be packed in: gzip and UTF-16, taken off while it is read.
//!
//! - What comes out is text that should be UTF-8; a byte-order mark of UTF-8 is left in.
//! - Nothing is unpacked ahead of the reader, so a small file that holds a huge one costs time and
//!   no memory.
//! - Plain text is handed through; only its first bytes are looked at.

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE};
use flate2::read::MultiGzDecoder;
use std::{
    fmt,
    io::{self, Chain, Cursor, Read},
    mem,
};

/// How many bytes tell what an input is.
const HEAD: usize = 4;

/// Compressed or wide text is read in blocks of this size.
const BLOCK: usize = 32 * 1024;

/// What bytes are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Text {
    /// The input itself.
    #[default]
    Input,
    /// What gzip was taken off.
    Unpacked,
    /// What was UTF-16 and is now UTF-8, perhaps unpacked before.
    Decoded,
}

/// A byte of an input, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub byte: u64,
    pub text: Text,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.byte)?;
        match self.text {
            Text::Input => Ok(()),
            Text::Unpacked => f.write_str(" of the unpacked text"),
            Text::Decoded => f.write_str(" of the text as UTF-8"),
        }
    }
}

/// A reader whose first bytes were looked at.
type Begun<R> = Chain<Cursor<Vec<u8>>, R>;

/// An input without what it is packed in.
pub(super) enum Envelope<R> {
    Closed(R),
    Plain(Charset<Begun<R>>),
    Gzip(Box<Charset<MultiGzDecoder<Begun<R>>>>),
    /// Reading failed while it was opened.
    Lost,
}

impl<R: Read> Envelope<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::Closed(reader)
    }

    /// What the bytes that come out are counted in.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::Plain(Charset::Wide(_)) => Text::Decoded,
            Self::Gzip(inner) if matches!(**inner, Charset::Wide(_)) => Text::Decoded,
            Self::Gzip(_) => Text::Unpacked,
            Self::Closed(_) | Self::Plain(_) | Self::Lost => Text::Input,
        }
    }

    fn open(&mut self) -> io::Result<()> {
        if let Self::Closed(reader) = mem::replace(self, Self::Lost) {
            let (head, begun) = begin(reader)?;
            *self = if head.starts_with(&[0x1f, 0x8b]) {
                Self::Gzip(Box::new(Charset::Closed(MultiGzDecoder::new(begun))))
            } else {
                Self::Plain(Charset::Closed(begun))
            };
        }
        Ok(())
    }
}

impl<R: Read> Read for Envelope<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(text) => text.read(buffer),
            Self::Gzip(text) => text.read(buffer),
            Self::Closed(_) => {
                self.open()?;
                self.read(buffer)
            }
            Self::Lost => Ok(0),
        }
    }
}

/// Reads the first bytes and puts them back.
fn begin<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, Begun<R>)> {
    let mut head = Vec::with_capacity(HEAD);
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

/// Text in UTF-8 or UTF-16.
pub(super) enum Charset<R> {
    Closed(R),
    Narrow(Begun<R>),
    Wide(Box<Wide<Begun<R>>>),
    Lost,
}

impl<R: Read> Charset<R> {
    fn open(&mut self) -> io::Result<()> {
        if let Self::Closed(reader) = mem::replace(self, Self::Lost) {
            let (head, begun) = begin(reader)?;
            *self = match utf16(&head) {
                Some(encoding) => Self::Wide(Box::new(Wide::new(begun, encoding))),
                None => Self::Narrow(begun),
            };
        }
        Ok(())
    }
}

impl<R: Read> Read for Charset<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Narrow(text) => text.read(buffer),
            Self::Wide(text) => text.read(buffer),
            Self::Closed(_) => {
                self.open()?;
                self.read(buffer)
            }
            Self::Lost => Ok(0),
        }
    }
}

/// JSON begins with two ASCII characters, so without a mark the zeros tell.
fn utf16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [first, 0, ..] if *first != 0 => Some(UTF_16LE),
        [0, second, ..] if *second != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// UTF-16 on its way to UTF-8.
pub(super) struct Wide<R> {
    reader: R,
    decoder: Decoder,
    block: Vec<u8>,
    /// Bytes not decoded yet are `block[at..end]`.
    at: usize,
    end: usize,
    ended: bool,
    finished: bool,
}

impl<R: Read> Wide<R> {
    fn new(reader: R, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder_with_bom_removal();
        let block = vec![0; BLOCK];
        Self { reader, decoder, block, at: 0, end: 0, ended: false, finished: false }
    }
}

impl<R: Read> Read for Wide<R> {
    /// The buffer must hold a few characters at least.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.finished {
            if self.at == self.end && !self.ended {
                (self.at, self.end) = (0, self.reader.read(&mut self.block)?);
                self.ended = self.end == 0;
            }
            let left = &self.block[self.at..self.end];
            let decode = Decoder::decode_to_utf8_without_replacement;
            let (result, read, written) = decode(&mut self.decoder, left, buffer, self.ended);
            self.at += read;
            match result {
                // Half a character at the end is a text that was cut.
                DecoderResult::Malformed(..) if self.ended => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                DecoderResult::Malformed(..) => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-16"));
                }
                DecoderResult::InputEmpty => self.finished = self.ended,
                DecoderResult::OutputFull => return Ok(written),
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}
