//! msgpack, token by token: no tree is built, and no memory is taken on the word of a length.

/// One token. Of arrays and maps it is the head; their elements are the tokens after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Nil,
    Bool(bool),
    /// Holds every u64 and i64.
    Int(i128),
    Float(f64),
    Str(&'a str),
    Bin(&'a [u8]),
    Array(usize),
    Map(usize),
    Ext(i8, &'a [u8]),
}

impl Token<'_> {
    /// What it is, for messages.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Nil => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::Bin(_) => "binary data",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Ext(..) => "an unknown value",
        }
    }
}

/// Reads tokens off bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next token; the error says what is wrong with the bytes.
    pub(super) fn next(&mut self) -> Result<Token<'a>, &'static str> {
        let [marker] = self.take_array()?;
        Ok(match marker {
            0x00..=0x7f => Token::Int(marker.into()),
            0x80..=0x8f => Token::Map((marker & 0x0f).into()),
            0x90..=0x9f => Token::Array((marker & 0x0f).into()),
            0xa0..=0xbf => self.string((marker & 0x1f).into())?,
            0xc0 => Token::Nil,
            0xc1 => return Err("a byte that msgpack doesn't use"),
            0xc2 | 0xc3 => Token::Bool(marker == 0xc3),
            0xc4..=0xc6 => {
                let length = self.length(marker - 0xc4)?;
                Token::Bin(self.take(length)?)
            }
            0xc7..=0xc9 => {
                let length = self.length(marker - 0xc7)?;
                self.ext(length)?
            }
            0xca => Token::Float(f32::from_be_bytes(self.take_array()?).into()),
            0xcb => Token::Float(f64::from_be_bytes(self.take_array()?)),
            0xcc => Token::Int(u8::from_be_bytes(self.take_array()?).into()),
            0xcd => Token::Int(u16::from_be_bytes(self.take_array()?).into()),
            0xce => Token::Int(u32::from_be_bytes(self.take_array()?).into()),
            0xcf => Token::Int(u64::from_be_bytes(self.take_array()?).into()),
            0xd0 => Token::Int(i8::from_be_bytes(self.take_array()?).into()),
            0xd1 => Token::Int(i16::from_be_bytes(self.take_array()?).into()),
            0xd2 => Token::Int(i32::from_be_bytes(self.take_array()?).into()),
            0xd3 => Token::Int(i64::from_be_bytes(self.take_array()?).into()),
            0xd4..=0xd8 => self.ext(1 << (marker - 0xd4))?,
            0xd9..=0xdb => {
                let length = self.length(marker - 0xd9)?;
                self.string(length)?
            }
            0xdc | 0xdd => Token::Array(self.length(marker - 0xdc + 1)?),
            0xde | 0xdf => Token::Map(self.length(marker - 0xde + 1)?),
            0xe0..=0xff => Token::Int(i8::from_be_bytes([marker]).into()),
        })
    }

    /// Skips one value whole.
    pub(super) fn skip(&mut self) -> Result<(), &'static str> {
        let mut left: usize = 1;
        while left > 0 {
            left -= 1;
            let more = match self.next()? {
                Token::Array(length) => length,
                Token::Map(length) => length.saturating_mul(2),
                _ => 0,
            };
            left = left.saturating_add(more);
        }
        Ok(())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) =
            self.bytes.split_at_checked(length).ok_or("bytes that end too early")?;
        self.bytes = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)?.try_into().map_err(|_| "bytes that end too early")
    }

    /// A length in 1, 2 or 4 bytes for `width` 0, 1 or 2.
    fn length(&mut self, width: u8) -> Result<usize, &'static str> {
        Ok(match width {
            0 => u8::from_be_bytes(self.take_array()?).into(),
            1 => u16::from_be_bytes(self.take_array()?).into(),
            _ => usize::try_from(u32::from_be_bytes(self.take_array()?))
                .map_err(|_| "a length beyond this machine")?,
        })
    }

    fn string(&mut self, length: usize) -> Result<Token<'a>, &'static str> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(Token::Str).map_err(|_| "a string that is not UTF-8")
    }

    fn ext(&mut self, length: usize) -> Result<Token<'a>, &'static str> {
        let kind = i8::from_be_bytes(self.take_array()?);
        Ok(Token::Ext(kind, self.take(length)?))
    }
}

/// Appends tokens to bytes, each in its shortest form.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn nil(&mut self) {
        self.bytes.push(0xc0);
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.bytes.push(if value { 0xc3 } else { 0xc2 });
    }

    pub(super) fn int(&mut self, value: i64) {
        if let Ok(small) = i8::try_from(value)
            && small >= -32
        {
            self.bytes.extend(small.to_be_bytes());
        } else if let Ok(value) = u8::try_from(value) {
            self.head(0xcc, &value.to_be_bytes());
        } else if let Ok(value) = i8::try_from(value) {
            self.head(0xd0, &value.to_be_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.head(0xd1, &value.to_be_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.head(0xd2, &value.to_be_bytes());
        } else {
            self.head(0xd3, &value.to_be_bytes());
        }
    }

    pub(super) fn str(&mut self, text: &str) {
        self.sized(text.len(), Some((0xa0, 32)), [0xd9, 0xda, 0xdb]);
        self.bytes.extend(text.as_bytes());
    }

    pub(super) fn bin(&mut self, bytes: &[u8]) {
        self.sized(bytes.len(), None, [0xc4, 0xc5, 0xc6]);
        self.bytes.extend(bytes);
    }

    pub(super) fn array(&mut self, length: usize) {
        // There is no one-byte length of arrays and maps; 0xdc with two bytes does.
        self.sized(length, Some((0x90, 16)), [0, 0xdc, 0xdd]);
    }

    pub(super) fn map(&mut self, length: usize) {
        self.sized(length, Some((0x80, 16)), [0, 0xde, 0xdf]);
    }

    pub(super) fn ext(&mut self, kind: i8, payload: &[u8]) {
        if payload.len() == 1 {
            self.bytes.push(0xd4);
        } else {
            self.sized(payload.len(), None, [0xc7, 0xc8, 0xc9]);
        }
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend(payload);
    }

    fn head(&mut self, marker: u8, rest: &[u8]) {
        self.bytes.push(marker);
        self.bytes.extend(rest);
    }

    fn sized(&mut self, length: usize, fixed: Option<(u8, u8)>, markers: [u8; 3]) {
        if let (Ok(short), Some((base, limit))) = (u8::try_from(length), fixed)
            && short < limit
        {
            self.bytes.push(base | short);
        } else if let (Ok(short), true) = (u8::try_from(length), markers[0] != 0) {
            self.head(markers[0], &short.to_be_bytes());
        } else if let Ok(short) = u16::try_from(length) {
            self.head(markers[1], &short.to_be_bytes());
        } else {
            // Messages end at 256 MiB, so four bytes always do.
            self.head(markers[2], &u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        }
    }
}
