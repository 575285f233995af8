//! Following an attribute of a resource to the literal that sets it, wherever that stands.
//!
//! - A trail begins at the resource's block and ends at a place that can be edited, or with the
//!   reason why there is none.
//! - Each kind of expression is a [`Source`](super::source::Source): it ends the trail, or lays
//!   new ones.

use super::{
    change::Change,
    draft::{Declared, Denied, Draft},
    file::SourceFile,
    node::{Body, Found, Kind, Location, Node, Pick, Segment},
    source::{self, SOURCES, blocks},
};
use crate::{
    address::Key,
    diff::alike,
    path::{Path, Step},
    value::Value,
};

/// References lead to references, but not for ever.
const HOPS_MAX: usize = 16;

/// Where we stand, and what is still to go.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    /// The module calls that lead to the module of `file`.
    pub(super) calls: Vec<String>,
    pub(super) file: String,
    pub(super) at: Location,
    pub(super) steps: Vec<Step>,
    /// `None` takes the value out.
    pub(super) wanted: Option<Value>,
    /// What the plan wants there now; `None` when it does not say.
    pub(super) desired: Option<Value>,
    /// The key of each module call on the way to the resource, then the resource's own.
    pub(super) keys: Vec<Option<Key>>,
    /// Of which of these `each` and `count` speak here.
    pub(super) level: Option<usize>,
    /// Of which of these this place sets the value for all instances.
    pub(super) shared: Vec<usize>,
    /// True when it is known that the provider takes an attribute there, and no blocks.
    pub(super) is_attribute: bool,
    pub(super) hops: usize,
}

/// A place to edit.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) trail: Trail,
    /// What to change, file by file.
    pub(super) changes: Vec<(String, Change)>,
}

/// What a source makes of a place.
pub(super) enum Next {
    /// Edit here.
    Edit(Vec<(String, Change)>),
    /// Look there.
    Follow(Vec<Trail>),
}

/// A trail at an expression, with all it takes to go on.
pub(super) struct Stop<'a> {
    pub(super) draft: &'a Draft<'a>,
    pub(super) file: &'a SourceFile,
    pub(super) node: &'a Node,
    pub(super) trail: &'a Trail,
}

impl Stop<'_> {
    pub(super) fn denied(&self, reason: impl Into<String>) -> Denied {
        Denied::new(reason, Some(self.file.place(self.node.range.start)))
    }

    /// The trail at another place of the same file, one hop further.
    pub(super) fn onward(&self, at: Location) -> Trail {
        Trail { at, hops: self.trail.hops + 1, ..self.trail.clone() }
    }

    /// The steps of a reference, keys of instances put in, with what is still to go.
    pub(super) fn steps_of(&self, picks: &[Pick]) -> Option<Vec<Step>> {
        let key = self.trail.level.and_then(|level| self.trail.keys.get(level));
        let key = key.and_then(Option::as_ref);
        let mut steps: Vec<Step> = picks
            .iter()
            .map(|pick| {
                Some(match (pick, key) {
                    (Pick::Step(step), _) => step.clone(),
                    (Pick::EachKey, Some(Key::Text(key))) => Step::Key(key.clone()),
                    (Pick::CountIndex, Some(Key::Number(index))) => {
                        Step::Index(usize::try_from(*index).ok()?)
                    }
                    _ => return None,
                })
            })
            .collect::<Option<_>>()?;
        steps.extend(self.trail.steps.iter().cloned());
        Some(steps)
    }
}

/// Follows a trail to its ends.
pub(super) fn follow(draft: &Draft<'_>, trail: Trail) -> Result<Vec<Spot>, Denied> {
    let mut open = vec![trail];
    let mut ends = Vec::new();
    while let Some(trail) = open.pop() {
        let (trail, next) = step(draft, trail)?;
        match next {
            Next::Edit(changes) => ends.push(Spot { trail, changes }),
            Next::Follow(trails) => {
                if trails.iter().any(|it| it.hops > HOPS_MAX) {
                    return Err(Denied::new("it is set by references that go too far", None));
                }
                open.extend(trails.into_iter().rev());
            }
        }
    }
    Ok(ends)
}

/// Goes along the steps as far as the written structure does, and asks the source there.
fn step(draft: &Draft<'_>, mut trail: Trail) -> Result<(Trail, Next), Denied> {
    let file = draft.file(&trail.file).ok_or_else(|| Denied::new("its file is not there", None))?;
    let body = file.body.as_ref().map_err(|reason| Denied::new(reason, None))?;
    loop {
        let found = body.find(&trail.at).ok_or_else(|| Denied::new("it has no place", None))?;
        match found {
            Found::Body(holder) => {
                let Some((Step::Key(name), rest)) = trail.steps.split_first() else {
                    return Err(Denied::new("it is no attribute of the resource", None));
                };
                let (name, rest) = (name.clone(), rest.to_vec());
                if holder.entry(&name).is_none() {
                    let next = blocks::enter(draft, file, holder, &trail)?;
                    return Ok((trail, next));
                }
                trail.at.push(Segment::Name(name));
                trail.steps = rest;
            }
            Found::Node(node) => {
                let Some((segment, used)) = inward(node, &trail, file)? else {
                    let stop = Stop { draft, file, node, trail: &trail };
                    let next = SOURCES.iter().find_map(|source| (source.follow)(&stop));
                    let next = next.unwrap_or_else(|| {
                        Err(stop.denied(format!("it is set by {}", node.describe())))
                    })?;
                    return Ok((trail, next));
                };
                trail.at.extend(segment);
                trail.steps.drain(..used);
                if body.find(&trail.at).is_none() {
                    let next = source::literal::missing(file, &trail)?;
                    return Ok((trail, next));
                }
            }
        }
    }
}

/// One step into a collection: the segment, if any, and how many steps it takes. `None` where the
/// trail ends.
fn inward(
    node: &Node,
    trail: &Trail,
    file: &SourceFile,
) -> Result<Option<(Option<Segment>, usize)>, Denied> {
    let denied = |reason: String| Denied::new(reason, Some(file.place(node.range.start)));
    let Some(step) = trail.steps.first() else { return Ok(None) };
    match (&node.kind, step) {
        (Kind::Object(entries), Step::Key(key)) => {
            let named = entries.iter().filter(|it| it.name.as_ref() == Some(key)).count();
            match named {
                1 => Ok(Some((Some(Segment::Name(key.clone())), 1))),
                0 if entries.iter().any(|it| it.name.is_none()) => {
                    Err(denied("the object has computed keys".to_owned()))
                }
                0 if trail.steps.len() == 1 => Ok(Some((Some(Segment::Name(key.clone())), 1))),
                0 => Err(denied(format!("`{key}` is not in the configuration"))),
                _ => Err(denied(format!("`{key}` is written twice"))),
            }
        }
        (Kind::List(items), Step::Index(index)) => {
            let rest = Path(trail.steps[1..].to_vec());
            let index = element(items, *index, &rest, trail.desired.as_ref());
            match index {
                Some(index) => Ok(Some((Some(Segment::Index(index)), 1))),
                None if items.len() <= *index_of(step) => {
                    Err(denied("the list is shorter in the configuration".to_owned()))
                }
                None => Err(denied("it cannot be told which element of the list it is".to_owned())),
            }
        }
        // One block may be written as an object where the plan has a list of one.
        (Kind::Object(_), Step::Index(0)) => Ok(Some((None, 1))),
        _ => Ok(None),
    }
}

fn index_of(step: &Step) -> &usize {
    match step {
        Step::Index(index) => index,
        Step::Key(_) => &0,
    }
}

/// The element of a list that is meant. A plan lists sets in an order of its own, so the present
/// value tells.
fn element(items: &[Node], index: usize, rest: &Path, desired: Option<&Value>) -> Option<usize> {
    let value = |item: &Node| item.literal().map(|value| rest.find(&value).cloned());
    let at_index = items.get(index).map(value);
    if desired.is_none() || matches!(at_index, Some(None)) {
        // Nothing to compare with.
        return at_index.map(|_| index);
    }
    let fits = |item: &Node| value(item).is_some_and(|it| alike(it.as_ref(), desired));
    if items.get(index).is_some_and(fits) {
        return Some(index);
    }
    let mut fitting = (0..items.len()).filter(|at| fits(&items[*at]));
    fitting
        .next()
        .filter(|_| fitting.next().is_none() && items.iter().all(|it| value(it).is_some()))
}

/// The block that a finding's resource is declared by, and the one to edit: an override that sets
/// the attribute wins over the block itself.
pub(super) fn holder<'a>(
    draft: &'a Draft<'_>,
    folder: &str,
    (kind, labels): (&str, &[&str]),
    name: &str,
) -> Result<Declared<'a>, Denied> {
    let sets = |body: &Body| body.entry(name).is_some() || body.blocks_of(name).next().is_some();
    let blocks = draft.blocks(folder, kind, labels);
    let over = blocks.iter().rfind(|it| it.file.is_override() && sets(&it.block.body));
    match over {
        Some(over) => Ok(*over),
        None => draft.declaration(folder, kind, labels).map_err(|reason| Denied::new(reason, None)),
    }
}
