//! A collection with computed parts: of what differs, only the literal parts are edited.

use super::{
    super::{
        node::Kind,
        trail::{Next, Trail},
    },
    Source,
};
use crate::{diff::diff, value::Value};

pub(super) const SOURCE: Source = Source {
    name: "parts",
    follow: |stop| {
        let collection = matches!(stop.node.kind, Kind::Object(_) | Kind::List(_));
        let trail = stop.trail;
        if !collection || !trail.steps.is_empty() || stop.node.literal().is_some() {
            return None;
        }
        let (Some(desired), Some(wanted)) = (&trail.desired, &trail.wanted) else { return None };
        let changes: Vec<_> =
            diff(desired, wanted).into_iter().filter(|it| it.noise.is_none()).collect();
        // A list of another length is one difference: there is no part to go to.
        if changes.iter().any(|it| it.path.0.is_empty()) {
            return None;
        }
        let trails = changes.into_iter().rev().map(|it| Trail {
            steps: it.path.0,
            wanted: it.after,
            desired: it.before.or(Some(Value::Null)),
            ..stop.onward(trail.at.clone())
        });
        Some(Ok(Next::Follow(trails.collect())))
    },
};
