//! Nested blocks: told by where they stand or by what they hold, changed, added and taken out.
//!
//! A plan lists the blocks of a set in an order of its own, and says nothing of which values are
//! written and which are the provider's; so a block is told by the values that it does write.

use super::{
    super::{
        change::{Act, Change, NewBlock, NewValue},
        draft::{Denied, Draft},
        file::SourceFile,
        node::{Block, Body, Segment},
        trail::{Next, Trail},
    },
    literal,
};
use crate::{
    diff::{alike, diff},
    path::{Path, Step},
    value::Value,
};
use std::collections::BTreeMap;

/// From a body into what the first step names, which is no attribute that is written there.
pub(in super::super) fn enter(
    _draft: &Draft<'_>,
    file: &SourceFile,
    body: &Body,
    trail: &Trail,
) -> Result<Next, Denied> {
    let place = |at: usize| Some(file.place(at));
    let Some((Step::Key(name), rest)) = trail.steps.split_first() else {
        return Err(Denied::new("it is no attribute of the resource", place(body.range.start)));
    };
    let dynamic = body.blocks_of("dynamic").find(|(_, it)| it.labels.first() == Some(name));
    if let Some((_, block)) = dynamic {
        let reason = format!("a dynamic block makes `{name}`");
        return Err(Denied::new(reason, place(block.range.start)));
    }
    let blocks: Vec<(usize, &Block)> = body.blocks_of(name).collect();
    let inside = |at: usize, steps: &[Step]| {
        let at = [&trail.at[..], &[Segment::Block(at)]].concat();
        Ok(Next::Follow(vec![Trail { at, steps: steps.to_vec(), ..trail.clone() }]))
    };
    let Some((_, first)) = blocks.first() else {
        if !rest.is_empty() {
            let reason = format!("`{name}` is not in the configuration");
            return Err(Denied::new(reason, place(body.range.start)));
        }
        let at = [&trail.at[..], &[Segment::Name(name.clone())]].concat();
        return literal::missing(file, &Trail { at, steps: Vec::new(), ..trail.clone() });
    };
    let denied = |reason: String| Err(Denied::new(reason, place(first.range.start)));
    match (blocks.as_slice(), rest) {
        (_, []) => whole(file, &blocks, trail),
        (_, [Step::Index(_)]) => denied(format!("whole `{name}` blocks come or go")),
        ([(at, _)], [Step::Index(_), rest @ ..] | rest) => inside(*at, rest),
        (several, [Step::Index(index), rest @ ..]) => {
            match chosen(several, *index, rest, trail.desired.as_ref()) {
                Some(at) => inside(at, rest),
                None => denied(format!("it cannot be told which `{name}` block it is")),
            }
        }
        (_, _) => denied(format!("there are several `{name}` blocks")),
    }
}

/// The one of several blocks that holds the present value: at its place if it can be, else
/// wherever it is the only one.
fn chosen(
    blocks: &[(usize, &Block)],
    index: usize,
    rest: &[Step],
    desired: Option<&Value>,
) -> Option<usize> {
    let desired = desired?;
    let rest = Path(rest.to_vec());
    let value = |block: &Block| -> Option<Option<Value>> {
        Some(rest.find(&written(&block.body)?).cloned())
    };
    let values: Vec<Option<Option<Value>>> = blocks.iter().map(|(_, it)| value(it)).collect();
    let fits =
        |at: usize| matches!(values.get(at), Some(Some(it)) if alike(it.as_ref(), Some(desired)));
    let fitting: Vec<usize> = (0..blocks.len()).filter(|at| fits(*at)).collect();
    let known = values.iter().all(Option::is_some);
    match fitting.as_slice() {
        [only] if *only == index || known => Some(blocks[*only].0),
        _ => None,
    }
}

/// The values that a block writes out; `None` when any of them is computed.
fn written(body: &Body) -> Option<Value> {
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    for entry in &body.entries {
        fields.insert(entry.name.clone()?, entry.value.literal()?);
    }
    for block in &body.blocks {
        let value = written(&block.body)?;
        match fields.entry(block.kind.clone()).or_insert_with(|| Value::List(Vec::new())) {
            Value::List(items) => items.push(value),
            _ => return None,
        }
    }
    Some(Value::Object(fields))
}

/// True when an element of the plan can be this block: it has every value that is written out.
fn can_be(body: &Body, element: &Value) -> bool {
    let entries = body.entries.iter().all(|entry| {
        let (Some(name), Some(value)) = (&entry.name, entry.value.literal()) else { return true };
        alike(Some(&value), element.get(name))
    });
    let blocks = body.blocks.iter().all(|block| match element.get(&block.kind) {
        Some(Value::List(items)) => items.iter().any(|item| can_be(&block.body, item)),
        Some(single @ Value::Object(_)) => can_be(&block.body, single),
        _ => block.kind == "dynamic",
    });
    entries && blocks
}

/// The list of all blocks of a kind becomes another.
fn whole(file: &SourceFile, blocks: &[(usize, &Block)], trail: &Trail) -> Result<Next, Denied> {
    let start = blocks.first().map_or(0, |(_, block)| block.range.start);
    let denied = |reason: &str| Denied::new(reason, Some(file.place(start)));
    let (Some(Value::List(desired)), Some(Value::List(wanted))) = (&trail.desired, &trail.wanted)
    else {
        return Err(denied("whole blocks come or go, and the plan does not say which"));
    };
    let owners =
        owners(blocks, desired).ok_or_else(|| denied("it cannot be told which block is which"))?;
    let mut added: Vec<&Value> = wanted.iter().collect();
    let mut gone: Vec<usize> = Vec::new();
    for (at, element) in desired.iter().enumerate() {
        match added.iter().position(|it| alike(Some(it), Some(element))) {
            Some(found) => drop(added.remove(found)),
            None => gone.push(at),
        }
    }
    let at = |block: usize| [&trail.at[..], &[Segment::Block(block)]].concat();
    if let ([only], [new]) = (gone.as_slice(), added.as_slice()) {
        let differences = diff(&desired[*only], new).into_iter().filter(|it| it.noise.is_none());
        let trails = differences.rev().map(|it| Trail {
            at: at(owners[*only]),
            steps: it.path.0,
            wanted: it.after.filter(|it| *it != Value::Null),
            desired: it.before.or(Some(Value::Null)),
            ..trail.clone()
        });
        return Ok(Next::Follow(trails.collect()));
    }
    let last = blocks.iter().map(|(at, _)| *at).max().unwrap_or(0);
    let mut changes = Vec::new();
    for (number, element) in added.iter().enumerate() {
        let block = block_like(blocks, element)
            .ok_or_else(|| denied("it cannot be told how a new block is to be written"))?;
        changes.push(Change { at: at(last + 1 + number), act: Act::AddBlock(block) });
    }
    let mut gone: Vec<usize> = gone.into_iter().map(|at| owners[at]).collect();
    gone.sort_unstable();
    changes.extend(gone.into_iter().rev().map(|it| Change { at: at(it), act: Act::RemoveBlock }));
    let changes = changes.into_iter().map(|change| (file.path.clone(), change));
    Ok(Next::Edit(changes.collect()))
}

/// The block of each element, by position among all blocks of the body.
fn owners(blocks: &[(usize, &Block)], elements: &[Value]) -> Option<Vec<usize>> {
    if blocks.len() != elements.len() {
        return None;
    }
    let in_place = blocks.iter().zip(elements).all(|((_, block), it)| can_be(&block.body, it));
    if in_place {
        return Some(blocks.iter().map(|(at, _)| *at).collect());
    }
    // Each block can be one element only, and no element is two blocks.
    let mut owners = vec![None; elements.len()];
    for (at, block) in blocks {
        let mut fitting = (0..elements.len()).filter(|it| can_be(&block.body, &elements[*it]));
        let (only, None) = (fitting.next()?, fitting.next()) else { return None };
        if owners[only].replace(*at).is_some() {
            return None;
        }
    }
    owners.into_iter().collect()
}

/// A block that writes what its siblings do, and whatever else is not empty.
fn block_like(siblings: &[(usize, &Block)], element: &Value) -> Option<NewBlock> {
    let Value::Object(fields) = element else { return None };
    let (_, sibling) = siblings.first()?;
    let mut block = NewBlock { kind: sibling.kind.clone(), ..NewBlock::default() };
    for (name, value) in fields {
        let nested: Vec<(usize, &Block)> =
            siblings.iter().flat_map(|(_, it)| it.body.blocks_of(name)).collect();
        let is_written = siblings.iter().any(|(_, it)| it.body.entry(name).is_some());
        match value {
            value if value.is_empty() => {}
            Value::Bool(false) if !is_written => {}
            Value::List(items) if !nested.is_empty() => {
                for item in items {
                    block.blocks.push(block_like(&nested, item)?);
                }
            }
            Value::List(items)
                if !is_written && items.iter().any(|it| matches!(it, Value::Object(_))) =>
            {
                return None;
            }
            value => block.entries.push((name.clone(), NewValue::Value(value.clone()))),
        }
    }
    Some(block)
}
