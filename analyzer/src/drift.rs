//! The join of what changed outside with what is planned, attribute by attribute.
//!
//! - Of a drifted resource only its differing attributes are kept, not its values.
//! - Differences that are noise never reach the join; they are counted where they were found.

use crate::{
    action::Action,
    diff::{Change, diff},
    fate::Fate,
    path::{Path, any_true},
    value::Value,
};

/// A resource changed outside, waiting for the plan's word on it.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    pub(crate) changes: Vec<Change>,
    /// What is sensitive, on either side.
    pub(crate) masks: [Value; 2],
    pub(crate) joined: Option<Joined>,
}

impl Drift {
    /// Takes the silence of a plan that covers everything: what was deleted outside and has no entry
    /// is not wanted any more.
    pub(crate) fn settle_unlisted(&mut self) {
        let is_deleted = self.changes.iter().any(|change| change.path.0.is_empty());
        if is_deleted && self.joined.is_none() {
            self.joined = Some(Joined {
                action: Action::NoOp,
                reason: None,
                desires: vec![(Fate::Absorbed, Desired::Known(None))],
                pending: Vec::new(),
                mask: Value::Null,
            });
        }
    }
}

/// What the plan says about a drifted resource.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub(crate) action: Action,
    pub(crate) reason: Option<String>,
    /// One per change of the drift, in its order.
    pub(crate) desires: Vec<(Fate, Desired)>,
    /// Attributes that differ between reality and desire without having drifted.
    pub(crate) pending: Vec<Path>,
    pub(crate) mask: Value,
}

/// What the configuration wants at a place.
#[derive(Clone, Debug)]
pub(crate) enum Desired {
    Known(Option<Value>),
    Unknown,
}

/// What a plan wants of one resource.
pub(crate) struct Intent {
    pub(crate) action: Action,
    pub(crate) reason: Option<String>,
    pub(crate) real: Value,
    pub(crate) desired: Value,
    pub(crate) unknown: Value,
    pub(crate) mask: Value,
}

/// Joins the outside changes of a resource with what the plan wants of it.
pub(crate) fn join(changes: &[Change], intent: Intent) -> Joined {
    let desires = changes.iter().map(|change| desire(change, &intent)).collect();
    let pending = pending(changes, &intent);
    let Intent { action, reason, mask, .. } = intent;
    Joined { action, reason, desires, pending, mask }
}

fn desire(change: &Change, intent: &Intent) -> (Fate, Desired) {
    let path = &change.path;
    if path.0.is_empty() {
        return (fate_of_deleted(&intent.action), Desired::Known(None));
    }
    if intent.action == Action::NoOp {
        return (Fate::Absorbed, Desired::Known(change.after.clone()));
    }
    if path.is_masked(&intent.unknown) {
        return (Fate::Undecidable, Desired::Unknown);
    }
    let desired = path.find(&intent.desired);
    let fate = if intent.desired == Value::Null {
        // Apply destroys or forgets what was changed: the change is lost either way.
        Fate::Conflict
    } else {
        Fate::decide(change.before.as_ref(), change.after.as_ref(), desired)
    };
    (fate, Desired::Known(desired.cloned()))
}

/// The object as a whole was deleted outside.
fn fate_of_deleted(action: &Action) -> Fate {
    match action {
        Action::Create => Fate::Reverted,
        Action::NoOp | Action::Delete | Action::Forget => Fate::Absorbed,
        _ => Fate::Undecidable,
    }
}

fn pending(changes: &[Change], intent: &Intent) -> Vec<Path> {
    if intent.action != Action::Update && !intent.action.destroys()
        || intent.desired == Value::Null
        || intent.real == Value::Null
    {
        return Vec::new();
    }
    diff(&intent.real, &intent.desired)
        .into_iter()
        .filter(|wanted| wanted.noise.is_none())
        // What becomes known only after apply is an outcome, not a wish.
        .filter(|wanted| !any_true(&intent.unknown) || !wanted.path.is_masked(&intent.unknown))
        .filter(|wanted| !changes.iter().any(|change| change.path.overlaps(&wanted.path)))
        .map(|wanted| wanted.path)
        .collect()
}
