//! Where bytes go so that a file keeps its looks: indentation, aligned `=`, line endings, commas.
//!
//! - `=` signs are moved only in the run of lines around the edit, and only when they were
//!   aligned before.
//! - Where the layout is one we do not know how to keep, the edit is refused.

use super::{
    literal::{Layout, columns, key_name, write_key},
    tree::Holder,
};
use hcl_edit::{
    Span,
    expr::Object,
    structure::{Attribute, Block, Body},
};
use std::ops::Range;

/// Bytes of a text and what takes their place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The text with all splices carried out; they do not overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut out = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for splice in splices {
        out.push_str(&text[copied..splice.range.start]);
        out.push_str(&splice.text);
        copied = splice.range.end;
    }
    out + &text[copied..]
}

/// The layout of the value that stands at `span`.
pub(super) fn like<'a>(text: &'a str, span: &Range<usize>) -> Layout<'a> {
    if !text[span.clone()].contains('\n') {
        return Layout::OneLine;
    }
    Layout::Lines { indent: indentation(text, span.start), newline: newline(text) }
}

/// A named value: where its key and its value stand.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Sets a name that is not there yet.
pub(super) fn insert(
    text: &str,
    holder: Holder<'_>,
    name: &str,
    value: &str,
) -> Result<Vec<Splice>, String> {
    match holder {
        Holder::Block(block) => {
            let span = block.span().ok_or("the block has no place")?;
            let items = block_items(block);
            match items.last() {
                Some(last) => insert_line(text, &items, last, (name.to_owned(), value), ""),
                None => insert_first(text, &span, name, value),
            }
        }
        Holder::Object(object) => insert_in_object(text, object, name, value),
        Holder::Array => Err("elements of lists have no name".to_owned()),
    }
}

/// Attributes that stand before the first nested block: new ones go behind the last of them.
fn block_items(block: &Block) -> Vec<Item> {
    block.body.iter().map_while(|structure| structure.as_attribute()).filter_map(item).collect()
}

pub(super) fn attribute_items(body: &Body) -> Vec<Item> {
    body.attributes().filter_map(item).collect()
}

fn item(attribute: &Attribute) -> Option<Item> {
    Some(Item {
        name: attribute.key.value().to_string(),
        key: attribute.key.span()?,
        value: attribute.value.span()?,
    })
}

pub(super) fn object_items(object: &Object) -> Vec<Item> {
    object
        .iter()
        .filter_map(|(key, item)| {
            Some(Item {
                name: key_name(key).unwrap_or_default(),
                key: key.span()?,
                value: item.expr().span()?,
            })
        })
        .collect()
}

/// The first attribute of a block without any.
fn insert_first(
    text: &str,
    span: &Range<usize>,
    name: &str,
    value: &str,
) -> Result<Vec<Splice>, String> {
    let indent = indentation(text, span.start);
    let newline = newline(text);
    let line = format!("{indent}  {name} = {value}{newline}");
    let written = &text[span.clone()];
    let open = span.start + written.find('{').ok_or("the block has no bracket")? + 1;
    if text[open..span.end].trim() == "}" {
        return Ok(vec![Splice {
            range: open..span.end,
            text: format!("{newline}{line}{indent}}}"),
        }]);
    }
    let rest_of_line = line_end(text, open);
    if !is_blank_or_comment(&text[open..rest_of_line]) {
        return Err("the block stands on one line".to_owned());
    }
    Ok(vec![Splice { range: rest_of_line..rest_of_line, text: line }])
}

fn insert_in_object(
    text: &str,
    object: &Object,
    name: &str,
    value: &str,
) -> Result<Vec<Splice>, String> {
    let span = object.span().ok_or("the object has no place")?;
    let key = write_key(name);
    let items = object_items(object);
    let Some(last) = items.last() else {
        if text[span.clone()].contains(['#', '/', '\n']) {
            return Err("the object is empty but for comments".to_owned());
        }
        return Ok(vec![Splice { range: span, text: format!("{{ {key} = {value} }}") }]);
    };
    let assign = if text[last.key.end..last.value.start].contains('=') { " =" } else { ":" };
    if !text[span.start..last.key.start].contains('\n') {
        let item = format!(", {key}{assign} {value}");
        return Ok(vec![Splice { range: last.value.end..last.value.end, text: item }]);
    }
    let behind = &text[last.value.end..line_end(text, last.value.end)];
    let comma_behind = behind.trim_start().starts_with(',');
    let commas = comma_behind || items.len() > 1 && has_comma(text, &items[items.len() - 2], last);
    if assign == ":" {
        return Err("its keys are written with colons, one a line".to_owned());
    }
    let comma = if commas { "," } else { "" };
    let mut splices = insert_line(text, &items, last, (key, value), comma)?;
    if commas && !comma_behind {
        splices.push(Splice { range: last.value.end..last.value.end, text: ",".to_owned() });
    }
    Ok(splices)
}

fn has_comma(text: &str, item: &Item, next: &Item) -> bool {
    text[item.value.end..next.key.start].trim_start().starts_with(',')
}

/// A line of its own behind the last item.
fn insert_line(
    text: &str,
    items: &[Item],
    last: &Item,
    (key, value): (String, &str),
    comma: &str,
) -> Result<Vec<Splice>, String> {
    let end = line_end(text, last.value.end);
    let behind = text[last.value.end..end].trim_start();
    if !is_blank_or_comment(behind.strip_prefix(',').unwrap_or(behind)) || end == text.len() {
        return Err("it stands in one line with other things".to_owned());
    }
    let indent = indentation(text, last.key.start);
    let run = run_around(text, items, items.len() - 1);
    let mut splices = Vec::new();
    let mut width = columns(&key);
    if is_aligned(text, run) && is_single_line(text, last) {
        width = run.iter().map(|item| key_width(text, item)).max().unwrap_or(0).max(width);
        splices = realign(text, run, width);
    }
    let pad = " ".repeat(width - columns(&key));
    let line = format!("{indent}{key}{pad} = {value}{comma}{}", newline(text));
    splices.push(Splice { range: end..end, text: line });
    Ok(splices)
}

/// Takes a named value out, with the line it stands on.
pub(super) fn remove(text: &str, holder: Holder<'_>, name: &str) -> Result<Vec<Splice>, String> {
    let (items, whole) = match holder {
        Holder::Block(block) => (attribute_items(&block.body), None),
        Holder::Object(object) => (object_items(object), object.span()),
        Holder::Array => return Err("elements of lists have no name".to_owned()),
    };
    let at = items.iter().position(|item| item.name == name).ok_or("it has no place")?;
    let item = &items[at];
    let start = line_start(text, item.key.start);
    let end = line_end(text, item.value.end);
    let behind = text[item.value.end..end].trim_start();
    let alone = text[start..item.key.start].trim().is_empty()
        && is_blank_or_comment(behind.strip_prefix(',').unwrap_or(behind))
        && text[item.value.end..end].contains('\n');
    if alone {
        let mut splices = close_gap(text, &items, at);
        splices.push(Splice { range: start..end, text: String::new() });
        return Ok(splices);
    }
    let Some(whole) = whole else { return Err("it stands in one line with other things".into()) };
    let range = match (at.checked_sub(1).and_then(|before| items.get(before)), items.get(at + 1)) {
        (Some(before), _) => before.value.end..item.value.end,
        (None, Some(next)) => item.key.start..next.key.start,
        (None, None) => return Ok(vec![Splice { range: whole, text: "{}".to_owned() }]),
    };
    if text[range.clone()].contains(['#', '\n']) {
        return Err("comments stand in between".to_owned());
    }
    Ok(vec![Splice { range, text: String::new() }])
}

/// The lines above and below an item that goes away become neighbours: one run of aligned signs.
fn close_gap(text: &str, items: &[Item], at: usize) -> Vec<Splice> {
    let touches = |above: &Item, below: &Item| {
        text[above.value.end..below.key.start].matches('\n').count() == 1
    };
    let (item, mut run, mut aligned) = (&items[at], Vec::new(), true);
    if at > 0 && touches(&items[at - 1], item) && is_single_line(text, &items[at - 1]) {
        run.extend_from_slice(run_around(text, &items[..at], at - 1));
        aligned &= is_aligned(text, run_around(text, items, at - 1));
    }
    let below = items.get(at + 1);
    if below.is_some_and(|below| touches(item, below) && is_single_line(text, below)) {
        run.extend_from_slice(run_around(text, &items[at + 1..], 0));
        aligned &= is_aligned(text, run_around(text, items, at + 1));
    }
    let width = run.iter().map(|other| key_width(text, other)).max().unwrap_or(0);
    if aligned { realign(text, &run, width) } else { Vec::new() }
}

/// The items on neighbouring lines, each on one line, that `=` signs are aligned over.
pub(super) fn run_around<'a>(text: &str, items: &'a [Item], at: usize) -> &'a [Item] {
    let joined = |above: &Item, below: &Item| {
        is_single_line(text, above)
            && is_single_line(text, below)
            && text[above.value.end..below.key.start].matches('\n').count() == 1
    };
    let mut begin = at;
    while begin > 0 && joined(&items[begin - 1], &items[begin]) {
        begin -= 1;
    }
    let mut end = at + 1;
    while end < items.len() && joined(&items[end - 1], &items[end]) {
        end += 1;
    }
    &items[begin..end]
}

pub(super) fn is_single_line(text: &str, item: &Item) -> bool {
    !text[item.key.start..item.value.end].contains('\n')
}

fn key_width(text: &str, item: &Item) -> usize {
    columns(&text[item.key.clone()])
}

/// The spaces between a key and its `=`.
fn gap(text: &str, item: &Item) -> Option<Range<usize>> {
    let between = &text[item.key.end..item.value.start];
    let equals = between.find('=')?;
    between[..equals].trim().is_empty().then_some(item.key.end..item.key.end + equals)
}

/// True when each `=` stands one space behind the longest key.
fn is_aligned(text: &str, run: &[Item]) -> bool {
    let width = run.iter().map(|item| key_width(text, item)).max().unwrap_or(0);
    run.iter().all(|item| {
        gap(text, item).is_some_and(|gap| key_width(text, item) + gap.len() == width + 1)
    })
}

fn realign(text: &str, items: &[Item], width: usize) -> Vec<Splice> {
    items
        .iter()
        .filter_map(|item| {
            let range = gap(text, item)?;
            let spaces = " ".repeat(width + 1 - key_width(text, item));
            (text[range.clone()] != spaces).then_some(Splice { range, text: spaces })
        })
        .collect()
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The byte behind the line's end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The white space a line begins with.
fn indentation(text: &str, at: usize) -> &str {
    let line = text[line_start(text, at)..at].trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start().len()]
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn is_blank_or_comment(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with('#')
        || text.starts_with("//")
        || (text.starts_with("/*") && text.ends_with("*/"))
}
