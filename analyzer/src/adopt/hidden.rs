//! Where a file sets what is sensitive, whatever it says there.
//!
//! - Attributes are told by the plan's marks, for all resources of a type; variables by themselves.
//! - A reference shows nothing, so it is no such place; a file that does not parse is one.

use super::{
    file::SourceFile,
    node::{Block, Body, Entry, Kind, Node},
};
use crate::redact::Secrets;
use std::{collections::BTreeSet, ops::Range};

/// What is known to be sensitive.
pub(super) struct Marks<'a> {
    pub(super) secrets: &'a Secrets,
    /// Variables of the root module.
    pub(super) variables: BTreeSet<String>,
}

/// The names of the variables that a file declares as sensitive.
pub(super) fn sensitive_variables(file: &SourceFile) -> impl Iterator<Item = String> {
    let body = file.body.as_ref().ok();
    let blocks = body.into_iter().flat_map(|body| body.blocks_of("variable"));
    blocks.filter(|(_, block)| is_sensitive(block)).filter_map(|(_, it)| it.labels.first().cloned())
}

fn is_sensitive(variable: &Block) -> bool {
    let mark = variable.body.entry("sensitive");
    mark.is_some_and(|it| !matches!(it.value.kind, Kind::Bool(false)))
}

/// The places, in bytes of the file's text, in no order.
pub(super) fn places(file: &SourceFile, marks: &Marks<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    match &file.body {
        Ok(body) if file.syntax.is_variables() => {
            for name in &marks.variables {
                in_body(body, std::slice::from_ref(name), &mut found);
            }
        }
        Ok(body) => body.blocks.iter().for_each(|block| in_block(block, marks.secrets, &mut found)),
        Err(_) => found.push(0..file.text.len()),
    }
    found
}

fn in_block(block: &Block, secrets: &Secrets, found: &mut Vec<Range<usize>>) {
    match (block.kind.as_str(), block.labels.first()) {
        ("resource" | "data", Some(resource_type)) => {
            for keys in secrets.attributes(resource_type) {
                in_body(&block.body, keys, found);
            }
        }
        ("variable", _) if is_sensitive(block) => {
            in_body(&block.body, &["default".to_owned()], found);
        }
        _ => {}
    }
}

fn in_body(body: &Body, keys: &[String], found: &mut Vec<Range<usize>>) {
    let Some((name, rest)) = keys.split_first() else { return };
    in_entries(&body.entries, name, rest, found);
    for block in &body.blocks {
        let makes = block.labels.first() == Some(name);
        match block.kind.as_str() {
            kind if kind == name && !rest.is_empty() => in_body(&block.body, rest, found),
            kind if kind == name || kind == "dynamic" && makes => found.push(block.range.clone()),
            _ => {}
        }
    }
}

fn in_entries(entries: &[Entry], name: &str, rest: &[String], found: &mut Vec<Range<usize>>) {
    for entry in entries {
        if entry.name.as_deref().is_none_or(|it| it == name) {
            in_node(&entry.value, rest, found);
        }
    }
}

fn in_node(node: &Node, keys: &[String], found: &mut Vec<Range<usize>>) {
    match (&node.kind, keys) {
        (Kind::Null | Kind::Reference(_), _) => {}
        (Kind::Object(entries), [key, rest @ ..]) => in_entries(entries, key, rest, found),
        (Kind::List(items), [_, ..]) => items.iter().for_each(|item| in_node(item, keys, found)),
        _ => found.push(node.range.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::file::Syntax, *};
    use std::borrow::Cow;

    #[test]
    fn only_what_sets_a_sensitive_attribute_to_more_than_a_reference_is_found() {
        let mut secrets = Secrets::default();
        for keys in [&["pin"][..], &["user", "pin"], &["rule"]] {
            let keys: Vec<Cow<'_, [u8]>> = keys.iter().map(|key| key.as_bytes().into()).collect();
            secrets.learn_attribute("t_x", &keys);
        }
        let marks = Marks { secrets: &secrets, variables: ["pin".to_owned()].into() };
        for (syntax, text, hidden) in [
            (Syntax::Native, "resource \"t_x\" \"n\" {\n  a = 1\n  pin = 12\n}\n", &["12"][..]),
            (Syntax::Native, "resource \"t_y\" \"n\" {\n  pin = 12\n}\n", &[]),
            (Syntax::Native, "resource \"t_x\" \"n\" {\n  pin = var.pin\n}\n", &[]),
            (
                Syntax::Native,
                "data \"t_x\" \"n\" {\n  user = [{ a = 1, pin = 2 }, { (var.a) = 3 }]\n}\n",
                &["2", "3"],
            ),
            (
                Syntax::Native,
                "resource \"t_x\" \"n\" {\n  user {\n    pin = f(1)\n    a = 1\n  }\n}\n",
                &["f(1)"],
            ),
            (Syntax::Native, "resource \"t_x\" \"n\" {\n  rule {\n  }\n}\n", &["rule {\n  }"]),
            (Syntax::Native, "variable \"v\" {\n  default = 1\n  sensitive = true\n}\n", &["1"]),
            (Syntax::Native, "variable \"v\" {\n  default = 1\n}\n", &[]),
            (Syntax::Native, "resource {", &["resource {"]),
            (
                Syntax::Json,
                r#"{"resource":{"t_x":{"n":{"a":1,"pin":12,"user":[{"pin":3}]}}}}"#,
                &["12", "3"],
            ),
            (Syntax::Variables, "a = 1\npin = 2\n", &["2"]),
            (Syntax::JsonVariables, r#"{"a":1,"pin":2}"#, &["2"]),
        ] {
            let file = SourceFile::new("m".to_owned(), text.to_owned(), syntax);
            let found: Vec<&str> =
                places(&file, &marks).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, hidden, "{text}");
        }
    }
}
