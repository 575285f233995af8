//! From text to an address.
//!
//! Keys are decoded with the escapes of the configuration's language and with those of older
//! versions, which quoted keys as Go does.

use super::{Address, Key, Mode, ModuleCall};
use thiserror::Error;

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not the address of a resource: {wanted} is missing, at byte {at}")]
pub struct AddressError {
    /// The byte that does not fit, from 0.
    pub at: usize,
    pub wanted: &'static str,
}

type Parsed<T> = Result<T, AddressError>;

pub(super) fn address(text: &str) -> Parsed<Address> {
    let mut cursor = Cursor { text, at: 0 };
    let modules = cursor.module_calls()?;
    let mut resource_type = cursor.name("a resource type")?;
    cursor.expect(".", "`.` and a name")?;
    let mut name = cursor.name("a name")?;
    let mut mode = Mode::Managed;
    if let Some(special) = Mode::find(&resource_type).filter(|mode| *mode != Mode::Managed)
        && cursor.eat(".")
    {
        mode = special;
        resource_type = std::mem::replace(&mut name, cursor.name("a name")?);
    }
    let key = cursor.key()?;
    let deposed = cursor.deposed()?;
    cursor.end()?;
    Ok(Address { modules, mode, resource_type, name, key, deposed })
}

pub(super) fn module_path(text: &str) -> Parsed<Vec<ModuleCall>> {
    let mut cursor = Cursor { text, at: 0 };
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut calls = Vec::new();
    loop {
        cursor.expect("module.", "`module.`")?;
        calls.push(cursor.module_call()?);
        if !cursor.eat(".") {
            break;
        }
    }
    cursor.end()?;
    Ok(calls)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, wanted: &'static str) -> Parsed<T> {
        Err(AddressError { at: self.at, wanted })
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str, wanted: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.fail(wanted) }
    }

    fn end(&self) -> Parsed<()> {
        if self.rest().is_empty() { Ok(()) } else { self.fail("its end") }
    }

    fn module_calls(&mut self) -> Parsed<Vec<ModuleCall>> {
        let mut calls = Vec::new();
        while self.eat("module.") {
            calls.push(self.module_call()?);
            self.expect(".", "`.` and a resource")?;
        }
        Ok(calls)
    }

    fn module_call(&mut self) -> Parsed<ModuleCall> {
        Ok(ModuleCall { name: self.name("the name of a module")?, key: self.key()? })
    }

    fn name(&mut self, wanted: &'static str) -> Parsed<String> {
        let ends = |c: char| matches!(c, '.' | '[' | ']' | '"' | '(' | ')') || c.is_whitespace();
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        if length == 0 {
            return self.fail(wanted);
        }
        let name = &self.rest()[..length];
        self.at += length;
        Ok(name.to_owned())
    }

    fn key(&mut self) -> Parsed<Option<Key>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let key = if self.eat("\"") {
            Key::Text(self.quoted()?)
        } else if self.eat("*") {
            Key::Unknown
        } else {
            let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
            match self.rest()[..digits].parse() {
                Ok(number) => {
                    self.at += digits;
                    Key::Number(number)
                }
                Err(_) => return self.fail("a number or a quoted key"),
            }
        };
        self.expect("]", "`]`")?;
        Ok(Some(key))
    }

    /// A text up to and with its closing quote.
    fn quoted(&mut self) -> Parsed<String> {
        let mut out = String::new();
        loop {
            let Some(character) = self.rest().chars().next() else {
                return self.fail("the quote at the end of the key");
            };
            match character {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => out.push(self.escape()?),
                _ => {
                    // A doubled sign in front of a brace stands for one.
                    if self.rest().starts_with("$${") || self.rest().starts_with("%%{") {
                        self.at += 1;
                    }
                    out.push(character);
                    self.at += character.len_utf8();
                    if matches!(character, '$' | '%') && self.eat("{") {
                        out.push('{');
                    }
                }
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        const WANTED: &str = "a known escape";
        let rest = self.rest().as_bytes();
        let (plain, digits) = match rest.get(1) {
            Some(b'n') => (Some('\n'), 0),
            Some(b'r') => (Some('\r'), 0),
            Some(b't') => (Some('\t'), 0),
            Some(b'a') => (Some('\u{7}'), 0),
            Some(b'b') => (Some('\u{8}'), 0),
            Some(b'f') => (Some('\u{c}'), 0),
            Some(b'v') => (Some('\u{b}'), 0),
            Some(&same @ (b'"' | b'\\' | b'/')) => (Some(char::from(same)), 0),
            Some(b'x') => (None, 2),
            Some(b'u') => (None, 4),
            Some(b'U') => (None, 8),
            _ => return self.fail(WANTED),
        };
        let coded = || {
            let digits = self.rest().get(2..2 + digits)?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)
        };
        match plain.or_else(coded) {
            Some(character) => {
                self.at += 2 + digits;
                Ok(character)
            }
            None => self.fail(WANTED),
        }
    }

    fn deposed(&mut self) -> Parsed<Option<String>> {
        if !self.eat(" (deposed ") {
            return Ok(None);
        }
        self.eat("object ");
        let id = self.name("the id of the deposed object")?;
        self.expect(")", "`)`")?;
        Ok(Some(id))
    }
}
