//! One change to the text of a configuration file.
//!
//! - The new text is the old one with a few bytes spliced: whatever is not meant stays as it was,
//!   to the byte.
//! - The result is parsed again, and nothing but the target may differ; otherwise the edit is
//!   refused.

use super::{
    comments,
    layout::{self, Splice},
    literal::{self, Layout},
    tree::{self, Holder, Spot},
};
use crate::{path::Step, value::Value};
use hcl_edit::{
    Span,
    structure::{Block, Body},
};

/// What to set where.
pub(super) struct Target<'a> {
    pub(super) resource_type: &'a str,
    pub(super) name: &'a str,
    pub(super) steps: &'a [Step],
    /// Null removes the attribute.
    pub(super) value: &'a Value,
    /// What the plan wants there now; `None` when it does not say.
    pub(super) desired: Option<&'a Value>,
}

/// Why an edit was refused, and at which byte of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) reason: String,
    pub(super) at: usize,
}

/// The text with the target set.
pub(super) fn set(text: &str, target: &Target<'_>) -> Result<String, Refused> {
    let refuse = |reason: &str, at| Refused { reason: reason.to_owned(), at };
    let body = parse(text).map_err(|reason| Refused { reason, at: 0 })?;
    let block = resource(&body, target.resource_type, target.name)
        .ok_or_else(|| refuse("the resource block is not there", 0))?;
    let start = block.span().map_or(0, |span| span.start);
    let splices = match tree::find(block, target.steps, target.desired, text) {
        Spot::Lost(reason) => return Err(Refused { reason, at: start }),
        Spot::Present { expression, holder, name } => {
            let span = expression.span().ok_or_else(|| refuse("it has no place", start))?;
            if literal::read(expression, text).is_none() {
                let what = literal::describe(expression);
                return Err(refuse(&format!("it is set by {what}"), span.start));
            }
            let removed = *target.value == Value::Null;
            match (removed, name) {
                (true, Some(name)) => layout::remove(text, holder, name)
                    .map_err(|reason| Refused { reason, at: span.start })?,
                _ => {
                    let layout = layout::like(text, &span);
                    let new = literal::write(target.value, layout);
                    let mut splices = comments::keep_aligned(text, block, &span, &new);
                    splices.push(Splice { range: span, text: new });
                    splices
                }
            }
        }
        Spot::Missing { .. } if *target.value == Value::Null => {
            return Err(refuse("the configuration does not set it, a default does", start));
        }
        Spot::Missing { .. } if target.desired.is_none() => {
            return Err(refuse("the configuration does not set it, the provider does", start));
        }
        Spot::Missing { holder: Holder::Block(_), .. } if may_be_blocks(target.value) => {
            return Err(refuse("it may be made of blocks, which a plan does not tell", start));
        }
        Spot::Missing { holder, name } => {
            let value = literal::write(target.value, Layout::OneLine);
            layout::insert(text, holder, name, &value)
                .map_err(|reason| Refused { reason, at: holder_start(holder, start) })?
        }
    };
    let edited = layout::apply(text, splices);
    check(&body, text, &edited, target).map_err(|reason| Refused { reason, at: start })?;
    Ok(edited)
}

/// True when a value could be written as nested blocks as well as an attribute. A map of plain
/// values is taken for what it looks like.
fn may_be_blocks(value: &Value) -> bool {
    let plain = |value: &Value| !matches!(value, Value::Object(_) | Value::List(_));
    match value {
        Value::List(items) => !items.iter().all(plain),
        Value::Object(fields) => !fields.values().all(|it| matches!(it, Value::String(_))),
        _ => false,
    }
}

/// Parses a file. A byte-order mark is no part of it for the parser.
pub(super) fn parse(text: &str) -> Result<Body, String> {
    // The mark is replaced by as many bytes of white space, so that all spans stay right.
    let without_mark;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => {
            without_mark = format!("   {rest}");
            &without_mark
        }
        None => text,
    };
    hcl_edit::parser::parse_body(text).map_err(|error| {
        format!("the file does not parse: {} in line {}", error.message(), error.location().line())
    })
}

/// The block of a resource.
pub(super) fn resource<'a>(body: &'a Body, resource_type: &str, name: &str) -> Option<&'a Block> {
    body.get_blocks("resource").find(|block| block.has_exact_labels(&[resource_type, name]))
}

fn holder_start(holder: Holder<'_>, default: usize) -> usize {
    match holder {
        Holder::Object(object) => object.span().map_or(default, |span| span.start),
        Holder::Block(block) => block.span().map_or(default, |span| span.start),
        Holder::Array => default,
    }
}

/// Reads the result as a stranger would, and compares everything that was not meant.
fn check(before: &Body, text: &str, edited: &str, target: &Target<'_>) -> Result<(), String> {
    let after = parse(edited).map_err(|_| "the file would no longer parse".to_owned())?;
    let keys: Vec<&str> = target
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    let block = format!("/resource[{:?}, {:?}]#", target.resource_type, target.name);
    let is_meant = |path: &str| {
        path.starts_with(&block) && keys.iter().all(|key| path.contains(&format!("/{key}")))
    };
    let rest = |body: &Body, text: &str| -> Vec<(String, String)> {
        let mut entries = tree::flatten(body, text);
        entries.retain(|(path, _)| !is_meant(path));
        entries
    };
    if rest(before, text) != rest(&after, edited) {
        return Err("the edit would change something else too".to_owned());
    }
    let block = resource(&after, target.resource_type, target.name);
    let found = block.map(|block| tree::find(block, target.steps, Some(target.value), edited));
    let reached = match found {
        Some(Spot::Present { expression, .. }) => {
            literal::read(expression, edited).as_ref() == Some(target.value)
        }
        Some(Spot::Missing { .. }) => *target.value == Value::Null,
        _ => false,
    };
    if reached { Ok(()) } else { Err("the edit would not have the effect it should".to_owned()) }
}
