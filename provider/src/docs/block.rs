//! The arguments of a block as lists: required, optional and read-only, nested ones below.

use crate::framework::{Attribute, Kind, Mode, Nesting, Type};
use std::fmt::Write as _;

/// The lists of a block, and those of the blocks and nested attributes in it.
pub(super) fn render(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    render_lists(attributes, &mut Vec::new(), &mut text);
    text
}

fn render_lists(attributes: &[Attribute], path: &mut Vec<&'static str>, text: &mut String) {
    let optional = |mode| matches!(mode, Mode::Optional | Mode::OptionalComputed);
    list("Required", attributes, |mode| mode == Mode::Required, path, text);
    list("Optional", attributes, optional, path, text);
    list("Read-Only", attributes, |mode| mode == Mode::Computed, path, text);
    for attribute in attributes.iter().filter(|a| !a.children().is_empty()) {
        path.push(attribute.name);
        let (anchor, name) = (anchor(path), path.join("."));
        let _ = write!(text, "\n<a id=\"{anchor}\"></a>\n### Nested Schema for `{name}`\n");
        render_lists(attribute.children(), path, text);
        path.pop();
    }
}

fn list(
    title: &str,
    attributes: &[Attribute],
    belongs: impl Fn(Mode) -> bool,
    path: &[&'static str],
    text: &mut String,
) {
    let mut attributes: Vec<_> = attributes.iter().filter(|a| belongs(a.mode)).collect();
    if attributes.is_empty() {
        return;
    }
    attributes.sort_by_key(|attribute| attribute.name);
    // Headings for the block itself, plain lines for what is nested in it.
    let lead =
        if path.is_empty() { format!("\n### {title}\n\n") } else { format!("\n{title}:\n\n") };
    text.push_str(&lead);
    for attribute in attributes {
        text.push_str(&line(attribute, path));
    }
}

fn line(attribute: &Attribute, path: &[&'static str]) -> String {
    let marks = [
        (attribute.sensitive, ", Sensitive"),
        (attribute.write_only, ", Write-only"),
        (attribute.deprecated.is_some(), ", Deprecated"),
    ];
    let marks: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
    let mut line =
        format!("- `{}` ({}{marks}) {}", attribute.name, shape(attribute), attribute.description);
    if let Some(instead) = attribute.deprecated {
        let _ = write!(line, " **Deprecated:** {instead}");
    }
    if !attribute.children().is_empty() {
        let path: Vec<_> = path.iter().copied().chain([attribute.name]).collect();
        let _ = write!(line, " (see [below](#{}))", anchor(&path));
    }
    line.push('\n');
    line
}

fn anchor(path: &[&'static str]) -> String {
    format!("nestedatt--{}", path.join("--"))
}

fn shape(attribute: &Attribute) -> String {
    match &attribute.kind {
        Kind::Value(ty) => type_name(ty),
        Kind::Nested(nesting, _) => format!("Attributes{}", many(*nesting)),
        Kind::Block(nesting, _) => format!("Block{}", many(*nesting)),
    }
}

const fn many(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::List => " List",
        Nesting::Set => " Set",
        Nesting::Map => " Map",
        Nesting::Single | Nesting::Group => "",
    }
}

/// A type in words.
pub(super) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Bool => "Boolean".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::String => "String".to_owned(),
        Type::Dynamic => "Dynamic".to_owned(),
        Type::List(element) => format!("List of {}", type_name(element)),
        Type::Set(element) => format!("Set of {}", type_name(element)),
        Type::Map(element) => format!("Map of {}", type_name(element)),
        Type::Object(types) => {
            let types = types.iter().map(|(name, ty)| format!("`{name}` {}", type_name(ty)));
            format!("Object: {}", types.collect::<Vec<_>>().join(", "))
        }
        Type::Tuple(types) => {
            format!("Tuple of {}", types.iter().map(type_name).collect::<Vec<_>>().join(", "))
        }
    }
}
