//! The words of configuration, each with its place: enough to see lines, brackets and templates.
//!
//! - Every byte of the text belongs to at most one token; what lies between tokens is white space.
//! - Any text can be cut into tokens: what the language does not know becomes [`Class::Other`].

use std::ops::Range;

/// What kind of word a token is, as far as layout cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Newline,
    /// From `#` or `//` to the end of the line, line feed included.
    LineComment,
    BlockComment,
    Identifier,
    Number,
    OpenQuote,
    CloseQuote,
    /// The opening marker of a heredoc with its line feed.
    OpenHeredoc,
    CloseHeredoc,
    /// Text inside quotes or a heredoc.
    Literal,
    /// `${` or `%{`.
    OpenTemplate,
    CloseTemplate,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParenthesis,
    CloseParenthesis,
    Comma,
    Dot,
    Ellipsis,
    DoubleColon,
    Equal,
    Minus,
    Bang,
    /// An operator between two operands, or `?` and `:`.
    Operator,
    Other,
}

impl Class {
    /// Brackets opened, less those closed.
    pub(super) fn brackets(self) -> i32 {
        match self {
            Self::OpenBrace | Self::OpenBracket | Self::OpenParenthesis | Self::OpenTemplate => 1,
            Self::CloseBrace
            | Self::CloseBracket
            | Self::CloseParenthesis
            | Self::CloseTemplate => -1,
            _ => 0,
        }
    }
}

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) class: Class,
    pub(super) range: Range<usize>,
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lexer = Lexer { text, at: start, found: Vec::new(), modes: Vec::new(), braces: 0 };
    while lexer.at < text.len() {
        match lexer.modes.last() {
            None | Some(Mode::Code { .. }) => lexer.code(),
            Some(Mode::Quoted) => lexer.quoted(),
            Some(Mode::Heredoc(marker)) => {
                let marker = *marker;
                lexer.heredoc(marker);
            }
        }
    }
    lexer.found
}

enum Mode<'a> {
    /// Inside `${`; how many braces were open around it.
    Code {
        outer: usize,
    },
    Quoted,
    Heredoc(&'a str),
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
    modes: Vec<Mode<'a>>,
    /// Braces open in the innermost code.
    braces: usize,
}

/// Operators of more than one character, longest first.
const LONG: &[(&str, Class)] = &[
    ("...", Class::Ellipsis),
    ("::", Class::DoubleColon),
    ("==", Class::Operator),
    ("!=", Class::Operator),
    (">=", Class::Operator),
    ("<=", Class::Operator),
    ("=>", Class::Other),
    ("&&", Class::Operator),
    ("||", Class::Operator),
];

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, class: Class, length: usize) {
        self.found.push(Token { class, range: self.at..self.at + length });
        self.at += length;
    }

    fn code(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let line = || rest.find('\n').map_or(rest.len(), |end| end + 1);
        match first {
            '\r' if rest.starts_with("\r\n") => self.push(Class::Newline, 2),
            ' ' | '\t' | '\r' => self.at += 1,
            '\n' => self.push(Class::Newline, 1),
            '#' => self.push(Class::LineComment, line()),
            '/' if rest.starts_with("//") => self.push(Class::LineComment, line()),
            '/' if rest.starts_with("/*") => {
                let length = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                self.push(Class::BlockComment, length);
            }
            '"' => {
                self.push(Class::OpenQuote, 1);
                self.modes.push(Mode::Quoted);
            }
            '<' if rest.starts_with("<<") && self.open_heredoc() => {}
            '{' => {
                self.braces += 1;
                self.push(Class::OpenBrace, 1);
            }
            '~' if rest.starts_with("~}") && self.braces == 0 => self.close_template(2),
            '}' if self.braces == 0 => self.close_template(1),
            '}' => {
                self.braces -= 1;
                self.push(Class::CloseBrace, 1);
            }
            first if first.is_ascii_digit() => self.push(Class::Number, number(rest)),
            first if first.is_alphabetic() || first == '_' => {
                let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
                self.push(Class::Identifier, rest.find(ends).unwrap_or(rest.len()));
            }
            first => {
                let long = LONG.iter().find(|(word, _)| rest.starts_with(word));
                match long {
                    Some((word, class)) => self.push(*class, word.len()),
                    None => self.push(single(first), first.len_utf8()),
                }
            }
        }
    }

    fn close_template(&mut self, length: usize) {
        match self.modes.pop() {
            Some(Mode::Code { outer }) => {
                self.braces = outer;
                self.push(Class::CloseTemplate, length);
            }
            other => {
                self.modes.extend(other);
                self.push(Class::CloseBrace, length);
            }
        }
    }

    fn open_heredoc(&mut self) -> bool {
        let rest = self.rest();
        let marker = rest[2..].strip_prefix('-').unwrap_or(&rest[2..]);
        let Some(end) = marker.find('\n') else { return false };
        let name = marker[..end].trim_end_matches('\r');
        if !crate::path::is_identifier(name) {
            return false;
        }
        let length = rest.len() - marker.len() + end + 1;
        self.push(Class::OpenHeredoc, length);
        self.modes.push(Mode::Heredoc(name));
        true
    }

    fn open_template(&mut self) {
        let strip = usize::from(self.rest()[2..].starts_with('~'));
        self.push(Class::OpenTemplate, 2 + strip);
        self.modes.push(Mode::Code { outer: std::mem::take(&mut self.braces) });
    }

    fn quoted(&mut self) {
        let rest = self.rest();
        let mut length = 0;
        let mut chars = rest.char_indices();
        while let Some((at, character)) = chars.next() {
            length = at + character.len_utf8();
            match character {
                '\\' => {
                    length += chars.next().map_or(0, |(_, next)| next.len_utf8());
                }
                '$' | '%' if is_doubled(&rest[at..]) => {
                    chars.next();
                    length += 1;
                }
                '$' | '%' if rest[at + 1..].starts_with('{') => {
                    self.literal(at);
                    self.open_template();
                    return;
                }
                '"' => {
                    self.literal(at);
                    self.push(Class::CloseQuote, 1);
                    self.modes.pop();
                    return;
                }
                _ => {}
            }
        }
        self.literal(length);
    }

    fn heredoc(&mut self, marker: &str) {
        let rest = self.rest();
        let mut at = 0;
        let mut line_begins = self.at == 0 || self.text[..self.at].ends_with('\n');
        while at < rest.len() {
            if line_begins {
                let end = rest[at..].find('\n').map_or(rest.len(), |end| at + end);
                if rest[at..end].trim() == marker {
                    self.literal(at);
                    let length = end - at - usize::from(rest[at..end].ends_with('\r'));
                    self.push(Class::CloseHeredoc, length);
                    self.modes.pop();
                    return;
                }
            }
            let here = &rest[at..];
            if is_doubled(here) {
                at += 2;
            } else if here.starts_with("${") || here.starts_with("%{") {
                self.literal(at);
                self.open_template();
                return;
            }
            let Some(character) = rest[at..].chars().next() else { break };
            line_begins = character == '\n';
            at += character.len_utf8();
        }
        self.literal(rest.len());
    }

    fn literal(&mut self, length: usize) {
        if length > 0 {
            self.push(Class::Literal, length);
        }
    }
}

/// True for `$${` and `%%{`, which stand for themselves.
fn is_doubled(text: &str) -> bool {
    text.starts_with("$${") || text.starts_with("%%{")
}

fn number(text: &str) -> usize {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        if digits(end + 1 + sign) > end + 1 + sign {
            end = digits(end + 1 + sign);
        }
    }
    end
}

fn single(character: char) -> Class {
    match character {
        '[' => Class::OpenBracket,
        ']' => Class::CloseBracket,
        '(' => Class::OpenParenthesis,
        ')' => Class::CloseParenthesis,
        ',' => Class::Comma,
        '.' => Class::Dot,
        '=' => Class::Equal,
        '-' => Class::Minus,
        '!' => Class::Bang,
        '+' | '*' | '/' | '%' | '<' | '>' | '?' | ':' => Class::Operator,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_follow_each_other_and_only_white_space_lies_between() {
        for text in [
            "a = \"x${f({ b = \"}\" })}$${y}\" # c\n",
            "a = <<-E\n  x ${b} $${c}\n  E\nb = 1.5e-3...\r\n",
            "/* x",
            "\"",
            "a = <<E\n",
            "${~ } ~} }",
            "\u{feff}é = 1",
            "\"$$$${x}\"",
        ] {
            let mut end = if text.starts_with('\u{feff}') { 3 } else { 0 };
            for token in tokens(text) {
                assert!(text[end..token.range.start].trim().is_empty(), "{text:?} {token:?}");
                assert!(token.range.start >= end && !token.range.is_empty(), "{text:?} {token:?}");
                end = token.range.end;
            }
            assert!(text[end..].trim().is_empty(), "{text:?}");
        }
    }

    #[test]
    fn templates_nest() {
        let classes: Vec<Class> =
            tokens("\"a${\"b${c}\"}d\"").into_iter().map(|it| it.class).collect();
        assert_eq!(
            classes,
            [
                Class::OpenQuote,
                Class::Literal,
                Class::OpenTemplate,
                Class::OpenQuote,
                Class::Literal,
                Class::OpenTemplate,
                Class::Identifier,
                Class::CloseTemplate,
                Class::CloseQuote,
                Class::CloseTemplate,
                Class::Literal,
                Class::CloseQuote,
            ]
        );
    }
}
