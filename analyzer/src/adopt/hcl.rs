//! Reading the native syntax.
//!
//! - The parser is somebody else's; what it says is turned into [`Body`], with exact places.
//! - Text that nests deeper than any configuration does is refused before the parser sees it.

use super::{
    heredoc::Heredoc,
    lexer::{Class, tokens},
    node::{Block, Body, Entry, Kind, Node, Pick, Reference},
};
use crate::{number::Number, path::Step};
use hcl_edit::{
    Span,
    expr::{Expression, FuncCall, ObjectKey, Traversal, TraversalOperator, UnaryOperator},
    structure,
    template::{Element, StringTemplate},
};
use std::ops::Range;

/// How deep brackets, signs and conditionals may nest.
const DEPTH_MAX: usize = 100;

/// Parses a file. A byte-order mark is no part of it for the parser.
pub(super) fn parse(text: &str) -> Result<Body, String> {
    if is_too_deep(text) {
        return Err(format!("the file nests more than {DEPTH_MAX} levels deep"));
    }
    // The mark is replaced by as many bytes of white space, so that all places stay right.
    let without_mark;
    let plain = match text.strip_prefix('\u{feff}') {
        Some(rest) => {
            without_mark = format!("   {rest}");
            &without_mark
        }
        None => text,
    };
    let parsed = hcl_edit::parser::parse_body(plain).map_err(|error| {
        format!("the file does not parse: {} in line {}", error.message(), error.location().line())
    })?;
    Reader { text }.body(&parsed, 0..text.len())
}

/// Parses a single expression, as it stands inside `${` and `}` of a text in JSON; its places
/// mean nothing.
pub(super) fn parse_expression(text: &str) -> Option<Kind> {
    if is_too_deep(text) {
        return None;
    }
    let parsed = hcl_edit::parser::parse_expr(text.trim()).ok()?;
    Reader { text: text.trim() }.node(&parsed).ok().map(|node| node.kind)
}

fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut open, mut deepest) = (0_usize, 0_usize, 0_usize);
    for token in tokens(text) {
        match token.class {
            // A chain of signs or conditionals nests without brackets.
            Class::Bang | Class::Minus => open += 1,
            Class::Operator if &text[token.range.clone()] == "?" => open += 1,
            Class::Newline | Class::LineComment if depth == 0 => open = 0,
            class if class.brackets() > 0 => depth += 1,
            class if class.brackets() < 0 => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth + open / 8);
    }
    deepest > DEPTH_MAX
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    /// A place without white space around it.
    fn place(&self, span: Option<Range<usize>>) -> Result<Range<usize>, String> {
        let span = span.ok_or("the parser does not tell a place")?;
        let part = self.text.get(span.clone()).ok_or("the parser tells a wrong place")?;
        let start = span.start + part.len() - part.trim_start().len();
        Ok(start..start + part.trim().len())
    }

    fn body(&self, body: &structure::Body, range: Range<usize>) -> Result<Body, String> {
        let mut read = Body { range, entries: Vec::new(), blocks: Vec::new() };
        for structure in body {
            match structure {
                structure::Structure::Attribute(attribute) => read.entries.push(Entry {
                    key: self.place(attribute.key.span())?,
                    name: Some(attribute.key.value().to_string()),
                    value: self.node(&attribute.value)?,
                }),
                structure::Structure::Block(block) => read.blocks.push(self.block(block)?),
            }
        }
        Ok(read)
    }

    fn block(&self, block: &structure::Block) -> Result<Block, String> {
        let range = self.place(block.span())?;
        let written = &self.text[range.clone()];
        // Labels hold no brackets outside of quotes.
        let open = tokens(written).into_iter().find(|it| it.class == Class::OpenBrace);
        let open = open.ok_or("a block has no bracket")?.range.end;
        let inside = range.start + open..range.end.saturating_sub(1);
        Ok(Block {
            kind: block.ident.as_str().to_owned(),
            labels: block.labels.iter().map(|label| label.as_str().to_owned()).collect(),
            body: self.body(&block.body, inside)?,
            range,
        })
    }

    fn node(&self, expression: &Expression) -> Result<Node, String> {
        let range = self.place(expression.span())?;
        let kind = match expression {
            Expression::Null(_) => Kind::Null,
            Expression::Bool(flag) => Kind::Bool(*flag.value()),
            Expression::String(string) => Kind::Text(string.value().clone()),
            Expression::Number(_) => Kind::Number(Number::new(&self.text[range.clone()])),
            Expression::UnaryOp(operation) => match (operation.operator.value(), &operation.expr) {
                (UnaryOperator::Neg, Expression::Number(number)) => {
                    let digits = self.place(number.span())?;
                    Kind::Number(Number::new(&format!("-{}", &self.text[digits])))
                }
                _ => Kind::Computed("an operation"),
            },
            Expression::Array(array) => {
                Kind::List(array.iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            Expression::Object(object) => Kind::Object(
                object
                    .iter()
                    .map(|(key, item)| {
                        Ok(Entry {
                            key: self.place(key.span())?,
                            name: key_name(key),
                            value: self.node(item.expr())?,
                        })
                    })
                    .collect::<Result<_, String>>()?,
            ),
            Expression::Parenthesis(inner) => return self.node(inner.inner()),
            Expression::Variable(name) => {
                Kind::Reference(Reference { root: name.value().to_string(), picks: Vec::new() })
            }
            Expression::Traversal(traversal) => {
                reference(traversal).map_or(Kind::Computed("a reference"), Kind::Reference)
            }
            Expression::FuncCall(call) => self.call(call)?,
            Expression::StringTemplate(template) => self.template(template)?,
            Expression::HeredocTemplate(_) => match Heredoc::read(&self.text[range.clone()]) {
                Some(heredoc) => Kind::Heredoc(heredoc.value()),
                None => Kind::Computed("a heredoc with a template in it"),
            },
            Expression::Conditional(_) => Kind::Computed("a conditional"),
            Expression::ForExpr(_) => Kind::Computed("a for expression"),
            Expression::BinaryOp(_) => Kind::Computed("an operation"),
        };
        Ok(Node { range, kind })
    }

    fn call(&self, call: &FuncCall) -> Result<Kind, String> {
        if call.name.is_namespaced() || call.args.expand_final() {
            return Ok(Kind::Computed("a function call"));
        }
        let arguments = call.args.iter().map(|it| self.node(it)).collect::<Result<_, _>>()?;
        Ok(Kind::Call { function: call.name.name.as_str().to_owned(), arguments })
    }

    fn template(&self, template: &StringTemplate) -> Result<Kind, String> {
        let elements: Vec<&Element> = template.iter().collect();
        let interpolated = |element: &Element| match element {
            Element::Interpolation(inner) => self.node(&inner.expr).ok().map(|node| node.kind),
            Element::Literal(_) | Element::Directive(_) => None,
        };
        Ok(match elements.as_slice() {
            [only] => match interpolated(only) {
                Some(kind @ Kind::Reference(_)) => kind,
                _ => Kind::Computed("a text with a template in it"),
            },
            [first, Element::Literal(rest)] if is_module_path(interpolated(first).as_ref()) => {
                Kind::ModulePath(rest.value().trim_start_matches('/').to_owned())
            }
            _ => Kind::Computed("a text with a template in it"),
        })
    }
}

fn is_module_path(kind: Option<&Kind>) -> bool {
    matches!(kind, Some(Kind::Reference(Reference { root, picks }))
        if root == "path" && *picks == [Pick::Step(Step::Key("module".to_owned()))])
}

fn reference(traversal: &Traversal) -> Option<Reference> {
    let Expression::Variable(root) = &traversal.expr else { return None };
    let picks = traversal.operators.iter().map(|operator| {
        Some(match operator.value() {
            TraversalOperator::GetAttr(name) => Pick::Step(Step::Key(name.value().to_string())),
            TraversalOperator::LegacyIndex(index) => {
                Pick::Step(Step::Index(usize::try_from(*index.value()).ok()?))
            }
            TraversalOperator::Index(index) => pick(index)?,
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => return None,
        })
    });
    Some(Reference { root: root.value().to_string(), picks: picks.collect::<Option<_>>()? })
}

fn pick(index: &Expression) -> Option<Pick> {
    Some(match index {
        Expression::String(name) => Pick::Step(Step::Key(name.value().clone())),
        Expression::Number(number) => {
            Pick::Step(Step::Index(usize::try_from(number.value().as_u64()?).ok()?))
        }
        Expression::Traversal(inner) => {
            let Reference { root, picks } = reference(inner)?;
            match (root.as_str(), picks.as_slice()) {
                ("each", [Pick::Step(Step::Key(key))]) if key == "key" => Pick::EachKey,
                ("count", [Pick::Step(Step::Key(key))]) if key == "index" => Pick::CountIndex,
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn key_name(key: &ObjectKey) -> Option<String> {
    match key {
        ObjectKey::Ident(ident) => Some(ident.value().to_string()),
        ObjectKey::Expression(Expression::String(name)) => Some(name.value().clone()),
        ObjectKey::Expression(Expression::Variable(name)) => Some(name.value().to_string()),
        ObjectKey::Expression(_) => None,
    }
}
