//! Everything that is sensitive in a plan, and how to keep it out of a report.
//!
//! - A mask covers only the path it marks; the same text often stands elsewhere without a mark.
//!   So each masked text is a secret wherever it occurs, inside longer texts too.
//! - Texts shorter than [`SHORTEST`] are hidden by path only: `true` or `eu-1` somewhere behind a
//!   mask must not blank every report.
//! - Where sensitive attributes stand is kept by resource type, so that configuration which sets
//!   them can be hidden whatever it says there.
//! - A secret that was seen can only be hidden, never printed: [`Secrets`] has no reader.

use crate::{
    address::Address,
    path::{Path, Step},
    report::Shown,
    value::Value,
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Bound,
};

/// Texts from this many bytes on are secrets wherever they stand.
pub const SHORTEST: usize = 6;

/// Of longer secrets only the beginning is kept; where it occurs, the rest of the text is hidden.
const LONGEST: usize = 4096;

/// Lines of a secret with several lines are secrets of their own from this length on,
const SHORTEST_LINE: usize = 12;

/// as long as they stand in so many bytes at its beginning: a plan may hold whole files.
const LINES_BYTES_MAX: usize = 64 * 1024;

/// What stands in place of a secret.
pub const PLACEHOLDER: &str = "(sensitive)";

/// The texts that must not be printed.
#[derive(Clone, Default)]
pub struct Secrets {
    texts: BTreeSet<Box<str>>,
    /// A bit for each pair of bytes that a secret begins with: most places of a text are no
    /// beginning, and need no search.
    beginnings: Vec<u64>,
    /// By resource type: the keys that lead to what is marked, positions in lists left out.
    attributes: BTreeMap<String, BTreeSet<Vec<String>>>,
}

/// The word and the bit of a pair of bytes.
fn beginning(text: &[u8]) -> Option<(usize, u64)> {
    let pair = u16::from_le_bytes(*text.first_chunk()?);
    Some((usize::from(pair >> 6), 1 << (pair & 63)))
}

/// At most so many bytes of a text.
fn beginning_of(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.texts.len())
    }
}

impl Secrets {
    /// Remembers what `mask` marks in `value`.
    pub fn learn(&mut self, value: &Value, mask: &Value) {
        match (value, mask) {
            (_, Value::Bool(true)) => self.learn_all(value),
            (Value::Object(fields), Value::Object(masks)) => {
                for (key, mask) in masks {
                    if let Some(field) = fields.get(key) {
                        self.learn(field, mask);
                    }
                }
            }
            (Value::List(items), Value::List(masks)) => {
                for (item, mask) in items.iter().zip(masks) {
                    self.learn(item, mask);
                }
            }
            _ => {}
        }
    }

    /// Remembers every text and number in `value`.
    pub fn learn_all(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.learn_text(text),
            Value::Number(number) => self.add(number.as_str()),
            Value::List(items) => items.iter().for_each(|item| self.learn_all(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.learn_all(field)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Remembers what `mask` marks in a resource's values, and where it stands.
    pub(crate) fn learn_marked(&mut self, resource_type: &str, values: &Value, mask: &Value) {
        self.learn(values, mask);
        self.learn_places(resource_type, mask, &mut Vec::new());
    }

    fn learn_places<'a>(
        &mut self,
        resource_type: &str,
        mask: &'a Value,
        path: &mut Vec<Cow<'a, [u8]>>,
    ) {
        match mask {
            Value::Bool(true) => self.learn_attribute(resource_type, path),
            Value::List(masks) => {
                masks.iter().for_each(|mask| self.learn_places(resource_type, mask, path));
            }
            Value::Object(masks) => {
                for (key, mask) in masks {
                    path.push(Cow::Borrowed(key.as_bytes()));
                    self.learn_places(resource_type, mask, path);
                    path.pop();
                }
            }
            Value::Null | Value::Bool(false) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Remembers that the attribute at the end of `keys` is sensitive.
    pub(crate) fn learn_attribute(&mut self, resource_type: &str, keys: &[Cow<'_, [u8]>]) {
        let keys = keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        match self.attributes.get_mut(resource_type) {
            Some(known) => drop(known.insert(keys)),
            None => drop(self.attributes.insert(resource_type.to_owned(), [keys].into())),
        }
    }

    /// Remembers what another one does.
    pub(crate) fn take_over(&mut self, other: Self) {
        if self.texts.is_empty() && self.attributes.is_empty() {
            *self = other;
            return;
        }
        self.texts.extend(other.texts);
        self.beginnings.resize(self.beginnings.len().max(other.beginnings.len()), 0);
        for (word, others) in self.beginnings.iter_mut().zip(other.beginnings) {
            *word |= others;
        }
        for (kind, paths) in other.attributes {
            self.attributes.entry(kind).or_default().extend(paths);
        }
    }

    /// The sensitive attributes of a resource type, each as the keys that lead to it.
    pub(crate) fn attributes(&self, resource_type: &str) -> impl Iterator<Item = &[String]> {
        self.attributes.get(resource_type).into_iter().flatten().map(Vec::as_slice)
    }

    fn learn_text(&mut self, text: &str) {
        self.add(text);
        if !text.contains(['\\', '"', ' ', '\n', '\r', '\t']) {
            return;
        }
        self.add(text.trim());
        // As it stands inside a JSON document or in configuration.
        let escaped = beginning_of(text, LONGEST)
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
        self.add(&escaped);
        let lines = beginning_of(text, LINES_BYTES_MAX).lines();
        for line in lines.filter(|line| line.trim().len() >= SHORTEST_LINE) {
            self.add(line.trim());
        }
    }

    fn add(&mut self, text: &str) {
        if text.len() >= SHORTEST && !self.texts.contains(text) {
            self.texts.insert(beginning_of(text, LONGEST).into());
            self.beginnings.resize(1024, 0);
            if let Some((word, bit)) = beginning(text.as_bytes()) {
                self.beginnings[word] |= bit;
            }
        }
    }

    /// The text without its secrets, or `None` when it holds none.
    pub fn conceal(&self, text: &str) -> Option<String> {
        let mut shown = String::new();
        let mut copied = 0;
        let mut at = 0;
        while !self.texts.is_empty() && at + SHORTEST <= text.len() {
            let may_begin = beginning(&text.as_bytes()[at..])
                .is_some_and(|(word, bit)| self.beginnings[word] & bit != 0);
            let rest = if may_begin { text.get(at..) } else { None };
            match rest.and_then(|rest| self.longest_prefix(rest)) {
                Some(length) => {
                    shown.push_str(&text[copied..at]);
                    shown.push_str(PLACEHOLDER);
                    at += length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        (copied > 0).then(|| {
            shown.push_str(&text[copied..]);
            shown
        })
    }

    /// How much of the start of `text` the longest secret covers.
    fn longest_prefix(&self, text: &str) -> Option<usize> {
        let window = text.as_bytes().get(..SHORTEST)?;
        // Cut inside a character: secrets are whole texts, so step back to its beginning.
        let from = &text[..text.floor_char_boundary(SHORTEST)];
        self.texts
            .range::<str, _>((Bound::Included(from), Bound::Unbounded))
            .take_while(|secret| secret.as_bytes()[..from.len()] == window[..from.len()])
            .filter(|secret| text.starts_with(secret.as_ref()))
            .map(|secret| if secret.len() + 4 > LONGEST { text.len() } else { secret.len() })
            .max()
    }

    /// The value as it may be printed: what `mask` marks and what is known to be secret is gone.
    pub fn show(&self, value: &Value, mask: &Value) -> Shown {
        match (value, mask) {
            (Value::Null, _) => Shown::Null,
            (_, Value::Bool(true)) => Shown::Sensitive,
            (Value::Bool(flag), _) => Shown::Bool(*flag),
            (Value::Number(number), _) if self.texts.contains(number.as_str()) => Shown::Sensitive,
            (Value::Number(number), _) => Shown::Number(number.as_str().to_owned()),
            (Value::String(text), _) => match self.conceal(text) {
                Some(concealed) if concealed == PLACEHOLDER => Shown::Sensitive,
                Some(concealed) => Shown::Concealed(concealed),
                None => Shown::String(text.clone()),
            },
            (Value::List(items), _) => Shown::List(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.show(item, item_mask(mask, index)))
                    .collect(),
            ),
            (Value::Object(fields), _) => Shown::Object(
                fields
                    .iter()
                    .map(|(key, field)| {
                        (self.text(key), self.show(field, mask.get(key).unwrap_or(&Value::Null)))
                    })
                    .collect::<BTreeMap<_, _>>(),
            ),
        }
    }

    /// A text as it may be printed.
    pub fn text(&self, text: &str) -> String {
        self.conceal(text).unwrap_or_else(|| text.to_owned())
    }

    /// A path as it may be printed: its keys may come from data.
    pub fn path(&self, path: &Path) -> String {
        let steps = path.0.iter().map(|step| match step {
            Step::Key(key) => Step::Key(self.text(key)),
            Step::Index(index) => Step::Index(*index),
        });
        Path(steps.collect()).to_string()
    }

    /// An address as it may be printed. Names in it come from the configuration's code
    /// and are no secrets; keys between quotes come from data.
    pub fn address(&self, address: &str) -> String {
        if !address.contains('[') {
            return address.to_owned();
        }
        let Ok(parsed) = Address::parse(address) else { return self.text(address) };
        let mut hidden = false;
        let shown = parsed.map_keys(|key| match self.conceal(&key) {
            Some(concealed) => {
                hidden = true;
                concealed
            }
            None => key,
        });
        if hidden { shown.to_string() } else { address.to_owned() }
    }
}

fn item_mask(mask: &Value, index: usize) -> &Value {
    match mask {
        Value::List(masks) => masks.get(index).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}

/// The part of a mask that belongs to the value at `path`: `true` when a parent is marked.
pub fn mask_at(mask: &Value, path: &Path) -> Value {
    let mut steps = path.clone();
    loop {
        match steps.find(mask) {
            Some(Value::Bool(true)) => return Value::Bool(true),
            Some(found) if steps == *path => return found.clone(),
            _ => {}
        }
        if steps.0.pop().is_none() {
            return Value::Bool(false);
        }
    }
}

/// The mask that marks what either of two marks.
pub(crate) fn unite(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Bool(true), _) | (_, Value::Bool(true)) => Value::Bool(true),
        (Value::Object(mut left), Value::Object(right)) => {
            for (key, mask) in right {
                let merged = match left.remove(&key) {
                    Some(other) => unite(other, mask),
                    None => mask,
                };
                left.insert(key, merged);
            }
            Value::Object(left)
        }
        (Value::List(left), Value::List(mut right)) => {
            let mut left = left;
            if left.len() < right.len() {
                std::mem::swap(&mut left, &mut right);
            }
            let mut right = right.into_iter();
            Value::List(
                left.into_iter()
                    .map(|mask| match right.next() {
                        Some(other) => unite(mask, other),
                        None => mask,
                    })
                    .collect(),
            )
        }
        (left @ (Value::Object(_) | Value::List(_)), _) => left,
        (_, right) => right,
    }
}

/// True when a name says that its value is secret: all there is to go by when a plan has no masks.
pub fn sounds_secret(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "access_key",
        "api_key",
        "apikey",
        "connection_string",
        "credential",
        "passphrase",
        "passwd",
        "password",
        "private_key",
        "secret",
        "token",
    ];
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A mask made of names alone.
pub fn mask_by_names(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| {
                    let mask =
                        if sounds_secret(key) { Value::Bool(true) } else { mask_by_names(field) };
                    (key.clone(), mask)
                })
                .collect(),
        ),
        Value::List(items) => Value::List(items.iter().map(mask_by_names).collect()),
        _ => Value::Bool(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(texts: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for text in texts {
            secrets.learn_all(&Value::String((*text).to_owned()));
        }
        secrets
    }

    #[test]
    fn a_secret_is_hidden_inside_longer_texts() {
        let secrets = secrets(&["hunter2", "hunter2-long", "abc", "pä\"sswörd"]);
        for (text, shown) in [
            ("postgres://u:hunter2@db", "postgres://u:(sensitive)@db"),
            ("xhunter2-longx", "x(sensitive)x"),
            ("abc", "abc"),
            (r#"{"p":"pä\"sswörd"}"#, r#"{"p":"(sensitive)"}"#),
            ("é hunter hunter2", "é hunter (sensitive)"),
        ] {
            assert_eq!(secrets.text(text), shown);
        }
    }

    #[test]
    fn lines_of_a_key_are_secrets_too() {
        let secrets = secrets(&["-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n"]);
        assert_eq!(secrets.text("  MIIEvQIBADANBgkq"), "  (sensitive)");
    }

    #[test]
    fn of_a_huge_secret_nothing_is_left() {
        let huge = "k".repeat(3 * LONGEST) + "tail";
        assert_eq!(secrets(&[&huge]).text(&huge), PLACEHOLDER);
    }

    #[test]
    fn of_many_lines_only_the_first_are_kept() {
        let file: String =
            (0..100_000).map(|line| format!("a line with number {line}\n")).collect();
        let secrets = secrets(&[&file]);
        assert!(secrets.texts.len() < 5_000, "{secrets:?}");
        assert_eq!(secrets.text("> a line with number 1000"), "> (sensitive)");
    }

    #[test]
    fn only_quoted_keys_of_an_address_are_hidden() {
        let secrets = secrets(&["worker"]);
        assert_eq!(
            secrets.address("module.worker[\"worker\"].pool.worker"),
            "module.worker[\"(sensitive)\"].pool.worker"
        );
    }

    #[test]
    fn a_key_is_hidden_whatever_is_quoted_in_it() {
        let secrets = secrets(&["half\"]other"]);
        assert_eq!(secrets.address(r#"a.b["half\"]other"]"#), r#"a.b["(sensitive)"]"#);
        assert_eq!(secrets.address(r#"a.b["\u0068alf\"]other"]"#), r#"a.b["(sensitive)"]"#);
    }
}
