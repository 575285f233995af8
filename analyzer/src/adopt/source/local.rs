//! `local.x`: the local value, when nothing else uses it.

use super::{
    super::{
        draft::Denied,
        node::{Kind, Pick, Reference, Segment},
        trail::{Next, Stop, Trail},
    },
    Source,
};
use crate::path::Step;

pub(super) const SOURCE: Source = Source {
    name: "local",
    follow: |stop| {
        let Kind::Reference(reference) = &stop.node.kind else { return None };
        (reference.root == "local").then(|| follow(stop, reference))
    },
};

fn follow(stop: &Stop<'_>, reference: &Reference) -> Result<Next, Denied> {
    let Some((Pick::Step(Step::Key(name)), rest)) = reference.picks.split_first() else {
        return Err(stop.denied("it is set by a reference"));
    };
    let folder = stop.draft.folder(&stop.trail.calls).map_err(|reason| stop.denied(reason))?;
    let uses = stop.draft.uses(folder, ("local", name), None).len();
    if uses > 1 {
        return Err(stop.denied(format!("local.{name}, which sets it, is used {uses} times")));
    }
    let blocks = stop.draft.blocks(folder, "locals", &[]);
    let mut found = blocks.iter().filter(|it| it.block.body.entry(name).is_some());
    let (Some(block), None) = (found.next(), found.next()) else {
        return Err(stop.denied(format!("local.{name}, which sets it, was not found")));
    };
    let steps = stop.steps_of(rest).ok_or_else(|| stop.denied("it is set by a reference"))?;
    let at = vec![Segment::Block(block.at), Segment::Name(name.clone())];
    let file = block.file.path.clone();
    let shared = shared(stop, rest);
    Ok(Next::Follow(vec![Trail { file, steps, shared, level: None, ..stop.onward(at) }]))
}

/// What is picked by the instance's key is the instance's own.
pub(super) fn shared(stop: &Stop<'_>, picks: &[Pick]) -> Vec<usize> {
    let own = picks.iter().any(|it| matches!(it, Pick::EachKey | Pick::CountIndex));
    let shared = stop.trail.shared.iter().copied();
    shared.filter(|level| !own || Some(*level) != stop.trail.level).collect()
}
