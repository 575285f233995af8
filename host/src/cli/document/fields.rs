//! Reads the fields of a declaration by name and type, and collects every fault on the way.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use proto::{duration, quantity::Quantity, runtimecloud::v1::Amounts};

use super::{Entry, Fault, Node, Value};
use crate::cli::suggest;

/// What was found on the way.
#[derive(Debug, Default)]
pub struct Found {
    pub faults: Vec<Fault>,
    /// Where each field stands, by its path in the API's terms, such as `spec.worker.command`.
    pub places: BTreeMap<String, usize>,
}

/// The fields of one object.
pub struct Fields<'a> {
    path: String,
    at: usize,
    entries: &'a [Entry],
    known: Vec<&'static str>,
    found: &'a mut Found,
}

impl<'a> Fields<'a> {
    /// Reads an object with `read`; what `read` does not ask for is unknown and a fault.
    pub fn read<T>(
        (path, at): (&str, usize),
        entries: &'a [Entry],
        found: &'a mut Found,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> T {
        let mut fields = Fields { path: path.to_owned(), at, entries, known: Vec::new(), found };
        let value = read(&mut fields);
        fields.refuse_unknown();
        value
    }

    fn refuse_unknown(&mut self) {
        for entry in self.entries.iter().filter(|entry| !self.known.contains(&&*entry.name)) {
            let name = &entry.name;
            let message = match suggest::nearest(name, self.known.iter().copied()) {
                Some(near) => format!("`{name}` is not known here; did you mean `{near}`?"),
                None => {
                    let mut known = self.known.clone();
                    known.sort_unstable();
                    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                    format!("`{name}` is not known here; there are {}", known.join(", "))
                }
            };
            self.found.faults.push(Fault::new(entry.at, message));
        }
    }

    pub fn fault(&mut self, at: usize, message: impl Into<String>) {
        self.found.faults.push(Fault::new(at, message));
    }

    /// Where the object begins.
    pub fn at(&self) -> usize {
        self.at
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A field that is given and not null.
    fn node(&mut self, name: &'static str) -> Option<&'a Node> {
        self.known.push(name);
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        let path = if name == "labels" { name.to_owned() } else { self.path_of(name) };
        self.found.places.insert(path, entry.at);
        (!matches!(entry.node.value, Value::Null | Value::Unreadable)).then_some(&entry.node)
    }

    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name && entry.node.value != Value::Null)
    }

    /// A fault unless the field is given.
    pub fn require(&mut self, name: &'static str, example: &str) {
        if !self.has(name) {
            self.fault(self.at, format!("`{name}` is missing; write for example `{example}`"));
        }
    }

    fn wrong(&mut self, name: &str, wanted: &str, node: &Node) {
        let is = node.value.kind();
        self.fault(node.at, format!("`{name}` is {wanted}, not {is}"));
    }

    pub fn text(&mut self, name: &'static str) -> String {
        let Some(node) = self.node(name) else { return String::new() };
        match &node.value {
            Value::Text(text) => text.clone(),
            _ => {
                self.wrong(name, "a string", node);
                String::new()
            }
        }
    }

    /// One of some words, and what it stands for; none if it is not given.
    pub fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let node = self.node(name)?;
        let Value::Text(text) = &node.value else {
            self.wrong(name, "a string", node);
            return None;
        };
        let chosen = words.iter().find(|(word, _)| word == text).map(|(_, it)| *it);
        if chosen.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.fault(node.at, format!("`{name}` is one of {}", words.join(", ")));
        }
        chosen
    }

    pub fn flag(&mut self, name: &'static str) -> bool {
        match self.node(name) {
            Some(Node { value: Value::Bool(flag), .. }) => *flag,
            Some(node) => {
                self.wrong(name, "`true` or `false`", node);
                false
            }
            None => false,
        }
    }

    /// 0 if it is not given.
    pub fn count(&mut self, name: &'static str, range: RangeInclusive<u32>) -> u32 {
        let Some(node) = self.node(name) else { return 0 };
        let (low, high) = (*range.start(), *range.end());
        let count = match &node.value {
            Value::Number(text) => text.parse().ok().filter(|count| range.contains(count)),
            _ => None,
        };
        if count.is_none() {
            self.fault(node.at, format!("`{name}` is a whole number of {low} to {high}"));
        }
        count.unwrap_or(0)
    }

    /// 0 if it is not given.
    pub fn integer(&mut self, name: &'static str, range: RangeInclusive<i32>) -> i32 {
        let Some(node) = self.node(name) else { return 0 };
        let (low, high) = (*range.start(), *range.end());
        let integer = match &node.value {
            Value::Number(text) => text.parse().ok().filter(|integer| range.contains(integer)),
            _ => None,
        };
        if integer.is_none() {
            self.fault(node.at, format!("`{name}` is a whole number of {low} to {high}"));
        }
        integer.unwrap_or(0)
    }

    pub fn duration(&mut self, name: &'static str) -> Option<prost_types::Duration> {
        let node = self.node(name)?;
        let Value::Text(text) = &node.value else {
            self.wrong(name, "a length of time such as \"10s\"", node);
            return None;
        };
        match duration::parse(text) {
            Ok(duration) => Some(to_wire(duration)),
            Err(why) => {
                self.fault(node.at, why);
                None
            }
        }
    }

    /// Strings; absent is none.
    pub fn texts(&mut self, name: &'static str) -> Vec<String> {
        let Some(node) = self.node(name) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            self.wrong(name, "a list of strings", node);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Unreadable => {}
                Value::Text(text) => texts.push(text.clone()),
                _ => self.wrong(name, "a list of strings", item),
            }
        }
        texts
    }

    fn entries(&mut self, name: &'static str, wanted: &str) -> &'a [Entry] {
        match self.node(name) {
            Some(Node { value: Value::Map(entries), .. }) => entries,
            Some(node) => {
                self.wrong(name, wanted, node);
                &[]
            }
            None => &[],
        }
    }

    /// Strings by name; numbers and bools count as what they look like.
    pub fn text_map(&mut self, name: &'static str) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for entry in self.entries(name, "an object of strings") {
            let text = match &entry.node.value {
                Value::Text(text) | Value::Number(text) => text.clone(),
                Value::Bool(flag) => flag.to_string(),
                Value::Unreadable => continue,
                Value::Null | Value::List(_) | Value::Map(_) => {
                    self.wrong(&entry.name, "a string", &entry.node);
                    continue;
                }
            };
            texts.insert(entry.name.clone(), text);
        }
        texts
    }

    /// Amounts by resource.
    pub fn amounts(&mut self, name: &'static str) -> Amounts {
        let mut amounts = BTreeMap::new();
        for entry in self.entries(name, "an object of amounts, such as `{ cpu = \"500m\" }`") {
            if let Some(amount) = self.amount(&entry.name, &entry.node) {
                amounts.insert(entry.name.clone(), amount);
            }
        }
        Amounts { amounts }
    }

    fn amount(&mut self, resource: &str, node: &Node) -> Option<u64> {
        if node.value == Value::Unreadable {
            return None;
        }
        let (Value::Text(text) | Value::Number(text)) = &node.value else {
            self.wrong(resource, "an amount such as \"500m\" or 2", node);
            return None;
        };
        match Quantity::parse(resource, text) {
            Ok(quantity) => Some(quantity.amount),
            Err(error) => {
                self.fault(node.at, error.to_string());
                None
            }
        }
    }

    /// An amount of a resource whose name is not the field's.
    pub fn amount_of(&mut self, resource: &str, name: &'static str) -> Option<u64> {
        let node = self.node(name)?;
        self.amount(resource, node)
    }

    /// Objects by name, each read with `read`, which is told the name.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&str, &mut Fields<'_>) -> T,
    ) -> BTreeMap<String, T> {
        let mut objects = BTreeMap::new();
        let path = self.path_of(name);
        for entry in self.entries(name, "an object of objects") {
            let fields = match &entry.node.value {
                Value::Map(fields) => fields,
                Value::Unreadable => continue,
                _ => {
                    self.wrong(&entry.name, "an object", &entry.node);
                    continue;
                }
            };
            let place = (&*format!("{path}.{}", entry.name), entry.node.at);
            let value = Fields::read(place, fields, self.found, |fields| read(&entry.name, fields));
            objects.insert(entry.name.clone(), value);
        }
        objects
    }

    /// An object, if it is given.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> Option<T> {
        let node = self.node(name)?;
        let Value::Map(entries) = &node.value else {
            self.wrong(name, "an object", node);
            return None;
        };
        Some(Fields::read((&self.path_of(name), node.at), entries, self.found, read))
    }
}

fn to_wire(duration: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}
