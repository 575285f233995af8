//! Comments at the ends of neighbouring lines stand in one column, and stay there when a value
//! gets longer or shorter. Comments that were not aligned are left as they are.

use super::{
    layout::{
        Item, Splice, attribute_items, is_single_line, line_end, line_start, object_items,
        run_around,
    },
    literal::columns,
};
use hcl_edit::{
    Span,
    expr::Expression,
    structure::{Block, Body},
};
use std::ops::Range;

/// The splices that keep comments aligned when the value at `span` becomes `new`.
pub(super) fn keep_aligned(
    text: &str,
    block: &Block,
    span: &Range<usize>,
    new: &str,
) -> Vec<Splice> {
    if new.contains('\n') || text[span.clone()].contains('\n') {
        return Vec::new();
    }
    let Some((items, at)) = line_of(text, &block.body, span) else { return Vec::new() };
    let key = items[at].key.start;
    let run = run_around(text, &items, at);
    let lines: Vec<Option<Line>> = run.iter().map(|item| Line::of(text, item)).collect();
    let Some(at) = run.iter().position(|item| item.key.start == key) else { return Vec::new() };
    let chain = chain_around(&lines, at);
    let Some(mut chain) = chain.iter().cloned().collect::<Option<Vec<Line>>>() else {
        return Vec::new();
    };
    let column = |chain: &[Line]| chain.iter().map(|line| line.width).max().unwrap_or(0) + 1;
    let before = column(&chain);
    if chain.iter().any(|line| line.width + line.gap.len() != before) {
        return Vec::new();
    }
    let line_begin = line_start(text, span.start);
    for line in &mut chain {
        if line_start(text, line.gap.start) == line_begin {
            line.width = line.width + columns(new) - columns(&text[span.clone()]);
        }
    }
    let after = column(&chain);
    chain
        .into_iter()
        .map(|line| Splice { range: line.gap, text: " ".repeat(after - line.width) })
        .filter(|splice| text[splice.range.clone()] != splice.text)
        .collect()
}

/// A line with a comment behind its value: its width up to there, and the spaces in between.
#[derive(Clone)]
struct Line {
    width: usize,
    gap: Range<usize>,
}

impl Line {
    fn of(text: &str, item: &Item) -> Option<Self> {
        let rest = &text[item.value.end..line_end(text, item.value.end)];
        let content = item.value.end + usize::from(rest.starts_with(','));
        let rest = &text[content..line_end(text, content)];
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let is_comment = rest[spaces..].starts_with('#') || rest[spaces..].starts_with("//");
        is_comment.then(|| Self {
            width: columns(&text[line_start(text, content)..content]),
            gap: content..content + spaces,
        })
    }
}

/// The lines around `at` that have a comment without a break.
fn chain_around(lines: &[Option<Line>], at: usize) -> &[Option<Line>] {
    if lines[at].is_none() {
        return &[];
    }
    let begin = lines[..at].iter().rposition(Option::is_none).map_or(0, |before| before + 1);
    let end = lines[at..].iter().position(Option::is_none).map_or(lines.len(), |it| at + it);
    &lines[begin..end]
}

/// The items among which the one on the span's line is, and its position.
fn line_of(text: &str, body: &Body, span: &Range<usize>) -> Option<(Vec<Item>, usize)> {
    let holds = |outer: &Range<usize>| outer.start <= span.start && span.end <= outer.end;
    for block in body.blocks() {
        if block.span().is_some_and(|outer| holds(&outer)) {
            return line_of(text, &block.body, span);
        }
    }
    let mut items = attribute_items(body);
    let attribute = body
        .attributes()
        .find(|attribute| attribute.value.span().is_some_and(|outer| holds(&outer)))?;
    let mut expression = &attribute.value;
    loop {
        let at = items.iter().position(|item| holds(&item.value))?;
        if is_single_line(text, &items[at]) {
            return Some((items, at));
        }
        let Expression::Object(object) = expression else { return None };
        items = object_items(object);
        expression = object
            .iter()
            .map(|(_, item)| item.expr())
            .find(|inner| inner.span().is_some_and(|outer| holds(&outer)))?;
    }
}
