//! `each.value`: what the map behind `for_each` has for this instance.

use super::{
    super::{
        draft::Denied,
        node::{Kind, Pick, Reference, Segment},
        trail::{Next, Stop, Trail},
    },
    Source,
};
use crate::{address::Key, path::Step};

pub(super) const SOURCE: Source = Source {
    name: "each",
    follow: |stop| {
        let Kind::Reference(reference) = &stop.node.kind else { return None };
        (reference.root == "each").then(|| follow(stop, reference))
    },
};

fn follow(stop: &Stop<'_>, reference: &Reference) -> Result<Next, Denied> {
    let Some((Pick::Step(Step::Key(what)), rest)) = reference.picks.split_first() else {
        return Err(stop.denied("it is set by a reference"));
    };
    if what != "value" {
        return Err(stop.denied("it is the key of its instance"));
    }
    let level = stop.trail.level;
    let key = level.and_then(|level| stop.trail.keys.get(level)).and_then(Option::as_ref);
    let (Some(level), Some(Key::Text(key))) = (level, key) else {
        return Err(stop.denied("it cannot be told which instance it is"));
    };
    let mut steps = vec![Step::Key(key.clone())];
    steps.extend(stop.steps_of(rest).ok_or_else(|| stop.denied("it is set by a reference"))?);
    let block = stop.trail.at[..1].to_vec();
    let at = [&block[..], &[Segment::Name("for_each".to_owned())]].concat();
    let shared = stop.trail.shared.iter().copied().filter(|it| *it != level).collect();
    Ok(Next::Follow(vec![Trail { steps, shared, level: None, ..stop.onward(at) }]))
}
