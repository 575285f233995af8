//! What Terraform takes for granted of identities, and what we ask of ours.

use super::{Violation, schema::check_named, violation};
use crate::framework::{IdentitySchema, Path, Schema, Type, Value, walk};
use std::collections::BTreeSet;

/// The rules that the identity of a resource breaks.
pub fn check_identity_schema(identity: &IdentitySchema, resource: &Schema) -> Vec<Violation> {
    let mut found = Vec::new();
    let root = Path::root();
    if identity.version < 0 {
        found.push(violation(&root, "a version below zero"));
    }
    if !identity.attributes.iter().any(|a| a.required_for_import) {
        found.push(violation(&root, "nothing that an import must give"));
    }
    let mut names = BTreeSet::new();
    for attribute in &identity.attributes {
        let path = root.child(attribute.name);
        let mut say = |what: &str| found.push(violation(&path, what));
        check_named((attribute.name, attribute.description), &mut names, &mut say);
        let is_flat = match &attribute.ty {
            Type::List(element) => is_plain(element),
            ty => is_plain(ty),
        };
        if !is_flat {
            say("a type that is neither plain nor a list of plain ones");
        }
        if let Some(stored) = resource.attribute(attribute.name) {
            if stored.value_type() != attribute.ty {
                say("another type than the resource's attribute of this name");
            }
            if stored.sensitive || stored.write_only {
                say("a secret, which identities show");
            }
        }
    }
    found
}

const fn is_plain(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Number | Type::String)
}

/// The rules that an identity breaks which was given with a state.
pub fn check_identity(schema: &IdentitySchema, identity: &Value) -> Vec<Violation> {
    let root = Path::root();
    if let Err((path, what)) = walk::conform(&schema.value_type(), identity, &root) {
        return vec![violation(&path, what)];
    }
    let mut unknown = Vec::new();
    walk::unknown_paths(&root, identity, &mut unknown);
    let mut found: Vec<_> = unknown.iter().map(|path| violation(path, "still unknown")).collect();
    for attribute in schema.attributes.iter().filter(|a| a.required_for_import) {
        if identity.get(attribute.name).is_null() {
            let path = root.child(attribute.name);
            found.push(violation(&path, "null, though an import must give it"));
        }
    }
    found
}
