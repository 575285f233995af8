//! A resource's identity: the few values that tell one object from all others, for good.
//!
//! Holds: once an object has an identity it keeps it; a value of it that was null may still be
//! found, and nothing else changes.

use super::{Diagnostics, Path, Reported, Type, Upgrade, Value, walk};

/// One link of the chain from an old form of an identity to the newest.
pub type IdentityUpgrade = Upgrade<IdentitySchema>;

/// One value of an identity.
#[derive(Clone, Debug)]
pub struct IdentityAttribute {
    /// Lower-case letters, digits and underscores.
    pub name: &'static str,
    /// Its type: plain, or a list of plain ones.
    pub ty: Type,
    /// What it is, in sentences.
    pub description: &'static str,
    /// Whether an import must give it. Else it may.
    pub required_for_import: bool,
}

/// What identities of one type look like.
#[derive(Clone, Debug)]
pub struct IdentitySchema {
    /// Version of the stored form; raise it together with an upgrade.
    pub version: i64,
    /// Its values.
    pub attributes: Vec<IdentityAttribute>,
}

impl IdentityAttribute {
    /// A string that an import must give.
    pub const fn required(name: &'static str, description: &'static str) -> Self {
        Self { name, ty: Type::String, description, required_for_import: true }
    }

    /// A string that an import may give.
    pub const fn optional(name: &'static str, description: &'static str) -> Self {
        Self { name, ty: Type::String, description, required_for_import: false }
    }
}

impl IdentitySchema {
    /// An identity of these values.
    pub fn new(attributes: impl IntoIterator<Item = IdentityAttribute>) -> Self {
        Self { version: 0, attributes: attributes.into_iter().collect() }
    }

    /// The type of an identity.
    pub fn value_type(&self) -> Type {
        Type::Object(self.attributes.iter().map(|a| (a.name.to_owned(), a.ty.clone())).collect())
    }

    /// The identity of an object whose state has attributes of the same names.
    pub fn of(&self, state: &Value) -> Value {
        Value::object(self.attributes.iter().map(|a| (a.name, state.get(a.name).clone())))
    }

    /// With this version of the stored form.
    #[must_use]
    pub fn version(self, version: i64) -> Self {
        Self { version, ..self }
    }

    /// Whether an identity tells an object from others: known, and with all that an import must give.
    pub fn is_complete(&self, identity: &Value) -> bool {
        let is_there =
            |a: &IdentityAttribute| !a.required_for_import || !identity.get(a.name).is_null();
        identity.is_set() && identity.is_wholly_known() && self.attributes.iter().all(is_there)
    }

    /// Names of the values that `before` has and `after` has otherwise. What is unknown in either
    /// may become the same.
    pub fn changes(&self, before: &Value, after: &Value) -> Vec<&'static str> {
        let names = self.attributes.iter().map(|a| a.name);
        names
            .filter(|name| {
                let (before, after) = (before.get(name), after.get(name));
                before.is_set() && !after.is_unknown() && before != after
            })
            .collect()
    }

    /// What `identity` leaves open, from `other`.
    #[must_use]
    pub fn completed(&self, identity: &Value, other: &Value) -> Value {
        Value::object(self.attributes.iter().map(|a| {
            let own = identity.get(a.name);
            (a.name, if own.is_set() { own } else { other.get(a.name) }.clone())
        }))
    }

    /// An identity in full, made of one of an older form.
    pub fn upgraded(
        &self,
        identity: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let full = walk::conform(&self.value_type(), identity, &Path::root());
        match full {
            Ok(full) if full.is_set() && full.is_wholly_known() => Ok(full),
            Ok(_) => Err(broken(&Path::root(), "no known object", diagnostics)),
            Err((path, what)) => Err(broken(&path, &what, diagnostics)),
        }
    }

    /// Checks an identity that a user gave for an import.
    pub fn check_import(
        &self,
        identity: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let required = self.attributes.iter().filter(|a| a.required_for_import);
        let names: Vec<&str> = required.map(|a| a.name).collect();
        let all = format!(
            "An import block's `identity` must give {}, and may give no other but {}.",
            quoted(&names),
            quoted(&self.attributes.iter().map(|a| a.name).collect::<Vec<_>>())
        );
        for attribute in &self.attributes {
            let (name, value) = (attribute.name, identity.get(attribute.name));
            if !value.is_wholly_known() {
                let detail = format!(
                    "`{name}` comes from something that is not there yet, so it is not known what \
                     to import. Apply first what it comes from, with -target. {all}"
                );
                diagnostics.error(name, "Identity not known yet", detail);
            } else if value.is_null() && attribute.required_for_import {
                let detail = format!("`{name}` is not given: {}\n\n{all}", attribute.description);
                diagnostics.error(name, "Identity incomplete", detail);
            }
        }
        diagnostics.stop_if_failed()
    }
}

fn broken(path: &Path, what: &str, diagnostics: &mut Diagnostics) -> Reported {
    diagnostics.error(
        Path::root(),
        "Identity of the wrong form",
        format!(
            "The provider made of the stored identity {what}, at `{path}`. This is a bug in the \
             provider; please report it."
        ),
    )
}

/// What an identity gives: its values that are not null.
pub(super) fn given(identity: &Value) -> Value {
    let values = identity.entries().filter(|(_, value)| !value.is_null());
    Value::object(values.map(|(name, value)| (name, value.clone())))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
