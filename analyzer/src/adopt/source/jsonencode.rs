//! `jsonencode(...)`: the differences of the document are differences of its argument.

use super::{
    super::{
        draft::Denied,
        node::{Kind, Node, Segment},
        trail::{Next, Stop, Trail},
    },
    Source,
};
use crate::{diff::diff, read::text::embedded, value::Value};

pub(super) const SOURCE: Source = Source {
    name: "jsonencode",
    follow: |stop| match &stop.node.kind {
        Kind::Call { function, arguments }
            if function == "jsonencode" && arguments.len() == 1 && stop.trail.steps.is_empty() =>
        {
            Some(follow(stop, &arguments[0]))
        }
        _ => None,
    },
};

fn follow(stop: &Stop<'_>, argument: &Node) -> Result<Next, Denied> {
    let document = |value: &Option<Value>| embedded(value.as_ref()?.as_str()?);
    let wanted = document(&stop.trail.wanted)
        .ok_or_else(|| stop.denied("it is set by jsonencode, and what is real is no JSON"))?;
    let now = argument.literal().or_else(|| document(&stop.trail.desired));
    let now = now.ok_or_else(|| stop.denied("the plan does not say what jsonencode makes"))?;
    let mut at = stop.trail.at.clone();
    at.push(Segment::Argument(0));
    // From the end: what comes later in a list is edited before positions shift.
    let differences = diff(&now, &wanted).into_iter().rev().filter(|it| it.noise.is_none());
    let trails = differences.map(|it| Trail {
        steps: it.path.0,
        wanted: it.after,
        desired: it.before.or(Some(Value::Null)),
        ..stop.onward(at.clone())
    });
    Ok(Next::Follow(trails.collect()))
}
