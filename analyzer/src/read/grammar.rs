//! The JSON grammar as a machine that can stop after any byte and go on with the next block.
//!
//! - It checks the whole grammar, in sections that nobody needs too: a damaged file is found
//!   wherever the damage is, with the byte at which it shows.
//! - It holds one bit per open bracket and nothing else.
//! - What is plainly right is read sixty-four bytes at a time; see [`blocks`].

mod blocks;

use super::lanes::plain_run;
use std::fmt;

/// How deep brackets may nest. Later stages walk values recursively; this bound keeps them off
/// the end of the stack.
pub(crate) const MAX_DEPTH: usize = 512;

/// What is wrong with a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Unexpected { found: u8, wanted: &'static str },
    ControlCharacter(u8),
    TooDeep,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found, wanted } => {
                write!(f, "found `{}` where {wanted} was expected", found.escape_ascii())
            }
            Self::ControlCharacter(byte) => {
                write!(f, "a text holds the raw control character 0x{byte:02x}")
            }
            Self::TooDeep => write!(f, "values nest deeper than {MAX_DEPTH} levels"),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// A value, and in a list that was just opened also its end.
    Value,
    FirstItem,
    /// A key, and in an object that was just opened also its end.
    Key,
    FirstKey,
    Colon,
    /// After a value: a comma or the end of what holds it.
    After,
    Text,
    Escape,
    Hex(u8),
    Number(Digits),
    /// The bytes that are left of it, the next one lowest.
    Literal(u32),
    Done,
}

/// Where in a number we are.
#[derive(Clone, Copy, PartialEq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Dot,
    Fraction,
    Exponent,
    ExponentSign,
    Power,
}

impl Digits {
    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power)
    }

    /// Any digit leaves it where it is.
    fn takes_digits(self) -> bool {
        matches!(self, Self::Whole | Self::Fraction | Self::Power)
    }

    /// The place after one more byte; `None` when the byte is no part of the number.
    fn step(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus | Self::Whole, b'0'..=b'9') => Self::Whole,
            (Self::Zero | Self::Whole, b'.') => Self::Dot,
            (Self::Dot | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::ExponentSign,
            (Self::Exponent | Self::ExponentSign | Self::Power, b'0'..=b'9') => Self::Power,
            _ => return None,
        })
    }
}

/// The open brackets: a bit for each, set when it is an object's.
#[derive(Clone, Copy)]
struct Open {
    bits: [u64; MAX_DEPTH / 64],
    depth: usize,
}

impl Open {
    const NONE: Self = Self { bits: [0; MAX_DEPTH / 64], depth: 0 };

    /// The depth must be below the bound.
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64 % self.bits.len(), self.depth % 64);
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the innermost bracket is an object's.
    fn is_object(&self) -> bool {
        let Some(last) = self.depth.checked_sub(1) else { return false };
        self.bits[last / 64 % self.bits.len()] >> (last % 64) & 1 == 1
    }
}

/// The machine for one value.
pub(crate) struct Grammar {
    open: Open,
    state: State,
    /// The text that is being read is a key.
    in_key: bool,
}

impl Grammar {
    pub(crate) fn new() -> Self {
        Self { open: Open::NONE, state: State::Value, in_key: false }
    }

    /// Begins another value.
    pub(crate) fn reset(&mut self) {
        self.open = Open::NONE;
        self.state = State::Value;
    }

    /// True when the input may end here: only a number can be complete without a sign of it.
    pub(crate) fn may_end(&self) -> bool {
        self.open.depth == 0
            && match self.state {
                State::Number(digits) => digits.may_end(),
                State::Done => true,
                _ => false,
            }
    }

    /// Reads on. `Some(n)` when the value ends before byte `n` of the block, `None` when it goes
    /// on in the next block; an error names the byte within this block.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Option<usize>, (usize, Fault)> {
        let (mut at, mut odd_until) = (0, 0);
        while self.state != State::Done {
            if at >= odd_until && self.may_read_blocks(bytes, at) {
                let stop = self.blocks(bytes, at);
                (at, odd_until) = (stop.at, stop.odd_until);
                if self.state == State::Done {
                    break;
                }
            }
            at = match self.state {
                State::Text => self.text(bytes, at)?,
                State::Number(digits) => self.number(bytes, at, digits)?,
                _ => {
                    let Some(&byte) = bytes.get(at) else { return Ok(None) };
                    self.step(byte).map_err(|fault| (at, fault))?;
                    at + 1
                }
            };
            if at == bytes.len() && self.state != State::Done {
                return Ok(None);
            }
        }
        Ok(Some(at))
    }

    /// Reads on inside a text, and on over what most often follows it: a colon behind a key, a
    /// comma and the next key behind a value. Whole objects of texts are read without leaving.
    fn text(&mut self, bytes: &[u8], mut at: usize) -> Result<usize, (usize, Fault)> {
        loop {
            at += plain_run(&bytes[at..]);
            match bytes.get(at) {
                None => return Ok(at),
                Some(b'"') => at += 1,
                Some(b'\\') => {
                    match bytes.get(at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            at += 2;
                            continue;
                        }
                        _ => self.state = State::Escape,
                    }
                    return Ok(at + 1);
                }
                Some(&control) => return Err((at, Fault::ControlCharacter(control))),
            }
            if self.in_key {
                self.in_key = false;
                if bytes.get(at) != Some(&b':') {
                    self.state = State::Colon;
                    return Ok(at);
                }
                at += 1;
                if bytes.get(at) != Some(&b'"') {
                    self.state = State::Value;
                    return Ok(at);
                }
                at += 1;
                continue;
            }
            self.close_value();
            if !(self.in_object() && bytes[at..].starts_with(b",\"")) {
                return Ok(at);
            }
            self.in_key = true;
            self.state = State::Text;
            at += 2;
        }
    }

    fn number(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        mut digits: Digits,
    ) -> Result<usize, (usize, Fault)> {
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii_digit() && digits.takes_digits() {
                at += 1;
                continue;
            }
            match digits.step(byte) {
                Some(next) => digits = next,
                None if digits.may_end() => {
                    self.close_value();
                    return Ok(at);
                }
                None => return Err((at, unexpected(byte, "a digit"))),
            }
            at += 1;
        }
        self.state = State::Number(digits);
        Ok(at)
    }

    /// Takes one byte outside of texts and numbers.
    #[inline]
    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        match self.state {
            State::Escape => {
                self.state = match byte {
                    b'u' => State::Hex(4),
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => State::Text,
                    _ => return Err(unexpected(byte, "an escape")),
                };
                return Ok(());
            }
            State::Hex(left) if byte.is_ascii_hexdigit() => {
                self.state = if left == 1 { State::Text } else { State::Hex(left - 1) };
                return Ok(());
            }
            State::Hex(_) => return Err(unexpected(byte, "a hexadecimal digit")),
            State::Literal(rest) => {
                if rest & 0xff != u32::from(byte) {
                    return Err(unexpected(byte, "true, false or null"));
                }
                match rest >> 8 {
                    0 => self.close_value(),
                    rest => self.state = State::Literal(rest),
                }
                return Ok(());
            }
            _ if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') => return Ok(()),
            _ => {}
        }
        match (self.state, byte) {
            (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close_bracket(),
            (State::Value | State::FirstItem, _) => return self.begin_value(byte),
            (State::Key | State::FirstKey, b'"') => {
                self.in_key = true;
                self.state = State::Text;
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::After, b',') => {
                self.state = if self.in_object() { State::Key } else { State::Value };
            }
            (State::After, b'}') if self.in_object() => self.close_bracket(),
            (State::After, b']') if !self.in_object() => self.close_bracket(),
            (state, _) => return Err(unexpected(byte, self.wanted(state))),
        }
        Ok(())
    }

    fn begin_value(&mut self, byte: u8) -> Result<(), Fault> {
        self.state = match byte {
            b'"' => {
                self.in_key = false;
                State::Text
            }
            b'{' | b'[' => {
                if self.open.depth == MAX_DEPTH {
                    return Err(Fault::TooDeep);
                }
                self.open.push(byte == b'{');
                if byte == b'{' { State::FirstKey } else { State::FirstItem }
            }
            b'-' => State::Number(Digits::Minus),
            b'0' => State::Number(Digits::Zero),
            b'1'..=b'9' => State::Number(Digits::Whole),
            b't' => State::Literal(u32::from_le_bytes(*b"rue\0")),
            b'f' => State::Literal(u32::from_le_bytes(*b"alse")),
            b'n' => State::Literal(u32::from_le_bytes(*b"ull\0")),
            _ => return Err(unexpected(byte, "a value")),
        };
        Ok(())
    }

    fn close_bracket(&mut self) {
        self.open.pop();
        self.close_value();
    }

    fn close_value(&mut self) {
        self.state = if self.open.depth == 0 { State::Done } else { State::After };
    }

    fn in_object(&self) -> bool {
        self.open.is_object()
    }

    fn wanted(&self, state: State) -> &'static str {
        match state {
            State::Key => "a key",
            State::FirstKey => "a key or `}`",
            State::Colon => "`:`",
            State::After if self.in_object() => "`,` or `}`",
            State::After => "`,` or `]`",
            _ => "a value",
        }
    }
}

/// Checks a whole text that should be one JSON value.
pub(crate) fn is_json(text: &[u8]) -> bool {
    let mut grammar = Grammar::new();
    match grammar.feed(text) {
        Ok(Some(end)) => text[end..].iter().all(u8::is_ascii_whitespace),
        Ok(None) => grammar.may_end(),
        Err(_) => false,
    }
}

fn unexpected(found: u8, wanted: &'static str) -> Fault {
    Fault::Unexpected { found, wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &[&str] = &[
        "{}",
        "[]",
        "-0.5e+10",
        r#"{"a":[1,2.0,{"b":null}],"c\u00e9\"":"x\\"}"#,
        " [ true , false ] ",
    ];
    const BAD: &[&str] = &[
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "01",
        "1.",
        "-",
        "tru",
        "nul",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "[}",
        "{]",
        "{1:2}",
        "[1 2]",
        "1e",
        ".5",
        "",
    ];

    #[test]
    fn the_grammar_accepts_json_and_nothing_else() {
        for text in GOOD {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in BAD {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn where_the_blocks_are_cut_makes_no_difference() {
        for text in GOOD.iter().chain(BAD) {
            let mut grammar = Grammar::new();
            let all_taken = text
                .trim()
                .as_bytes()
                .chunks(1)
                .all(|byte| matches!(grammar.feed(byte), Ok(None | Some(1))));
            let good = all_taken && grammar.may_end();
            assert_eq!(good, GOOD.contains(text), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for behind in [0, 100] {
            let deep = "[".repeat(MAX_DEPTH + 1 + behind);
            assert_eq!(Grammar::new().feed(deep.as_bytes()), Err((MAX_DEPTH, Fault::TooDeep)));
            let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH + behind);
            assert_eq!(Grammar::new().feed(deep.as_bytes()), Ok(Some(2 * MAX_DEPTH)));
        }
    }

    /// Where the value ends, or what is wrong and where: with blocks of the given size.
    fn fed(text: &[u8], block: usize) -> Result<Option<usize>, (usize, Fault)> {
        let mut grammar = Grammar::new();
        for (position, bytes) in text.chunks(block).enumerate() {
            let begin = position * block;
            match grammar.feed(bytes) {
                Ok(None) => {}
                Ok(Some(end)) => return Ok(Some(begin + end)),
                Err((at, fault)) => return Err((begin + at, fault)),
            }
        }
        Ok(None)
    }

    /// Any JSON, with and without white space.
    fn json() -> impl Strategy<Value = String> {
        let blank = prop_oneof![3 => Just(""), 1 => "[ \n\r\t]{0,4}".prop_map(|it| &*it.leak())];
        let text = r#"([ -!#-\[\]-~é]{0,9}|(\\\\){0,3}|\\["/bfnrt]|\\u00[0-9a-fA-F]{2}){0,9}"#;
        let leaf = prop_oneof![
            Just("true".to_owned()),
            Just("false".to_owned()),
            Just("null".to_owned()),
            r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?",
            text.prop_map(|it| format!("\"{it}\"")),
        ];
        leaf.prop_recursive(5, 120, 9, move |inner| {
            let items = prop::collection::vec((blank.clone(), inner), 0..9);
            (items, blank.clone(), any::<bool>()).prop_map(|(items, blank, is_object)| {
                let items: Vec<String> = items
                    .iter()
                    .map(|(space, item)| match is_object {
                        true => format!("{space}\"key\"{space}:{space}{item}{space}"),
                        false => format!("{space}{item}{space}"),
                    })
                    .collect();
                let items = items.join(",");
                if is_object { format!("{{{items}{blank}}}") } else { format!("[{items}{blank}]") }
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn blocks_and_bytes_say_the_same_of_json(text in json(), block in 1_usize..300) {
            // Something behind it, so that a number has an end.
            let text = format!("[{text}],{}", " ".repeat(80));
            let plainly = fed(text.as_bytes(), 1);
            prop_assert_eq!(plainly, Ok(Some(text.rfind(']').unwrap_or_default() + 1)));
            prop_assert_eq!(fed(text.as_bytes(), text.len()), plainly);
            prop_assert_eq!(fed(text.as_bytes(), block), plainly);
        }

        #[test]
        fn blocks_and_bytes_say_the_same_of_damage(
            text in json(),
            at in any::<prop::sample::Index>(),
            put in prop::sample::select(&b"{}[]:,\"\\ 0-.eu/tx\n\x01\x7f"[..]),
            how in 0..3,
            block in 1_usize..300,
        ) {
            let mut text = format!("[{text}]").into_bytes();
            let at = at.index(text.len());
            match how {
                0 => text[at] = put,
                1 => text.insert(at, put),
                _ => drop(text.remove(at)),
            }
            text.extend_from_slice(&[b' '; 80]);
            let plainly = fed(&text, 1);
            prop_assert_eq!(fed(&text, text.len()), plainly);
            prop_assert_eq!(fed(&text, block), plainly);
        }
    }
}
