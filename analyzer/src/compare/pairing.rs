//! Pairs the objects of two streams, and keeps what differs.
//!
//! - Of the first stream only a digest of each object is kept, of the second only what is other.
//! - What has the same address twice in one stream is a fault of it: the first one counts.
//! - An object that goes under one address and comes under another, with the same id, has moved.

use crate::{
    Options, Schemas,
    address::{Address, Mode},
    diff::{Change, diff_by},
    noise::Noise,
    path::{Path, Step},
    redact::{Secrets, unite},
    report::{BlockAddress, NoiseItem, Outside},
    schemas::Schema,
    state::{Object, Receiver, flatmap::typed},
    value::Value,
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    mem,
};

/// Address and deposed id.
type Key = (String, String);

/// Enough of a hash that two values never share it by chance.
type Digest = [u8; 16];

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All objects and the outputs.
    Everything,
    /// Current managed objects that were there before: what counts as changed outside.
    Drift,
}

/// An object of the first stream.
struct Seen {
    digest: Digest,
    /// The second one has it too.
    in_second: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    First,
    Second,
    FirstAgain,
}

/// One object that is not the same on both sides.
pub(crate) struct Difference {
    pub(crate) key: Key,
    pub(crate) block: BlockAddress,
    pub(crate) provider: String,
    pub(crate) moved_from: Option<String>,
    pub(crate) outside: Outside,
    pub(crate) changes: Vec<Change>,
    /// What is sensitive on each side.
    pub(crate) masks: [Value; 2],
}

/// Everything that came of two streams.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) differences: Vec<Difference>,
    pub(crate) noise: Vec<NoiseItem>,
    pub(crate) secrets: Secrets,
    /// How many objects the second one has.
    pub(crate) objects: usize,
    /// How many have an address that was there already.
    pub(crate) doubles: usize,
    /// Some objects do not say what is sensitive.
    pub(crate) without_masks: bool,
}

/// Receives both streams, and the first one again.
pub(super) struct Pairing {
    scope: Scope,
    options: Options,
    phase: Phase,
    /// Of the first.
    digests: BTreeMap<Key, Seen>,
    /// Of the second: what is other than in the first, or not there.
    others: BTreeMap<Key, Object>,
    /// Which of those are in the first.
    changed: BTreeSet<Key>,
    vanished: BTreeMap<Key, Object>,
    found: Found,
}

impl Pairing {
    pub(super) fn new(scope: Scope, options: &Options) -> Self {
        Self {
            scope,
            options: options.clone(),
            phase: Phase::First,
            digests: BTreeMap::new(),
            others: BTreeMap::new(),
            changed: BTreeSet::new(),
            vanished: BTreeMap::new(),
            found: Found::default(),
        }
    }

    pub(super) fn begin_second(&mut self) {
        self.phase = Phase::Second;
    }

    /// The first stream comes again, for the values of what differs. False when none are needed.
    pub(super) fn begin_first_again(&mut self) -> bool {
        self.phase = Phase::FirstAgain;
        !self.changed.is_empty() || self.digests.values().any(|seen| !seen.in_second)
    }

    pub(super) fn finish(mut self) -> Found {
        let appeared = mem::take(&mut self.others);
        let mut appeared: BTreeMap<Key, Object> =
            appeared.into_iter().filter(|(key, _)| !self.changed.contains(key)).collect();
        if self.scope == Scope::Drift {
            // What came by an apply or an import was not changed outside.
            appeared.clear();
        }
        for (from, to) in moves(&self.vanished, &appeared) {
            if let (Some(before), Some(after)) = (self.vanished.remove(&from), appeared.remove(&to))
            {
                self.compare(to, before, after, Some(from.0));
            }
        }
        for (key, object) in mem::take(&mut self.vanished) {
            self.add_whole(key, object, Outside::Deleted);
        }
        for (key, object) in appeared {
            self.add_whole(key, object, Outside::Appeared);
        }
        self.found
    }

    /// An object that is only on one side. Its values are not kept: it is the news by itself.
    fn add_whole(&mut self, key: Key, object: Object, outside: Outside) {
        self.found.differences.push(Difference {
            key,
            block: object.block(),
            provider: object.provider,
            moved_from: None,
            outside,
            changes: vec![Change::of_whole()],
            masks: [object.mask, Value::Bool(false)],
        });
    }

    fn compare(&mut self, key: Key, before: Object, after: Object, moved_from: Option<String>) {
        let schemas = self.options.schemas.clone();
        let schema = schema_of(schemas.as_deref(), &after);
        let (mut left, mut right) = (before.values, after.values);
        match (before.is_flat, after.is_flat) {
            (true, false) => left = typed(&left, &right),
            (false, true) => right = typed(&right, &left),
            _ => {}
        }
        let counts = |kind| self.options.as_drift.contains(&kind);
        let (noise, mut changes): (Vec<_>, Vec<_>) = diff_by(&left, &right, schema)
            .into_iter()
            .partition(|change| change.noise.is_some_and(|kind| !counts(kind)));
        if before.tainted != after.tainted {
            changes.push(Change {
                path: Path(vec![Step::Key("tainted".to_owned())]),
                before: Some(Value::Bool(before.tainted)),
                after: Some(Value::Bool(after.tainted)),
                noise: None,
            });
        }
        let masks = [before.mask, after.mask];
        let mut named: BTreeSet<(Path, Noise)> = noise
            .iter()
            .filter_map(|change| {
                let path = masks.iter().fold(change.path.clone(), Path::cut);
                Some((path, change.noise?))
            })
            .collect();
        if changes.is_empty() && named.is_empty() && masks[0] != masks[1] && moved_from.is_none() {
            named.insert((Path::default(), Noise::SensitivityOnly));
        }
        for (path, kind) in named {
            let (address, path) = (key.0.clone(), path.to_string());
            self.found.noise.push(NoiseItem { address, path, kind });
        }
        if changes.is_empty() && moved_from.is_none() {
            return;
        }
        self.found.differences.push(Difference {
            key,
            block: BlockAddress {
                modules: after.address.modules.into_iter().map(|call| call.name).collect(),
                resource_type: after.address.resource_type,
                name: after.address.name,
                instances: 0,
            },
            provider: after.provider,
            moved_from,
            outside: Outside::Changed,
            changes,
            masks,
        });
    }

    fn first(&mut self, key: Key, object: &Object) {
        match self.digests.entry(key) {
            Entry::Occupied(_) => self.found.doubles += 1,
            Entry::Vacant(place) => {
                place.insert(Seen { digest: digest(object), in_second: false });
            }
        }
    }

    fn second(&mut self, key: Key, object: Object) {
        self.found.objects += 1;
        match self.digests.get_mut(&key) {
            Some(seen) if seen.in_second => self.found.doubles += 1,
            Some(seen) => {
                seen.in_second = true;
                if seen.digest != digest(&object) {
                    self.changed.insert(key.clone());
                    self.others.insert(key, object);
                }
            }
            None => match self.others.entry(key) {
                Entry::Occupied(_) => self.found.doubles += 1,
                Entry::Vacant(place) => drop(place.insert(object)),
            },
        }
    }

    fn first_again(&mut self, key: Key, object: Object) {
        if self.digests.get(&key).is_some_and(|seen| !seen.in_second) {
            self.vanished.entry(key).or_insert(object);
        } else if self.changed.contains(&key)
            && let Some(other) = self.others.remove(&key)
        {
            self.compare(key, object, other, None);
        }
    }

    fn is_of_interest(&self, address: &Address) -> bool {
        self.scope == Scope::Everything
            || (address.mode == Mode::Managed && address.deposed.is_none())
    }
}

impl Receiver for Pairing {
    fn object(&mut self, mut object: Object) {
        if let Some(schema) = schema_of(self.options.schemas.as_deref(), &object) {
            object.mask = unite(object.mask, schema.mask(&object.values));
        }
        if self.phase != Phase::FirstAgain {
            let resource_type = &object.address.resource_type;
            self.found.secrets.learn_marked(resource_type, &object.values, &object.mask);
            self.found.without_masks |= !object.has_mask;
        }
        if !self.is_of_interest(&object.address) {
            return;
        }
        let mut address = object.address.clone();
        let deposed = address.deposed.take().unwrap_or_default();
        let key = (address.to_string(), deposed);
        match self.phase {
            Phase::First => self.first(key, &object),
            Phase::Second => self.second(key, object),
            Phase::FirstAgain => self.first_again(key, object),
        }
    }

    fn output(&mut self, name: &str, value: Value, sensitive: bool) {
        let address = Address::of_output(name);
        let under = |value: Value| Value::Object([("value".to_owned(), value)].into());
        let mask = under(Value::Bool(sensitive));
        let object = Object {
            address,
            provider: String::new(),
            tainted: false,
            values: under(value),
            mask,
            has_mask: true,
            is_flat: false,
        };
        if self.scope == Scope::Everything {
            self.object(object);
        } else if sensitive {
            self.found.secrets.learn_all(&object.values);
        }
    }
}

fn schema_of<'a>(schemas: Option<&'a Schemas>, object: &Object) -> Option<Schema<'a>> {
    // Data sources have schemas of their own.
    if object.address.mode != Mode::Managed {
        return None;
    }
    schemas?.resource(&object.provider, &object.address.resource_type)
}

/// What went under one address and came under another: one object of that type and id each.
fn moves(vanished: &BTreeMap<Key, Object>, appeared: &BTreeMap<Key, Object>) -> Vec<(Key, Key)> {
    fn by_id(objects: &BTreeMap<Key, Object>) -> BTreeMap<(&str, &str), Option<&Key>> {
        let mut found = BTreeMap::new();
        for (key, object) in objects {
            let id = object.values.get("id").and_then(Value::as_str).unwrap_or_default();
            if !id.is_empty() && object.address.mode == Mode::Managed {
                let kind = object.address.resource_type.as_str();
                // An id that two objects share tells nothing.
                found.entry((kind, id)).and_modify(|known| *known = None).or_insert(Some(key));
            }
        }
        found
    }
    let to = by_id(appeared);
    by_id(vanished)
        .into_iter()
        .filter_map(|(id, from)| Some((from?.clone(), (*to.get(&id)?)?.clone())))
        .collect()
}

fn digest(object: &Object) -> Digest {
    let mut hash = Sha256::new();
    hash.update([u8::from(object.tainted), u8::from(object.is_flat)]);
    feed(&object.values, &mut hash);
    feed(&object.mask, &mut hash);
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.finalize()[..16]);
    digest
}

/// Feeds a value so that no two values give the same bytes; spelling counts.
fn feed(value: &Value, hash: &mut Sha256) {
    let text = |mark: u8, text: &str, hash: &mut Sha256| {
        hash.update([mark]);
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(flag) => hash.update([b'b', u8::from(*flag)]),
        Value::Number(number) => text(b'd', number.as_str(), hash),
        Value::String(string) => text(b's', string, hash),
        Value::List(items) => {
            hash.update(b"l");
            hash.update(items.len().to_le_bytes());
            items.iter().for_each(|item| feed(item, hash));
        }
        Value::Object(fields) => {
            hash.update(b"o");
            hash.update(fields.len().to_le_bytes());
            for (key, field) in fields {
                text(b'k', key, hash);
                feed(field, hash);
            }
        }
    }
}
