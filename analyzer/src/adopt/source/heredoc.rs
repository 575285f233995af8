//! A heredoc: its lines change, its markers and its indentation stay.

use super::{
    super::{
        change::{Act, Change},
        document,
        draft::Denied,
        heredoc::Heredoc,
        node::Kind,
        trail::{Next, Stop},
    },
    Source, literal,
};
use crate::value::Value;

pub(super) const SOURCE: Source = Source {
    name: "heredoc",
    follow: |stop| match &stop.node.kind {
        Kind::Heredoc(text) if stop.trail.steps.is_empty() => Some(follow(stop, text)),
        _ => None,
    },
};

fn follow(stop: &Stop<'_>, text: &str) -> Result<Next, Denied> {
    let Some(Value::String(wanted)) = &stop.trail.wanted else { return literal::edit(stop) };
    literal::agrees(stop)?;
    let written = &stop.file.text[stop.node.range.clone()];
    let heredoc = Heredoc::read(written).ok_or_else(|| stop.denied("it is set by a heredoc"))?;
    let wanted = document::edit(text, wanted).unwrap_or_else(|| wanted.clone());
    let Some(text) = heredoc.with(&wanted) else { return literal::edit(stop) };
    let means = Value::String(wanted);
    let change = Change { at: stop.trail.at.clone(), act: Act::Rewrite { text, means } };
    Ok(Next::Edit(vec![(stop.file.path.clone(), change)]))
}
