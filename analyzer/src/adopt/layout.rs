//! Where bytes go in the native syntax so that a file keeps its looks: lines, indentation, commas.
//!
//! - Columns are no matter here: see `canonical`.
//! - Where the layout is one we do not know how to keep, the edit is refused.

use super::{
    lexer::{Class, tokens},
    literal::write_key,
    node::{Body, Entry, Found},
    splice::Splice,
};
use std::ops::Range;

/// Splices, or why there are none.
pub(super) type Spliced = Result<Vec<Splice>, String>;

/// Sets a name that is not there yet.
pub(super) fn insert(text: &str, holder: Found<'_>, name: &str, value: &str) -> Spliced {
    match holder {
        Found::Body(body) => insert_in_body(text, body, name, value),
        Found::Node(node) => {
            let entries = holder.entries().ok_or("elements of lists have no name")?;
            insert_in_object(text, &node.range, entries, (name, value))
        }
    }
}

fn insert_in_body(text: &str, body: &Body, name: &str, value: &str) -> Spliced {
    let first_block = body.blocks.first().map_or(usize::MAX, |block| block.range.start);
    let before = body.entries.iter().rfind(|entry| entry.key.start < first_block);
    let newline = newline(text);
    if let Some(entry) = before.or(body.entries.last()) {
        let line_end = line_end(text, entry.value.range.end);
        if line_end > body.range.end && !text[body.range.clone()].contains('\n') {
            return expand(text, body, &format!("{name} = {value}"));
        }
        let behind = &text[entry.value.range.end..line_end];
        if !is_blank_or_comment(behind) || !behind.ends_with('\n') {
            return Err("it stands in one line with other things".to_owned());
        }
        let indent = indentation(text, entry.key.start);
        let line = format!("{indent}{name} = {value}{newline}");
        return Ok(vec![Splice { range: line_end..line_end, text: line }]);
    }
    if text[body.range.clone()].trim().is_empty() {
        return expand(text, body, &format!("{name} = {value}"));
    }
    let indent = indentation(text, body.range.start);
    let line = format!("{indent}  {name} = {value}{newline}");
    let rest_of_line = line_end(text, body.range.start);
    if !is_blank_or_comment(&text[body.range.start..rest_of_line]) {
        return Err("the block stands on one line".to_owned());
    }
    Ok(vec![Splice { range: rest_of_line..rest_of_line, text: line }])
}

/// Gives a block that stands on one line, or is empty, lines of its own, and a new one.
fn expand(text: &str, body: &Body, added: &str) -> Spliced {
    let written = &text[body.range.clone()];
    if tokens(written).iter().any(|it| it.class == Class::BlockComment) {
        return Err("the block stands on one line with a comment".to_owned());
    }
    let (indent, newline) = (indentation(text, body.range.start), newline(text));
    let old = written.trim();
    let old = if old.is_empty() { String::new() } else { format!("{newline}{indent}  {old}") };
    let added = added.replace('\n', &format!("\n{indent}  "));
    let inside = format!("{old}{newline}{indent}  {added}{newline}{indent}");
    Ok(vec![Splice { range: body.range.clone(), text: inside }])
}

fn insert_in_object(
    text: &str,
    span: &Range<usize>,
    entries: &[Entry],
    (name, value): (&str, &str),
) -> Spliced {
    let key = write_key(name);
    let Some(last) = entries.last() else {
        if text[span.clone()].contains(['#', '/', '\n']) {
            return Err("the object is empty but for comments".to_owned());
        }
        return Ok(vec![Splice { range: span.clone(), text: format!("{{ {key} = {value} }}") }]);
    };
    let end = last.value.range.end;
    let assign = if text[last.key.end..last.value.range.start].contains('=') { " =" } else { ":" };
    if !text[span.start..last.key.start].contains('\n') {
        let item = format!(", {key}{assign} {value}");
        return Ok(vec![Splice { range: end..end, text: item }]);
    }
    let behind = &text[end..line_end(text, end)];
    let comma_behind = behind.trim_start().starts_with(',');
    let commas = comma_behind
        || entries.len() > 1 && {
            let one_before = entries[entries.len() - 2].value.range.end;
            text[one_before..last.key.start].trim_start().starts_with(',')
        };
    let line_end = line_end(text, end);
    let behind = behind.trim_start();
    if !is_blank_or_comment(behind.strip_prefix(',').unwrap_or(behind)) || line_end > span.end {
        return Err("it stands in one line with other things".to_owned());
    }
    let comma = if commas { "," } else { "" };
    let indent = indentation(text, last.key.start);
    let line = format!("{indent}{key}{assign} {value}{comma}{}", newline(text));
    let mut splices = vec![Splice { range: line_end..line_end, text: line }];
    if commas && !comma_behind {
        splices.push(Splice { range: end..end, text: ",".to_owned() });
    }
    Ok(splices)
}

/// Takes a named value out, with the line it stands on.
pub(super) fn remove(text: &str, holder: Found<'_>, name: &str) -> Spliced {
    let entries = holder.entries().ok_or("elements of lists have no name")?;
    let at = entries.iter().position(|entry| entry.name.as_deref() == Some(name));
    let at = at.ok_or("it has no place")?;
    let entry = &entries[at];
    let value_end = entry.value.range.end;
    let (start, end) = (line_start(text, entry.key.start), line_end(text, value_end));
    let behind = text[value_end..end].trim_start();
    let alone = text[start..entry.key.start].trim().is_empty()
        && is_blank_or_comment(behind.strip_prefix(',').unwrap_or(behind))
        && text[value_end..end].contains('\n');
    if alone {
        return Ok(vec![Splice { range: start..end, text: String::new() }]);
    }
    let range = match holder {
        Found::Body(body) if entries.len() == 1 && body.blocks.is_empty() => body.range.clone(),
        Found::Body(_) => return Err("it stands in one line with other things".to_owned()),
        Found::Node(node) => {
            let before = at.checked_sub(1).map(|before| entries[before].value.range.end);
            match (before, entries.get(at + 1)) {
                (Some(before), _) => before..value_end,
                (None, Some(next)) => entry.key.start..next.key.start,
                (None, None) => node.range.start + 1..node.range.end - 1,
            }
        }
    };
    let has_comment = tokens(&text[range.clone()])
        .iter()
        .any(|it| matches!(it.class, Class::BlockComment | Class::LineComment | Class::Newline));
    if has_comment {
        return Err("comments stand in between".to_owned());
    }
    Ok(vec![Splice { range, text: String::new() }])
}

/// Adds a block, written without indentation, behind the block at `behind` or at the end.
pub(super) fn add_block(text: &str, body: &Body, behind: Option<usize>, block: &str) -> Spliced {
    let newline = newline(text);
    let block = block.replace('\n', newline);
    let is_file = body.range == (0..text.len());
    if let Some(sibling) = behind.and_then(|at| body.blocks.get(at)) {
        let end = line_end(text, sibling.range.end);
        let indent = indentation(text, sibling.range.start);
        if !is_blank_or_comment(&text[sibling.range.end..end]) || !text[..end].ends_with('\n') {
            return Err("blocks stand in one line with other things".to_owned());
        }
        let above = line_start(text, sibling.range.start);
        let apart = above == 0
            || text[..above].trim_end_matches([' ', '\t']).ends_with("\n\n")
            || text[..above].ends_with("\r\n\r\n");
        let gap = if apart { newline } else { "" };
        let block = indented(&block, indent);
        return Ok(vec![Splice { range: end..end, text: format!("{gap}{block}{newline}") }]);
    }
    if is_file {
        let gap = match text {
            _ if text.trim_start_matches('\u{feff}').is_empty() => "",
            _ if text.ends_with("\n\n") || text.ends_with("\r\n\r\n") => "",
            _ if text.ends_with('\n') => newline,
            _ => &format!("{newline}{newline}"),
        };
        let end = text.len();
        return Ok(vec![Splice { range: end..end, text: format!("{gap}{block}{newline}") }]);
    }
    let inside = &text[body.range.clone()];
    if !inside.contains('\n') {
        return if inside.trim().is_empty() {
            expand(text, body, &block)
        } else {
            let gap = format!("{newline}  {block}").replace(&format!("{newline}  "), newline);
            expand_with_gap(text, body, &gap)
        };
    }
    let close = line_start(text, body.range.end);
    if !text[close..body.range.end].trim().is_empty() {
        return Err("the closing bracket stands in one line with other things".to_owned());
    }
    let indent = format!("{}  ", indentation(text, body.range.end));
    let above = text[body.range.start..close].trim_end_matches([' ', '\t']);
    let gap = if above.ends_with("\n\n") || above.ends_with("\r\n\r\n") || above.trim().is_empty() {
        ""
    } else {
        newline
    };
    let block = indented(&block, &indent);
    Ok(vec![Splice { range: close..close, text: format!("{gap}{block}{newline}") }])
}

/// As [`expand`], with a blank line in front of what is added.
fn expand_with_gap(text: &str, body: &Body, block: &str) -> Spliced {
    let (indent, newline) = (indentation(text, body.range.start), newline(text));
    let old = text[body.range.clone()].trim();
    if old.contains(['#', '/']) {
        return Err("the block stands on one line with a comment".to_owned());
    }
    let block = indented(block.trim_start_matches(['\r', '\n']), &format!("{indent}  "));
    let inside = format!("{newline}{indent}  {old}{newline}{newline}{block}{newline}{indent}");
    Ok(vec![Splice { range: body.range.clone(), text: inside }])
}

/// Takes a block out with its lines, and a blank line that would be one too many.
pub(super) fn remove_block(text: &str, block: &Range<usize>) -> Spliced {
    let (mut start, mut end) = (line_start(text, block.start), line_end(text, block.end));
    let before = text[start..block.start].trim_start_matches('\u{feff}');
    if !before.trim().is_empty() || !is_blank_or_comment(&text[block.end..end]) {
        return Err("the block stands in one line with other things".to_owned());
    }
    if start == 0 && text.starts_with('\u{feff}') {
        start = 3;
    }
    // In front of a file's first line there is nothing, or a byte-order mark.
    let above = start.checked_sub(1).filter(|at| text.is_char_boundary(*at));
    let above = above.map(|at| line_start(text, at));
    let is_blank = |range: Range<usize>| text[range].trim().is_empty();
    let below = end..line_end(text, end);
    let closes = text[below.clone()].trim_start().starts_with('}') || below.is_empty();
    if above.is_some_and(|above| is_blank(above..start)) && (closes || is_blank(below.clone())) {
        start = above.unwrap_or(start);
    } else if !below.is_empty()
        && is_blank(below.clone())
        && above.is_none_or(|above| text[above..start].trim_end().ends_with('{'))
    {
        end = below.end;
    }
    Ok(vec![Splice { range: start..end, text: String::new() }])
}

fn indented(block: &str, indent: &str) -> String {
    let lines = block.split_inclusive('\n').map(|line| match line.trim().is_empty() {
        true => line.to_owned(),
        false => format!("{indent}{line}"),
    });
    lines.collect()
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The byte behind the line's end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The white space a line begins with.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = text[line_start(text, at)..at].trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start().len()]
}

pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

pub(super) fn is_blank_or_comment(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with('#')
        || text.starts_with("//")
        || (text.starts_with("/*") && text.find("*/") == Some(text.len() - 2))
}
