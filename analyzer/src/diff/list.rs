//! Lists. A plan does not say which of them are sets, so without a schema the elements decide.
//!
//! - The same elements in another order: noise, unless the schema says that order counts.
//! - Elements that changed where they stand: their own differences, at their own paths.
//! - Anything else: one difference of the whole list, because positions mean nothing any more.

use super::{Change, Place, alike, at};
use crate::{noise::Noise, path::Step, schemas::Shape, value::Value};

pub(super) fn diff(
    place: &Place<'_>,
    before: &[Value],
    after: &[Value],
    changes: &mut Vec<Change>,
) {
    let is_list = place.schema.is_some_and(|it| matches!(it.shape(), Shape::List | Shape::Tuple));
    if before.len() == after.len() {
        let unequal: Vec<usize> =
            (0..before.len()).filter(|&index| before[index] != after[index]).collect();
        if unequal.is_empty() || stays_in_place(before, after, &unequal) {
            for index in 0..before.len() {
                at(
                    &place.join(Step::Index(index)),
                    Some(&before[index]),
                    Some(&after[index]),
                    changes,
                );
            }
            return;
        }
    }
    changes.push(Change {
        path: place.path.clone(),
        before: Some(Value::List(before.to_vec())),
        after: Some(Value::List(after.to_vec())),
        noise: (!is_list && same_elements(before, after)).then_some(Noise::Reordered),
    });
}

/// True when no element that changed has only moved: none of the new ones is among the old.
fn stays_in_place(before: &[Value], after: &[Value], unequal: &[usize]) -> bool {
    let changed =
        unequal.iter().copied().filter(|&index| !alike(Some(&before[index]), Some(&after[index])));
    let changed: Vec<usize> = changed.collect();
    let mut old: Vec<&Value> = changed.iter().map(|&index| &before[index]).collect();
    old.sort_by(|left, right| left.order(right));
    let moved = |index: usize| old.binary_search_by(|probe| probe.order(&after[index])).is_ok();
    !changed.into_iter().any(moved)
}

fn same_elements(before: &[Value], after: &[Value]) -> bool {
    if before.len() != after.len() {
        return false;
    }
    let sorted = |items: &[Value]| {
        let mut items = items.to_vec();
        items.sort_by(Value::order);
        items
    };
    sorted(before) == sorted(after)
}
