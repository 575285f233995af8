//! Walking a parsed body along an attribute's path.
//!
//! - A path of the plan does not say where blocks end and objects begin; the configuration does.
//! - Where several blocks or elements could be meant, the one must be told by its present value,
//!   for a plan lists sets in an order of its own.

use super::literal::{self, key_name};
use crate::{diff::alike, path::Step, value::Value};
use hcl_edit::{
    expr::{Expression, Object},
    structure::{Block, Body},
};

/// Where a path ends in the configuration.
pub(super) enum Spot<'a> {
    /// An expression stands there.
    Present { expression: &'a Expression, holder: Holder<'a>, name: Option<&'a str> },
    /// Nothing stands there, but what would hold it does.
    Missing { holder: Holder<'a>, name: &'a str },
    /// It cannot be told, and why.
    Lost(String),
}

/// What holds named values.
#[derive(Clone, Copy)]
pub(super) enum Holder<'a> {
    Block(&'a Block),
    Object(&'a Object),
    Array,
}

/// Follows `steps` from a resource block; `desired` is what the plan wants at their end.
pub(super) fn find<'a>(
    block: &'a Block,
    steps: &'a [Step],
    desired: Option<&Value>,
    text: &str,
) -> Spot<'a> {
    let Some((Step::Key(name), rest)) = steps.split_first() else {
        return Spot::Lost("it is no attribute of the resource".to_owned());
    };
    if let Some(attribute) = block.body.get_attribute(name) {
        return in_expression(&attribute.value, Holder::Block(block), Some(name), rest);
    }
    if dynamic(&block.body, name) {
        return Spot::Lost(format!("a dynamic block makes `{name}`"));
    }
    let blocks: Vec<&Block> = block.body.get_blocks(name).collect();
    match (blocks.as_slice(), rest) {
        ([], []) => Spot::Missing { holder: Holder::Block(block), name },
        ([], _) => Spot::Lost(format!("`{name}` is not in the configuration")),
        (_, [] | [Step::Index(_)]) => Spot::Lost(format!("whole `{name}` blocks come or go")),
        ([only], [Step::Index(_), rest @ ..] | rest) => find(only, rest, desired, text),
        (several, [Step::Index(index), rest @ ..]) => {
            let holds = |block: &&&Block| match find(block, rest, desired, text) {
                Spot::Present { expression, .. } => {
                    desired.is_some() && alike(literal::read(expression, text).as_ref(), desired)
                }
                _ => false,
            };
            let fitting = several.iter().filter(holds).count();
            match several.get(*index).filter(holds) {
                Some(block) if fitting == 1 => find(block, rest, desired, text),
                _ => Spot::Lost(format!("it cannot be told which `{name}` block it is")),
            }
        }
        (_, _) => Spot::Lost(format!("there are several `{name}` blocks")),
    }
}

fn in_expression<'a>(
    expression: &'a Expression,
    holder: Holder<'a>,
    name: Option<&'a str>,
    steps: &'a [Step],
) -> Spot<'a> {
    let Some((step, rest)) = steps.split_first() else {
        return Spot::Present { expression, holder, name };
    };
    match (expression, step) {
        (Expression::Object(object), Step::Key(key)) => {
            let mut named =
                object.iter().filter(|(candidate, _)| key_name(candidate).as_ref() == Some(key));
            match (named.next(), named.next()) {
                (Some((_, item)), None) => {
                    in_expression(item.expr(), Holder::Object(object), Some(key), rest)
                }
                (Some(_), Some(_)) => Spot::Lost(format!("`{key}` is written twice")),
                (None, _) if object.iter().any(|(key, _)| key_name(key).is_none()) => {
                    Spot::Lost("the object has computed keys".to_owned())
                }
                (None, _) if rest.is_empty() => {
                    Spot::Missing { holder: Holder::Object(object), name: key }
                }
                (None, _) => Spot::Lost(format!("`{key}` is not in the configuration")),
            }
        }
        (Expression::Array(array), Step::Index(index)) => match array.get(*index) {
            Some(item) => in_expression(item, Holder::Array, None, rest),
            None => Spot::Lost("the list is shorter in the configuration".to_owned()),
        },
        // One block may be written as an object where the plan has a list of one.
        (Expression::Object(_), Step::Index(0)) => in_expression(expression, holder, name, rest),
        (other, _) => Spot::Lost(format!("it is set by {}", literal::describe(other))),
    }
}

fn dynamic(body: &Body, name: &str) -> bool {
    body.get_blocks("dynamic")
        .any(|block| block.labels.first().is_some_and(|label| label.as_str() == name))
}

/// Every value of a body by its path, as it is written: two bodies that differ in one value
/// differ in the entries of its path only.
pub(super) fn flatten(body: &Body, text: &str) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    flatten_body(body, text, "", &mut entries);
    entries
}

fn flatten_body(body: &Body, text: &str, path: &str, entries: &mut Vec<(String, String)>) {
    for attribute in body.attributes() {
        let path = format!("{path}/{}", attribute.key.value());
        flatten_expression(&attribute.value, text, &path, entries);
    }
    for (position, block) in body.blocks().enumerate() {
        let labels: Vec<&str> = block.labels.iter().map(|label| label.as_str()).collect();
        let path = format!("{path}/{}{labels:?}#{position}", block.ident.value());
        entries.push((path.clone(), String::new()));
        flatten_body(&block.body, text, &path, entries);
    }
}

fn flatten_expression(
    expression: &Expression,
    text: &str,
    path: &str,
    entries: &mut Vec<(String, String)>,
) {
    match expression {
        Expression::Object(object) => {
            for (key, item) in object {
                let key = key_name(key).unwrap_or_else(|| format!("{key:?}"));
                flatten_expression(item.expr(), text, &format!("{path}/{key}"), entries);
            }
        }
        Expression::Array(array) => {
            for (index, item) in array.iter().enumerate() {
                flatten_expression(item, text, &format!("{path}/{index}"), entries);
            }
        }
        other => {
            let written = hcl_edit::Span::span(other).and_then(|span| text.get(span));
            entries.push((path.to_owned(), written.unwrap_or_default().trim().to_owned()));
        }
    }
}
