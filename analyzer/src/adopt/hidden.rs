//! Where a file sets what is sensitive, whatever it says there.
//!
//! - Attributes are told by the plan's marks, for all resources of a type; variables by themselves.
//! - A reference shows nothing, so it is no such place; a file that does not parse is one.

use super::{edit::parse, literal::key_name};
use crate::redact::Secrets;
use hcl_edit::{
    Span,
    expr::Expression,
    structure::{Block, Body},
};
use std::ops::Range;

/// The places, in bytes of `text`, in no order.
pub(super) fn places(text: &str, secrets: &Secrets) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    match parse(text) {
        Ok(body) => body.blocks().for_each(|block| in_block(block, secrets, &mut found)),
        Err(_) => found.push(0..text.len()),
    }
    found
}

fn in_block(block: &Block, secrets: &Secrets, found: &mut Vec<Range<usize>>) {
    match (block.ident.as_str(), block.labels.first()) {
        ("resource" | "data", Some(resource_type)) => {
            for keys in secrets.attributes(resource_type.as_str()) {
                in_body(&block.body, keys, found);
            }
        }
        ("variable", _) => {
            let sensitive = block.body.get_attribute("sensitive");
            if sensitive.is_some_and(|it| it.value.as_bool() != Some(false)) {
                in_body(&block.body, &["default".to_owned()], found);
            }
        }
        _ => {}
    }
}

fn in_body(body: &Body, keys: &[String], found: &mut Vec<Range<usize>>) {
    let Some((name, rest)) = keys.split_first() else { return };
    if let Some(attribute) = body.get_attribute(name) {
        in_expression(&attribute.value, rest, found);
    }
    for block in body.blocks() {
        let makes = block.labels.first().is_some_and(|label| label.as_str() == name);
        match block.ident.as_str() {
            ident if ident == name && !rest.is_empty() => in_body(&block.body, rest, found),
            ident if ident == name || ident == "dynamic" && makes => found.extend(block.span()),
            _ => {}
        }
    }
}

fn in_expression(expression: &Expression, keys: &[String], found: &mut Vec<Range<usize>>) {
    match (expression, keys) {
        (Expression::Null(_) | Expression::Variable(_) | Expression::Traversal(_), _) => {}
        (Expression::Object(object), [key, rest @ ..]) => {
            for (name, item) in object {
                if key_name(name).is_none_or(|name| name == *key) {
                    in_expression(item.expr(), rest, found);
                }
            }
        }
        (Expression::Array(array), [_, ..]) => {
            array.iter().for_each(|item| in_expression(item, keys, found));
        }
        (other, _) => found.extend(other.span()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn only_what_sets_a_sensitive_attribute_to_more_than_a_reference_is_found() {
        let mut secrets = Secrets::default();
        for keys in [&["pin"][..], &["user", "pin"], &["rule"]] {
            let keys: Vec<Cow<'_, [u8]>> = keys.iter().map(|key| key.as_bytes().into()).collect();
            secrets.learn_attribute("t_x", &keys);
        }
        for (text, hidden) in [
            ("resource \"t_x\" \"n\" {\n  a = 1\n  pin = 12\n}\n", &["12"][..]),
            ("resource \"t_y\" \"n\" {\n  pin = 12\n}\n", &[]),
            ("resource \"t_x\" \"n\" {\n  pin = var.pin\n}\n", &[]),
            (
                "data \"t_x\" \"n\" {\n  user = [{ a = 1, pin = 2 }, { (var.a) = 3 }]\n}\n",
                &["2", "3"],
            ),
            ("resource \"t_x\" \"n\" {\n  user {\n    pin = f(1)\n    a = 1\n  }\n}\n", &["f(1)"]),
            ("resource \"t_x\" \"n\" {\n  rule {\n  }\n}\n", &["rule {\n  }"]),
            ("variable \"v\" {\n  default = 1\n  sensitive = true\n}\n", &["1"]),
            ("variable \"v\" {\n  default = 1\n}\n", &[]),
            ("resource {", &["resource {"]),
        ] {
            let found: Vec<&str> = places(text, &secrets)
                .into_iter()
                .map(|place| text[place].trim_matches(|c: char| c == ' ' || c == '\n'))
                .collect();
            assert_eq!(found, hidden, "{text}");
        }
    }
}
