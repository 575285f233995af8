//! A literal: edited where it stands.

use super::{
    super::{
        change::{Act, Change},
        draft::Denied,
        file::SourceFile,
        node::{Found, Kind, Segment},
        trail::{Next, Stop, Trail},
    },
    Source,
};
use crate::{diff::alike, value::Value};

pub(super) const SOURCE: Source = Source {
    name: "literal",
    follow: |stop| {
        let own = !matches!(stop.node.kind, Kind::Heredoc(_)) && stop.trail.steps.is_empty();
        (own && stop.node.literal().is_some()).then(|| edit(stop))
    },
};

/// Sets the value that stands here, or takes it out.
pub(super) fn edit(stop: &Stop<'_>) -> Result<Next, Denied> {
    agrees(stop)?;
    let trail = stop.trail;
    let desired = trail.desired.clone();
    let act = match (&trail.wanted, trail.at.last()) {
        (Some(value), _) => Act::Set { value: value.clone(), desired },
        (None, Some(Segment::Name(_))) if !is_needed(stop) => Act::Remove,
        (None, _) => Act::Set { value: Value::Null, desired },
    };
    let change = Change { at: trail.at.clone(), act };
    Ok(Next::Edit(vec![(stop.file.path.clone(), change)]))
}

/// True for names without which the file means something else: a local value, a default.
fn is_needed(stop: &Stop<'_>) -> bool {
    let block = match (&stop.file.body, stop.trail.at.as_slice()) {
        (Ok(body), [Segment::Block(at), Segment::Name(_)]) => body.blocks.get(*at),
        _ => None,
    };
    let is_variable = matches!(stop.trail.at.as_slice(), [Segment::Name(_)]);
    is_variable || block.is_some_and(|it| matches!(it.kind.as_str(), "locals" | "variable"))
}

/// Behind references stands what the plan wants; otherwise another value wins over it.
pub(super) fn agrees(stop: &Stop<'_>) -> Result<(), Denied> {
    let written = stop.node.literal();
    let other = stop.trail.hops > 0
        && stop.trail.desired.is_some()
        && !alike(written.as_ref(), stop.trail.desired.as_ref())
        && !alike(written.as_ref(), stop.trail.wanted.as_ref());
    if other {
        return Err(stop.denied(
            "it says something else than the plan, so another value wins (-var, -var-file or the \
             environment), or the plan is older",
        ));
    }
    Ok(())
}

/// A name that is not there yet in what would hold it.
pub(in super::super) fn missing(file: &SourceFile, trail: &Trail) -> Result<Next, Denied> {
    let outer = &trail.at[..trail.at.len().saturating_sub(1)];
    let holder = file.body.as_ref().ok().and_then(|body| body.find(outer));
    let start = holder.map_or(0, |holder| holder.range().start);
    let denied = |reason: &str| Err(Denied::new(reason, Some(file.place(start))));
    let Some(value) = trail.wanted.as_ref().filter(|it| **it != Value::Null || trail.hops > 0)
    else {
        return denied("the configuration does not set it, a default does");
    };
    if trail.desired.is_none() {
        return denied("the configuration does not set it, the provider does");
    }
    if matches!(holder, Some(Found::Body(_))) && !trail.is_attribute && may_be_blocks(value) {
        return denied("it may be made of blocks, which a plan does not tell; --schemas would");
    }
    let act = Act::Set { value: value.clone(), desired: trail.desired.clone() };
    Ok(Next::Edit(vec![(file.path.clone(), Change { at: trail.at.clone(), act })]))
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
