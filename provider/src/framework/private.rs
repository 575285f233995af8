//! What a provider keeps with an object for itself: stored beside its state, and shown to nobody.
//!
//! Holds: what no operation touches stays as it is, byte for byte, whoever wrote it. What a plan
//! writes reaches its apply, and the plan that Terraform makes again before it (from 1.16 on).

use super::{Diagnostics, Path};
use serde_json::{Map, Value as Json};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// More bytes than these, as JSON, are not kept: every plan and every state carries them.
pub const PRIVATE_BYTES_MAX: usize = 16 << 10;

/// A small map of keys to JSON values. Never for secrets: states are files.
#[derive(Default)]
pub struct Private {
    stored: Vec<u8>,
    /// `None`: taken out.
    changes: Mutex<BTreeMap<&'static str, Option<Json>>>,
}

impl Private {
    /// What was stored; bytes that are no JSON object hold no key.
    pub const fn new(stored: Vec<u8>) -> Self {
        Self { stored, changes: Mutex::new(BTreeMap::new()) }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Json> {
        match self.changes().get(key) {
            Some(changed) => changed.clone(),
            None => self.entries().remove(key),
        }
    }

    /// Sets a key's value.
    pub fn set(&self, key: &'static str, value: impl Into<Json>) {
        self.changes().insert(key, Some(value.into()));
    }

    /// Takes a key out.
    pub fn remove(&self, key: &'static str) {
        self.changes().insert(key, None);
    }

    /// What to store now. Too much is an error, and what was stored stays.
    pub fn to_bytes(&self, diagnostics: &mut Diagnostics) -> Vec<u8> {
        let before = self.entries();
        let mut entries = before.clone();
        for (key, value) in &*self.changes() {
            match value {
                Some(value) => drop(entries.insert((*key).to_owned(), value.clone())),
                None => drop(entries.remove(*key)),
            }
        }
        if entries == before {
            return self.stored.clone();
        }
        let bytes =
            if entries.is_empty() { Vec::new() } else { Json::Object(entries).to_string().into() };
        if bytes.len() > PRIVATE_BYTES_MAX {
            diagnostics.error(
                Path::root(),
                "Too much to keep",
                format!(
                    "The provider wants to keep {} bytes of its own with this object, of at most \
                     {PRIVATE_BYTES_MAX}. Nothing of it is kept. This is a bug in the provider; \
                     please report it.",
                    bytes.len()
                ),
            );
            return self.stored.clone();
        }
        bytes
    }

    fn entries(&self) -> Map<String, Json> {
        serde_json::from_slice(&self.stored).unwrap_or_default()
    }

    fn changes(&self) -> MutexGuard<'_, BTreeMap<&'static str, Option<Json>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keys without values.
impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stored, changes) = (self.entries(), self.changes());
        f.debug_struct("Private")
            .field("stored", &stored.keys())
            .field("changes", &changes.keys())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(private: &Private) -> String {
        let mut diagnostics = Diagnostics::new();
        let bytes = private.to_bytes(&mut diagnostics);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_not_touched_stays_byte_for_byte() {
        for stored in ["", "not json", r#"{ "theirs" : 1.50 }"#, "[1]"] {
            let private = Private::new(stored.into());
            private.remove("ours");
            assert_eq!(bytes(&private), stored);
        }
        let private = Private::new(r#"{ "ours": true }"#.into());
        private.set("ours", true);
        assert_eq!(bytes(&private), r#"{ "ours": true }"#);
    }

    #[test]
    fn keys_are_set_and_taken_out_beside_those_of_others() {
        let private = Private::new(r#"{"theirs":1.50,"ours":1}"#.into());
        private.set("ours", "two");
        private.set("more", 3);
        assert_eq!(private.get("ours"), Some("two".into()));
        assert_eq!(bytes(&private), r#"{"more":3,"ours":"two","theirs":1.50}"#);
        private.remove("more");
        private.remove("ours");
        assert_eq!((private.get("ours"), private.get("theirs").is_some()), (None, true));
        assert_eq!(bytes(&private), r#"{"theirs":1.50}"#);
        let alone = Private::new(r#"{"ours":1}"#.into());
        alone.remove("ours");
        assert_eq!(bytes(&alone), "");
    }

    #[test]
    fn too_much_is_an_error_and_what_was_stored_stays() {
        let private = Private::new(r#"{"ours":1}"#.into());
        private.set("ours", "x".repeat(PRIVATE_BYTES_MAX));
        let mut diagnostics = Diagnostics::new();
        assert_eq!(private.to_bytes(&mut diagnostics), br#"{"ours":1}"#);
        assert!(diagnostics.has_errors());
    }

    #[test]
    fn values_are_not_printed() {
        let private = Private::new(r#"{"key":"value"}"#.into());
        private.set("other", "hush");
        let printed = format!("{private:?}");
        assert!(printed.contains("key") && printed.contains("other"), "{printed}");
        assert!(!printed.contains("value") && !printed.contains("hush"), "{printed}");
    }
}
