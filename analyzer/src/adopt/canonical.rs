//! The canonical form that `terraform fmt` gives to configuration: indentation, spaces between
//! words, `=` and comments in columns over neighbouring lines.
//!
//! - Only spaces inside lines are judged; words and line ends are never touched.
//! - A part of a file that was in canonical form before an edit is brought back to it afterwards;
//!   a part that was not keeps the spaces it has.

use super::{
    lexer::{Class, Token, tokens},
    splice::{self, Splice},
};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Carries out the splices, and keeps the form of the parts they touch.
pub(super) fn apply(text: &str, splices: Vec<Splice>) -> String {
    let units = units(text);
    let wrong: Vec<Splice> = corrections(text);
    let is_canonical = |unit: &Range<usize>| {
        !wrong.iter().any(|it| unit.start <= it.range.start && it.range.end <= unit.end)
    };
    // The places of the touched parts after the edit.
    let mut kept: Vec<Range<usize>> = Vec::new();
    for unit in &units {
        let touches = |it: &&Splice| unit.start <= it.range.start && it.range.start <= unit.end;
        if splices.iter().any(|it| touches(&it)) && is_canonical(unit) {
            let moved = |at: usize, inclusive: bool| {
                let before = splices.iter().filter(|it| {
                    it.range.end < at || it.range.end == at && (inclusive || !it.range.is_empty())
                });
                before.fold(at, |at, it| at + it.text.len() - it.range.len())
            };
            kept.push(moved(unit.start, false)..moved(unit.end, true));
        }
    }
    let edited = splice::apply(text, splices);
    if kept.is_empty() {
        return edited;
    }
    let mut corrections = corrections(&edited);
    corrections.retain(|it| {
        kept.iter().any(|unit| unit.start <= it.range.start && it.range.end <= unit.end)
    });
    splice::apply(&edited, corrections)
}

/// Groups of lines that layout does not reach across: they end where a blank line stands outside
/// of all brackets.
fn units(text: &str) -> Vec<Range<usize>> {
    let tokens = tokens(text);
    let mut units = Vec::new();
    let (mut start, mut depth, mut line_is_blank) = (0, 0, true);
    for token in &tokens {
        depth += token.class.brackets();
        match token.class {
            Class::Newline if line_is_blank && depth <= 0 => {
                units.push(start..token.range.start);
                start = token.range.end;
            }
            Class::Newline | Class::LineComment => line_is_blank = true,
            _ => line_is_blank = false,
        }
        if token.class == Class::LineComment {
            line_is_blank = true;
        }
    }
    units.push(start..text.len());
    units.retain(|unit| !text[unit.clone()].trim().is_empty());
    units
}

/// A line as columns: what leads, what is assigned, a comment.
struct Line<'a> {
    lead: &'a [Token],
    assigned: &'a [Token],
    comment: &'a [Token],
}

impl<'a> Line<'a> {
    fn new(tokens: &'a [Token]) -> Self {
        let is_comment = |it: &Token| matches!(it.class, Class::LineComment | Class::BlockComment);
        let (rest, comment) = match tokens {
            [rest @ .., last] if !rest.is_empty() && is_comment(last) => {
                (rest, &tokens[rest.len()..])
            }
            all => (all, &[][..]),
        };
        let equal = rest.iter().skip(1).position(|it| it.class == Class::Equal).map(|at| at + 1);
        let whole = |at: &usize| rest[*at..].iter().map(|it| it.class.brackets()).sum::<i32>() == 0;
        let (lead, assigned) = rest.split_at(equal.filter(whole).unwrap_or(rest.len()));
        Self { lead, assigned, comment }
    }
}

/// The lines of a text, as tokens.
fn lines(tokens: &[Token]) -> Vec<Line<'_>> {
    let ends = |it: &Token| matches!(it.class, Class::Newline | Class::LineComment);
    tokens.split_inclusive(ends).map(Line::new).collect()
}

/// What the spaces of a text must become to be in canonical form.
pub(super) fn corrections(text: &str) -> Vec<Splice> {
    let tokens = tokens(text);
    let lines = lines(&tokens);
    let mut spaces: Vec<usize> = Vec::with_capacity(tokens.len());
    let mut indent = Indent::default();
    for line in &lines {
        for (cell, first) in [(line.lead, indent.of(line)), (line.assigned, 1), (line.comment, 1)] {
            spaces.extend(cell.first().map(|_| first));
            spaces.extend((1..cell.len()).map(|at| {
                let before = at.checked_sub(2).map(|before| cell[before].class);
                usize::from(stand_apart(text, before, &cell[at - 1], &cell[at]))
            }));
        }
    }
    align(text, &tokens, &lines, &mut spaces);
    let mut end = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut corrections = Vec::new();
    for (token, wanted) in tokens.iter().zip(spaces) {
        let gap = end..token.range.start;
        end = token.range.end;
        if gap.len() != wanted || text[gap.clone()].bytes().any(|byte| byte != b' ') {
            corrections.push(Splice { range: gap, text: " ".repeat(wanted) });
        }
    }
    corrections
}

/// Two spaces for each line with open brackets above.
#[derive(Default)]
struct Indent {
    /// How many brackets each of these lines has open.
    open: Vec<i32>,
}

impl Indent {
    fn of(&mut self, line: &Line<'_>) -> usize {
        let all = || line.lead.iter().chain(line.assigned);
        if line.lead.first().is_some_and(|it| it.class == Class::Newline) {
            return 0;
        }
        let net: i32 = all().map(|it| it.class.brackets()).sum();
        let mut closed = -net;
        while closed > 0 {
            let Some(last) = self.open.last_mut() else { break };
            if closed < *last {
                *last -= closed;
                break;
            }
            closed -= *last;
            self.open.pop();
        }
        let indent = 2 * self.open.len();
        if net > 0 {
            self.open.push(net);
        }
        indent
    }
}

/// True when a space belongs between two words of a line.
fn stand_apart(text: &str, before: Option<Class>, word: &Token, next: &Token) -> bool {
    use Class::{
        Bang, CloseBrace, CloseBracket, CloseHeredoc, CloseParenthesis, CloseQuote, CloseTemplate,
        Comma, Dot, DoubleColon, Ellipsis, Identifier, Literal, Minus, Newline, Number, OpenBrace,
        OpenBracket, OpenHeredoc, OpenParenthesis, OpenQuote, OpenTemplate,
    };
    let is_template = |class| matches!(class, Literal | OpenQuote | OpenHeredoc);
    match (word.class, next.class) {
        (_, Newline) | (Identifier, OpenParenthesis | DoubleColon) | (DoubleColon, Identifier) => {
            false
        }
        (Dot, _) | (_, Dot | Comma | Ellipsis) => false,
        (Comma, _) => true,
        (word, next)
            if is_template(word) || matches!(next, Literal | CloseQuote | CloseHeredoc) =>
        {
            false
        }
        (Identifier, _) if before == Some(Identifier) && &text[word.range.clone()] == "in" => true,
        (
            Identifier | Number | CloseBracket | CloseParenthesis | CloseBrace | CloseTemplate,
            OpenBracket,
        )
        | (Bang, _) => false,
        (Minus, _) => !before.is_none_or(begins_operand),
        (OpenBrace, CloseBrace) => false,
        (OpenBrace, _) | (_, CloseBrace) => true,
        (OpenTemplate, OpenBrace) | (CloseBrace, CloseTemplate) => true,
        (CloseTemplate, OpenTemplate) => false,
        (word, next) => word.brackets() <= 0 && next.brackets() >= 0,
    }
}

/// True when a minus behind it is a sign.
fn begins_operand(class: Class) -> bool {
    matches!(
        class,
        Class::OpenParenthesis
            | Class::OpenBrace
            | Class::OpenBracket
            | Class::Equal
            | Class::Comma
            | Class::Operator
            | Class::Minus
            | Class::Bang
    )
}

/// Puts `=` and comments of neighbouring lines into columns.
fn align(text: &str, tokens: &[Token], lines: &[Line<'_>], spaces: &mut [usize]) {
    // The number of the first token of each line.
    let mut first = Vec::with_capacity(lines.len());
    let mut count = 0;
    for line in lines {
        first.push(count);
        count += line.lead.len() + line.assigned.len() + line.comment.len();
    }
    let width = |spaces: &[usize], range: Range<usize>| -> usize {
        range.map(|at| spaces[at] + columns(&text[tokens[at].range.clone()])).sum()
    };
    let lead_end = |at: usize| first[at] + lines[at].lead.len();
    let content_end = |at: usize| lead_end(at) + lines[at].assigned.len();
    for chain in chains(lines, |line| !line.assigned.is_empty()) {
        let widest = chain.clone().map(|at| width(spaces, first[at]..lead_end(at))).max();
        for at in chain {
            let own = width(spaces, first[at]..lead_end(at));
            spaces[lead_end(at)] = widest.unwrap_or(own) - own + 1;
        }
    }
    for chain in chains(lines, |line| !line.comment.is_empty()) {
        let widest = chain.clone().map(|at| width(spaces, first[at]..content_end(at))).max();
        for at in chain {
            let own = width(spaces, first[at]..content_end(at));
            spaces[content_end(at)] = widest.unwrap_or(own) - own + 1;
        }
    }
}

/// Ranges of neighbouring lines that have something.
fn chains(lines: &[Line<'_>], has: impl Fn(&Line<'_>) -> bool) -> Vec<Range<usize>> {
    let mut chains: Vec<Range<usize>> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| has(line)) {
        match chains.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => chains.push(at..at + 1),
        }
    }
    chains
}

/// How wide a text stands in a line.
pub(super) fn columns(text: &str) -> usize {
    text.graphemes(true).count()
}

#[cfg(test)]
mod tests;
