//! Blocks of HCL. Only plain values count: there is nothing that a variable or a function could refer
//! to.

use hcl_edit::{
    Span,
    expr::{Expression, ObjectKey, UnaryOperator},
    structure::{Block as HclBlock, Body, Structure},
    template::{Element, Template},
};

use super::{Block, Entry, Fault, Named, Node, Parsed, Value, add_entry};

pub(super) fn parse(text: &str) -> Parsed {
    let body = match hcl_edit::parser::parse_body(text) {
        Ok(body) => body,
        Err(error) => {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            let at = error.location().offset();
            return Parsed::fault(Fault::new(at, format!("this is not HCL: {message}")));
        }
    };
    let mut reader = Reader { faults: Vec::new() };
    let blocks = body.iter().filter_map(|part| reader.declaration(part)).collect();
    Parsed { blocks, faults: reader.faults }
}

struct Reader {
    faults: Vec<Fault>,
}

fn at(part: &impl Span) -> usize {
    part.span().map_or(0, |span| span.start)
}

impl Reader {
    fn fault(&mut self, at: usize, message: impl Into<String>) {
        self.faults.push(Fault::new(at, message));
    }

    fn declaration(&mut self, part: &Structure) -> Option<Block> {
        let block = match part {
            Structure::Block(block) => block,
            Structure::Attribute(attribute) => {
                let key = attribute.key.as_str();
                let example = "`environment \"dev\" { … }`";
                self.fault(
                    at(&attribute.key),
                    format!("`{key}` stands alone: declare it in a block such as {example}"),
                );
                return None;
            }
        };
        let kind = block.ident.as_str();
        let body = self.body(&block.body);
        let [label] = &block.labels[..] else {
            let found = block.labels.len();
            let message = format!(
                "a block `{kind}` has one name, as in `{kind} \"name\" {{ … }}`, not {found}"
            );
            self.fault(at(&block.ident), message);
            return None;
        };
        Some(Block {
            kind: Named { at: at(&block.ident), text: kind.to_owned() },
            name: Named { at: at(label), text: label.as_str().to_owned() },
            body,
        })
    }

    fn body(&mut self, body: &Body) -> Vec<Entry> {
        let mut entries = Vec::new();
        for part in body {
            let entry = match part {
                Structure::Attribute(attribute) => Entry {
                    at: at(&attribute.key),
                    name: attribute.key.to_string(),
                    node: self.node(&attribute.value),
                },
                Structure::Block(block) => self.nested(block),
            };
            add_entry(&mut entries, entry, &mut self.faults);
        }
        entries
    }

    /// `worker { … }` means `worker = { … }`.
    fn nested(&mut self, block: &HclBlock) -> Entry {
        let (name, start) = (block.ident.to_string(), at(&block.ident));
        if !block.labels.is_empty() {
            self.fault(start, format!("the inner block `{name}` has no name of its own"));
        }
        let node = Node { at: start, value: Value::Map(self.body(&block.body)) };
        Entry { at: start, name, node }
    }

    fn node(&mut self, expression: &Expression) -> Node {
        Node { at: at(expression), value: self.value(expression) }
    }

    fn value(&mut self, expression: &Expression) -> Value {
        match expression {
            Expression::Null(_) => Value::Null,
            Expression::Bool(value) => Value::Bool(*value.value()),
            Expression::Number(number) => Value::Number(number.value().to_string()),
            Expression::String(text) => Value::Text(text.value().clone()),
            Expression::StringTemplate(template) => self.text(template.iter(), at(expression)),
            Expression::HeredocTemplate(heredoc) => {
                let mut heredoc = (**heredoc).clone();
                heredoc.dedent();
                let template: &Template = &heredoc.template;
                self.text(template.iter(), at(expression))
            }
            Expression::Parenthesis(inner) => self.value(inner.inner()),
            Expression::Array(array) => {
                Value::List(array.iter().map(|item| self.node(item)).collect())
            }
            Expression::Object(object) => self.object(object),
            Expression::UnaryOp(operation) if *operation.operator.value() == UnaryOperator::Neg => {
                match self.value(&operation.expr) {
                    Value::Number(number) => Value::Number(format!("-{number}")),
                    other => {
                        self.fault(
                            at(expression),
                            format!("`-` needs a number, not {}", other.kind()),
                        );
                        Value::Unreadable
                    }
                }
            }
            Expression::Variable(name) => {
                self.not_plain(at(expression), &format!("`{}` is a reference", name.as_str()))
            }
            Expression::Traversal(_) => self.not_plain(at(expression), "this is a reference"),
            Expression::FuncCall(call) => self
                .not_plain(at(expression), &format!("`{}` is a function", call.name.name.as_str())),
            Expression::Conditional(_)
            | Expression::UnaryOp(_)
            | Expression::BinaryOp(_)
            | Expression::ForExpr(_) => self.not_plain(at(expression), "this is computed"),
        }
    }

    fn object(&mut self, object: &hcl_edit::expr::Object) -> Value {
        let mut entries = Vec::new();
        for (key, value) in object {
            let (start, name) = match key {
                ObjectKey::Ident(name) => (at(name), name.to_string()),
                ObjectKey::Expression(expression) => match self.value(expression) {
                    Value::Text(name) | Value::Number(name) => (at(expression), name),
                    other => {
                        let message =
                            format!("a name of an object is a string, not {}", other.kind());
                        self.fault(at(expression), message);
                        continue;
                    }
                },
            };
            let entry = Entry { at: start, name, node: self.node(value.expr()) };
            add_entry(&mut entries, entry, &mut self.faults);
        }
        Value::Map(entries)
    }

    fn text<'a>(&mut self, elements: impl Iterator<Item = &'a Element>, start: usize) -> Value {
        let mut text = String::new();
        for element in elements {
            match element {
                Element::Literal(literal) => text.push_str(literal),
                Element::Interpolation(_) => {
                    return self
                        .not_plain(start, "`${…}` in a string is computed (`$${` writes it)");
                }
                Element::Directive(_) => {
                    return self
                        .not_plain(start, "`%{…}` in a string is computed (`%%{` writes it)");
                }
            }
        }
        Value::Text(text)
    }

    fn not_plain(&mut self, at: usize, what: &str) -> Value {
        self.fault(at, format!("{what}, and only plain values can stand here"));
        Value::Unreadable
    }
}
