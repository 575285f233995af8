//! A list that gets other elements: those that stay keep their bytes and their comments.

use super::{
    layout::{Spliced, indentation, line_end, line_start, newline},
    lexer::{Class, tokens},
    node::Node,
    splice::Splice,
};
use crate::{diff::alike, value::Value};
use std::ops::Range;

/// An element of the new list.
#[derive(Clone, Copy)]
enum Item<'a> {
    /// One of the old elements, by position.
    Kept(usize),
    New(&'a Value),
}

/// Makes the list at `span` say `wanted`; `desired` is what the plan takes it for now.
pub(super) fn set(
    text: &str,
    (span, items): (&Range<usize>, &[Node]),
    (wanted, desired): (&[Value], Option<&Value>),
    write: &dyn Fn(&Value) -> String,
) -> Spliced {
    let old: Vec<Value> =
        items.iter().map(Node::literal).collect::<Option<_>>().unwrap_or_default();
    if old.len() != items.len() {
        return Err("it is set by a collection with computed parts".to_owned());
    }
    let in_order = desired.is_none_or(|desired| *desired == Value::List(old.clone()));
    let plan = if in_order { by_position(&old, wanted) } else { by_content(&old, wanted) };
    if text[span.clone()].contains('\n') {
        several_lines(text, span, items, &plan, write)
    } else {
        one_line(text, span, items, &plan, write)
    }
}

/// Adds an element at the end, whatever the others are.
pub(super) fn append(
    text: &str,
    (span, items): (&Range<usize>, &[Node]),
    added: &Value,
    write: &dyn Fn(&Value) -> String,
) -> Spliced {
    let mut plan: Vec<Item<'_>> = (0..items.len()).map(Item::Kept).collect();
    plan.push(Item::New(added));
    if text[span.clone()].contains('\n') && !items.is_empty() {
        several_lines(text, span, items, &plan, write)
    } else {
        one_line(text, span, items, &plan, write)
    }
}

/// What the beginnings and the ends share stays.
fn by_position<'a>(old: &[Value], wanted: &'a [Value]) -> Vec<Item<'a>> {
    let front = old.iter().zip(wanted).take_while(|(left, right)| left == right).count();
    let most = old.len().min(wanted.len()) - front;
    let back = old.iter().rev().zip(wanted.iter().rev());
    let back = back.take(most).take_while(|(left, right)| left == right).count();
    let mut plan: Vec<Item<'a>> = (0..front).map(Item::Kept).collect();
    plan.extend(wanted[front..wanted.len() - back].iter().map(Item::New));
    plan.extend((old.len() - back..old.len()).map(Item::Kept));
    plan
}

/// The plan's order is its own: what is still there stays where it stands, the rest comes behind.
fn by_content<'a>(old: &[Value], wanted: &'a [Value]) -> Vec<Item<'a>> {
    let mut missing: Vec<&Value> = wanted.iter().collect();
    let mut plan = Vec::new();
    for (at, value) in old.iter().enumerate() {
        if let Some(found) = missing.iter().position(|it| alike(Some(it), Some(value))) {
            missing.remove(found);
            plan.push(Item::Kept(at));
        }
    }
    plan.extend(missing.into_iter().map(Item::New));
    plan
}

fn one_line(
    text: &str,
    span: &Range<usize>,
    items: &[Node],
    plan: &[Item<'_>],
    write: &dyn Fn(&Value) -> String,
) -> Spliced {
    if tokens(&text[span.clone()]).iter().any(|it| it.class == Class::BlockComment) {
        return Err("the list has comments in one line with its elements".to_owned());
    }
    let words: Vec<String> = plan
        .iter()
        .map(|item| match item {
            Item::Kept(at) => text[items[*at].range.clone()].to_owned(),
            Item::New(value) => write(value),
        })
        .collect();
    let (Some(first), Some(last)) = (items.first(), items.last()) else {
        return Ok(vec![Splice { range: span.clone(), text: format!("[{}]", words.join(", ")) }]);
    };
    if words.is_empty() {
        return Ok(vec![Splice { range: span.clone(), text: "[]".to_owned() }]);
    }
    let between = items.get(1).map_or(", ", |next| &text[first.range.end..next.range.start]);
    let range = first.range.start..last.range.end;
    Ok(vec![Splice { range, text: words.join(between) }])
}

fn several_lines(
    text: &str,
    span: &Range<usize>,
    items: &[Node],
    plan: &[Item<'_>],
    write: &dyn Fn(&Value) -> String,
) -> Spliced {
    let (Some(first), Some(last)) = (items.first(), items.last()) else {
        return Err("the list is empty but for comments".to_owned());
    };
    let alone =
        |item: &Node| text[line_start(text, item.range.start)..item.range.start].trim().is_empty();
    if !items.iter().all(alone) || line_end(text, last.range.end) > span.end {
        return Err("several elements of the list stand on one line".to_owned());
    }
    let comma = |item: &Node| {
        let behind = &text[item.range.end..line_end(text, item.range.end)];
        behind.trim_start().starts_with(',').then(|| behind.len() - behind.trim_start().len())
    };
    let trailing = comma(last).is_some();
    let (indent, newline) = (indentation(text, first.range.start), newline(text));
    let ends: Vec<usize> = items.iter().map(|item| line_end(text, item.range.end)).collect();
    let head = line_end(text, span.start);
    let mut lines = String::new();
    for (position, item) in plan.iter().enumerate() {
        let wants_comma = position + 1 < plan.len() || trailing;
        match item {
            Item::Kept(at) => {
                let item = &items[*at];
                let begin = at.checked_sub(1).map_or(head, |before| ends[before]);
                lines.push_str(&text[begin..item.range.end]);
                let behind = item.range.end + comma(item).map_or(0, |spaces| spaces + 1);
                lines.push_str(if wants_comma { "," } else { "" });
                lines.push_str(&text[behind..ends[*at]]);
            }
            Item::New(value) => {
                let comma = if wants_comma { "," } else { "" };
                lines.push_str(&format!("{indent}{}{comma}{newline}", write(value)));
            }
        }
    }
    let range = head..ends[ends.len() - 1];
    Ok(vec![Splice { range, text: lines }])
}
