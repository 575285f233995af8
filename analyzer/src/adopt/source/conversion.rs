//! A function that only changes the type, such as `tomap`: what it is given decides.

use super::{
    super::{
        node::{Kind, Segment},
        trail::{Next, Stop},
    },
    Source,
};
use crate::path::Step;

/// Functions that leave the value as it is.
const FUNCTIONS: &[&str] =
    &["nonsensitive", "tobool", "tolist", "tomap", "tonumber", "toset", "tostring"];

pub(super) const SOURCE: Source = Source {
    name: "conversion",
    follow: |stop| {
        let Kind::Call { function, arguments } = &stop.node.kind else { return None };
        let known = FUNCTIONS.contains(&function.as_str()) && arguments.len() == 1;
        if !known {
            return None;
        }
        Some(match stop.trail.steps.first() {
            Some(Step::Key(_)) if function == "toset" => {
                Err(stop.denied("it is the key of its instance"))
            }
            _ => Ok(follow(stop)),
        })
    },
};

fn follow(stop: &Stop<'_>) -> Next {
    let mut at = stop.trail.at.clone();
    at.push(Segment::Argument(0));
    Next::Follow(vec![stop.onward(at)])
}
