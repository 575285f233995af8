//! What Terraform takes for granted of a schema, and what we ask of ours.

use super::{Violation, violation};
use crate::framework::{
    Attribute, KeepPrior, Kind, Mode, Nesting, OnChange, Path, Schema, Type, Validator, walk,
};
use std::collections::BTreeSet;

/// Names that the root of a resource or data source can't use.
const RESERVED: [&str; 7] =
    ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];

/// The rules that the schema of a resource or data source breaks.
pub fn check_schema(schema: &Schema) -> Vec<Violation> {
    let mut found = Vec::new();
    let root = Path::root();
    if schema.version < 0 {
        found.push(violation(&root, "a version below zero"));
    }
    if !is_sentence(schema.description) {
        found.push(violation(&root, "no description in sentences"));
    }
    for attribute in schema.attributes.iter().filter(|a| RESERVED.contains(&a.name)) {
        found.push(violation(&root.child(attribute.name), "a reserved name"));
    }
    check_names(&schema.validators, &schema.attributes, &mut |what| {
        found.push(violation(&root, what));
    });
    let place = Place { parent: None, in_filled: false, in_set: false };
    check_all(&schema.attributes, &root, place, &mut found);
    found
}

/// The rules that the schema of a data source, an ephemeral resource or anything else breaks whose
/// value is made anew each time.
pub fn check_unstored_schema(schema: &Schema) -> Vec<Violation> {
    let mut found = check_schema(schema);
    if schema.version != 0 {
        found.push(violation(&Path::root(), "a version, but no stored state"));
    }
    check_unstored(&schema.attributes, &Path::root(), &mut found);
    found
}

fn check_unstored(attributes: &[Attribute], path: &Path, found: &mut Vec<Violation>) {
    for attribute in attributes {
        let path = path.child(attribute.name);
        let mut say = |what: &str| found.push(violation(&path, what));
        if attribute.write_only {
            say("write-only, but nothing of it is stored");
        }
        if attribute.default.is_some() || attribute.keep_prior != KeepPrior::Never {
            say("planned, but there is no plan");
        }
        if !matches!(attribute.on_change, OnChange::Update) {
            say("asks for replacement, but nothing is replaced");
        }
        check_unstored(attribute.children(), &path, found);
    }
}

/// Where an attribute stands.
#[derive(Clone, Copy)]
struct Place {
    parent: Option<Mode>,
    /// Within what the provider fills in when nothing is configured, as a whole.
    in_filled: bool,
    in_set: bool,
}

fn check_all(attributes: &[Attribute], path: &Path, place: Place, found: &mut Vec<Violation>) {
    let mut names = BTreeSet::new();
    for attribute in attributes {
        let path = path.child(attribute.name);
        let mut say = |what: &str| found.push(violation(&path, what));
        check_named((attribute.name, attribute.description), &mut names, &mut say);
        check_names(&attribute.validators, attribute.children(), &mut say);
        check_companion(attribute, attributes, &mut say);
        check_modes(attribute, place, &mut say);
        check_kind(attribute, place, &mut say);
        if let Some(default) = &attribute.default
            && walk::conform(&attribute.value_type(), default, &path).is_err()
        {
            say("a default of another type");
        }
        let in_set = place.in_set
            || matches!(
                attribute.kind,
                Kind::Nested(Nesting::Set, _) | Kind::Block(Nesting::Set, _)
            );
        let filled = attribute.mode == Mode::OptionalComputed && attribute.default.is_none();
        let in_filled = place.in_filled || filled;
        let place = Place { parent: Some(attribute.mode), in_filled, in_set };
        check_all(attribute.children(), &path, place, found);
    }
}

/// A rule between attributes names some that are there.
fn check_names(validators: &[Validator], attributes: &[Attribute], say: &mut impl FnMut(&str)) {
    let is_there = |name: &str| attributes.iter().any(|attribute| attribute.name == name);
    for validator in validators {
        if let Validator::Each(rule) = validator {
            check_names(std::slice::from_ref(rule), attributes, say);
        }
        if !validator.names().iter().all(|name| is_there(name)) {
            say("a rule about an attribute that is not there");
        }
    }
}

/// What has a write-only value sent again is an ordinary attribute that stands beside it.
fn check_companion(attribute: &Attribute, beside: &[Attribute], say: &mut impl FnMut(&str)) {
    let Some(version) = attribute.resent_by else { return };
    let is_fit = |a: &Attribute| {
        a.name == version && a.mode.is_configurable() && a.default.is_none() && !a.write_only
    };
    if !attribute.write_only || !beside.iter().any(is_fit) {
        say("sent again by what is no ordinary attribute beside it");
    }
}

fn check_modes(attribute: &Attribute, place: Place, say: &mut impl FnMut(&str)) {
    if attribute.default.is_some() && attribute.mode != Mode::OptionalComputed {
        say("a default, but not both optional and computed");
    }
    let keeps = attribute.keep_prior != KeepPrior::Never;
    if attribute.default.is_some() && keeps {
        say("both a default and its prior value, when not configured");
    }
    if keeps && !attribute.mode.is_computed() {
        say("keeps its prior value, but is not computed");
    }
    if attribute.never_null && !attribute.mode.is_computed() {
        say("promises a value, but is not computed");
    }
    if let Some(instead) = attribute.deprecated {
        if attribute.mode == Mode::Required {
            say("on its way out, but required");
        }
        if !is_sentence(instead) {
            say("on its way out, but no sentence says what to use instead");
        }
    }
    if attribute.write_only && attribute.mode.is_computed() {
        say("both write-only and computed");
    }
    if attribute.write_only && place.in_set {
        say("write-only within a set");
    }
    if place.parent == Some(Mode::Computed) && attribute.mode != Mode::Computed {
        say("configurable within what is only computed");
    }
    if place.in_filled && !attribute.mode.is_computed() {
        // Terraform takes such a value for one that was configured once, and proposes to unset it.
        say("not computed, within what is optional and computed");
    }
    let rules = !attribute.validators.is_empty();
    if rules && attribute.mode == Mode::Computed {
        say("rules for what no user sets");
    }
}

fn check_kind(attribute: &Attribute, place: Place, say: &mut impl FnMut(&str)) {
    match &attribute.kind {
        Kind::Value(ty) => {
            if attribute.equal.is_some() && !has_plain_leaves(ty) {
                say("equality by meaning, but no plain leaves to compare");
            }
            if has_dynamic(ty, true) || (place.in_set && has_dynamic(ty, false)) {
                say("a dynamic type within a collection");
            }
        }
        Kind::Nested(nesting, children) | Kind::Block(nesting, children) => {
            if *nesting == Nesting::Group && !attribute.is_block() {
                say("a group that is no block");
            }
            if attribute.equal.is_some() {
                say("equality by meaning belongs to the leaves");
            }
            // A single one may say something by being there.
            if children.is_empty() && *nesting != Nesting::Single {
                say("objects without attributes");
            }
            if matches!(attribute.kind, Kind::Nested(..))
                && children.iter().any(Attribute::is_block)
            {
                say("a block within a nested attribute");
            }
        }
    }
    if let Kind::Block(nesting, _) = &attribute.kind {
        if !matches!(attribute.mode, Mode::Required | Mode::Optional) || attribute.default.is_some()
        {
            say("a block that is computed or has a default");
        }
        if matches!(nesting, Nesting::Map | Nesting::Group) && attribute.mode == Mode::Required {
            say("a map of blocks or a group that is required, which no CLI asks for");
        }
        let in_a_row = matches!(nesting, Nesting::List | Nesting::Map);
        if in_a_row && has_dynamic(&attribute.value_type(), false) {
            say("a dynamic type in a list or map of blocks");
        }
        if attribute.sensitive || attribute.write_only {
            say("a block that is sensitive or write-only");
        }
    }
}

fn has_plain_leaves(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Number | Type::String => true,
        Type::List(element) | Type::Set(element) | Type::Map(element) => has_plain_leaves(element),
        Type::Dynamic | Type::Object(_) | Type::Tuple(_) => false,
    }
}

/// Whether a dynamic type is in it; `inside` only counts those within something else.
pub(super) fn has_dynamic(ty: &Type, inside: bool) -> bool {
    match ty {
        Type::Dynamic => !inside,
        Type::Bool | Type::Number | Type::String => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            has_dynamic(element, false)
        }
        Type::Object(types) => types.values().any(|ty| has_dynamic(ty, false)),
        Type::Tuple(types) => types.iter().any(|ty| has_dynamic(ty, false)),
    }
}

/// What holds of whatever has a name and a description beside others, whose `names` came before.
pub(super) fn check_named(
    (name, description): (&'static str, &str),
    names: &mut BTreeSet<&'static str>,
    say: &mut impl FnMut(&str),
) {
    if !names.insert(name) {
        say("a name twice");
    }
    if !is_name(name) {
        say("a name that is not lower-case letters, digits and underscores");
    }
    if !is_sentence(description) {
        say("no description in sentences");
    }
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

pub(super) fn is_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['.', '`', ')', '?', '!']) && text.len() > 3
}
