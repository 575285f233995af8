//! `merge(...)`: the only object in it that is written out takes what comes, changes and goes.

use super::{
    super::{
        draft::Denied,
        node::{Kind, Node, Segment, named},
        trail::{Next, Stop, Trail},
    },
    Source,
};
use crate::{diff::diff, path::Step, value::Value};

pub(super) const SOURCE: Source = Source {
    name: "merge",
    follow: |stop| match &stop.node.kind {
        Kind::Call { function, arguments } if function == "merge" => Some(follow(stop, arguments)),
        _ => None,
    },
};

fn follow(stop: &Stop<'_>, arguments: &[Node]) -> Result<Next, Denied> {
    let Some(Step::Key(key)) = stop.trail.steps.first() else { return whole(stop) };
    let is_object = |node: &Node| matches!(node.kind, Kind::Object(_));
    let mut objects = (0..arguments.len()).filter(|at| is_object(&arguments[*at]));
    let (Some(at), None) = (objects.next(), objects.next()) else {
        return Err(stop.denied("it is set by merge, which has not exactly one object written out"));
    };
    let Kind::Object(entries) = &arguments[at].kind else {
        return Err(stop.denied("it is set by merge"));
    };
    let here = named(entries, key).is_some();
    let is_last = at + 1 == arguments.len();
    let is_set = stop.trail.desired.as_ref().is_some_and(|it| *it != Value::Null);
    let removes = stop.trail.wanted.is_none() && stop.trail.steps.len() == 1;
    if !here && removes {
        return Err(stop.denied("another argument of merge sets it"));
    }
    if !here && is_set && (!is_last || stop.trail.steps.len() > 1) {
        return Err(stop.denied("another argument of merge sets it, and may win"));
    }
    if here && !is_last {
        return Err(stop.denied("an argument of merge that comes later may win"));
    }
    if here && removes && arguments.len() > 1 {
        return Err(stop.denied("another argument of merge may set it too, once it is gone here"));
    }
    let mut to = stop.trail.at.clone();
    to.push(Segment::Argument(at));
    // Set for the first time here, over what another argument says.
    let hops = if here { stop.trail.hops + 1 } else { stop.trail.hops };
    Ok(Next::Follow(vec![Trail { hops, ..stop.onward(to) }]))
}

/// The map as a whole: key by key.
fn whole(stop: &Stop<'_>) -> Result<Next, Denied> {
    let (Some(desired @ Value::Object(_)), Some(wanted @ Value::Object(_))) =
        (&stop.trail.desired, &stop.trail.wanted)
    else {
        return Err(stop.denied("it is set by merge"));
    };
    let differences = diff(desired, wanted).into_iter().rev().filter(|it| it.noise.is_none());
    let trails = differences.map(|it| Trail {
        steps: it.path.0,
        wanted: it.after,
        desired: it.before.or(Some(Value::Null)),
        ..stop.onward(stop.trail.at.clone())
    });
    Ok(Next::Follow(trails.collect()))
}
