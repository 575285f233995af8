//! A resource's identity: the few values that tell one object from all others, for good.

use super::{Type, Value};

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
}
