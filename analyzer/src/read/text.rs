//! Reading inside a value that is whole and known to be JSON.
//!
//! - Nothing here can fail: the grammar was checked before. On bytes that are no JSON after all,
//!   the functions return something harmless, never panic.
//! - Duplicate keys: the last one wins.

use super::{
    grammar::is_json,
    lanes::{bracket_end, plain_run},
};
use crate::{number::Number, value::Value};
use std::{borrow::Cow, collections::BTreeMap};

/// The text of a JSON string with its quotes. A lone surrogate becomes U+FFFD.
pub(crate) fn decode(raw: &[u8]) -> Cow<'_, str> {
    let inner = raw.strip_prefix(b"\"").unwrap_or(raw);
    unescape(inner.strip_suffix(b"\"").unwrap_or(inner))
}

/// The text between the quotes.
fn unescape(inner: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let mut text = Vec::with_capacity(inner.len());
    let mut at = 0;
    while at < inner.len() {
        let plain = memchr::memchr(b'\\', &inner[at..]).unwrap_or(inner.len() - at);
        text.extend_from_slice(&inner[at..at + plain]);
        at += plain;
        if at < inner.len() {
            at += decode_escape(&inner[at..], &mut text);
        }
    }
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// Decodes the escape at the start of `raw`; the bytes it took.
fn decode_escape(raw: &[u8], text: &mut Vec<u8>) -> usize {
    let plain = match raw.get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'u') => {
            let mut buffer = [0; 4];
            let (character, length) = decode_unicode(raw);
            text.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            return length;
        }
        Some(&other) => other,
        None => return 1,
    };
    text.push(plain);
    2
}

fn decode_unicode(raw: &[u8]) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = raw.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
            let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
        (None, _) => (char::REPLACEMENT_CHARACTER, raw.len()),
    }
}

/// Where the value that begins at `at` ends.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => text_end(bytes, at),
        Some(b'{' | b'[') => bracket_end(bytes, at),
        _ => {
            while bytes.get(at).is_some_and(|byte| !b",]}: \n\r\t".contains(byte)) {
                at += 1;
            }
            at
        }
    }
}

/// Where the text that begins at `at` ends, its quote included.
fn text_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        at += plain_run(&bytes[at..]);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The fields of an object as raw slices, in the order they are written.
pub(crate) fn fields(raw: &[u8]) -> Fields<'_> {
    Fields { raw, at: 0 }
}

/// Walks the fields of an object.
pub(crate) struct Fields<'a> {
    raw: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// The next key; its value must be taken with [`Self::value`] or walked with [`Self::enter`].
    pub(crate) fn key(&mut self) -> Option<Cow<'a, [u8]>> {
        let raw = self.raw;
        let at = skip_space(raw, self.at);
        if !matches!(raw.get(at), Some(b'{' | b',')) {
            return None;
        }
        let begin = skip_space(raw, at + 1);
        if raw.get(begin) != Some(&b'"') {
            return None;
        }
        let end = text_end(raw, begin);
        self.at = skip_space(raw, skip_space(raw, end) + 1);
        let inner = raw.get(begin + 1..end - 1)?;
        Some(match memchr::memchr(b'\\', inner) {
            None => Cow::Borrowed(inner),
            Some(_) => Cow::Owned(unescape(inner).into_owned().into_bytes()),
        })
    }

    /// The value behind the key.
    pub(crate) fn value(&mut self) -> &'a [u8] {
        let begin = self.at;
        self.at = value_end(self.raw, begin);
        self.raw.get(begin..self.at).unwrap_or_default()
    }

    /// The value behind the key, when it is the same object as `other`: found by comparing, which
    /// is quicker than looking for its end.
    pub(crate) fn value_like(&mut self, other: &[u8]) -> Option<&'a [u8]> {
        let rest = self.raw.get(self.at..)?;
        if !other.starts_with(b"{") || !rest.starts_with(other) {
            return None;
        }
        self.at += other.len();
        rest.get(..other.len())
    }

    /// Walks the value behind the key, when it is an object, without looking for its end first.
    pub(crate) fn enter(&mut self, visit: impl FnOnce(&mut Self)) -> bool {
        if self.raw.get(self.at) != Some(&b'{') {
            self.value();
            return false;
        }
        visit(self);
        // Whatever was left: on to the closing bracket.
        while self.key().is_some() {
            self.value();
        }
        self.at = skip_space(self.raw, self.at);
        if self.raw.get(self.at) == Some(&b'{') {
            self.at = skip_space(self.raw, self.at + 1);
        }
        self.at += 1;
        true
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Cow<'a, str>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.key()?;
        let key = match key {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        };
        Some((key, self.value()))
    }
}

/// The items of a list as raw slices.
pub(crate) fn items(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 1;
    std::iter::from_fn(move || {
        at = skip_space(raw, at);
        if raw.first() != Some(&b'[') || at + 1 >= raw.len() {
            return None;
        }
        let end = value_end(raw, at);
        let item = raw.get(at..end)?;
        at = skip_space(raw, end) + 1;
        Some(item)
    })
}

/// The whole value as data.
pub(crate) fn value(raw: &[u8]) -> Value {
    match raw.first() {
        Some(b'{') => {
            let mut object = BTreeMap::new();
            for (key, field) in fields(raw) {
                object.insert(key.into_owned(), value(field));
            }
            Value::Object(object)
        }
        Some(b'[') => Value::List(items(raw).map(value).collect()),
        Some(b'"') => Value::String(decode(raw).into_owned()),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'-' | b'0'..=b'9') => Value::Number(Number::new(&String::from_utf8_lossy(raw))),
        _ => Value::Null,
    }
}

/// The value inside a text that is itself JSON: an object or a list, nothing less.
pub(crate) fn embedded(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    (trimmed.starts_with(['{', '[']) && is_json(trimmed.as_bytes()))
        .then(|| value(trimmed.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_surrogates_are_decoded() {
        assert_eq!(decode(br#""a\u003cb\n\ud83d\ude00\ud800x""#), "a<b\n😀\u{fffd}x");
    }

    #[test]
    fn keys_are_decoded_like_texts() {
        let keys: Vec<String> =
            fields(br#"{"a\"":1,"\u0062":2}"#).map(|(key, _)| key.into_owned()).collect();
        assert_eq!(keys, ["a\"", "b"]);
    }

    #[test]
    fn the_last_of_duplicate_keys_wins() {
        let value = value(br#"{ "a" : 1 , "b":[ {"c":"}"} , -2.5e3 ], "a":true }"#);
        assert_eq!(value.get("a"), Some(&Value::Bool(true)));
        let Some(Value::List(items)) = value.get("b") else { panic!("{value:?}") };
        assert_eq!(items[0].get("c").and_then(Value::as_str), Some("}"));
        assert_eq!(items[1], Value::Number(Number::new("-2500")));
    }

    #[test]
    fn empty_containers_and_spaces_are_read() {
        assert_eq!(value(b"[ ]"), Value::List(Vec::new()));
        assert_eq!(value(b"{ }"), Value::Object(BTreeMap::new()));
        assert_eq!(value(b"[[],{},\"\"]"), value(b"[ [ ] , { } , \"\" ]"));
    }
}
