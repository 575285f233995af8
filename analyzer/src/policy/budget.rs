//! A bound on what an expression may do.
//!
//! Loops are the only way of an expression to take long, and each walks a list or a map. So the
//! walked is handed through a function that counts its elements and refuses when too many were
//! counted; everything between two loops is bounded by the length of the expression.

use cel::{
    Context, DeclarationError, ExecutionError, IdedExpr, Program, Value,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, ListExpr, MapEntryExpr,
        MapExpr, SelectExpr, StructExpr, StructFieldExpr,
    },
};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// How many elements the loops of one evaluation may walk over.
pub(super) const STEPS_MAX: usize = 200_000;

/// No expression can spell it.
const CHARGE: &str = "@charge";

/// How long an expression may be, in bytes,
const LENGTH_MAX: usize = 4 * 1024;

/// how many operators and brackets it may have, each of which may take the parser one level down,
const LINKS_MAX: usize = 500;

/// and how deep its parts may nest once it is parsed.
const DEPTH_MAX: usize = 100;

/// What the parser needs for so many links, and some.
const PARSER_STACK_BYTES: usize = 64 * 1024 * 1024;

/// Parses an expression; fails on one that the stack of this or a later caller might not hold.
pub(super) fn parse(source: &str) -> Result<IdedExpr, String> {
    let links = source.bytes().filter(|byte| b".?([{+-*/%<>=!".contains(byte)).count()
        + source.matches(" in ").count();
    if source.len() > LENGTH_MAX || links > LINKS_MAX {
        return Err(format!(
            "it is longer than {LENGTH_MAX} bytes or has more than {LINKS_MAX} operators and \
             brackets"
        ));
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(PARSER_STACK_BYTES);
        let parser = builder.spawn_scoped(scope, || parse_here(source));
        let parsed = parser.map(std::thread::ScopedJoinHandle::join);
        // The parser is not ours; if it panics, that is a fault of the expression.
        parsed.ok().and_then(Result::ok).unwrap_or_else(|| Err("it cannot be parsed".to_owned()))
    })
}

fn parse_here(source: &str) -> Result<IdedExpr, String> {
    let program = Program::compile(source).map_err(|errors| {
        let fault = |it: &cel::ParseError| format!("{}:{}: {}", it.pos.0, it.pos.1, it.msg);
        let faults: Vec<String> = errors.errors.iter().map(fault).collect();
        faults.join(", ").replace('\n', " ")
    })?;
    if is_deeper(program.expression(), DEPTH_MAX) {
        return Err(format!("it nests deeper than {DEPTH_MAX} levels"));
    }
    Ok(program.expression().clone())
}

fn is_deeper(it: &IdedExpr, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else { return true };
    let any = |parts: &[&IdedExpr]| parts.iter().any(|part| is_deeper(part, left));
    match &it.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => false,
        Expr::Call(it) => {
            it.target.iter().any(|it| any(&[it])) || it.args.iter().any(|it| any(&[it]))
        }
        Expr::List(it) => it.elements.iter().any(|it| any(&[it])),
        Expr::Select(it) => any(&[&it.operand]),
        Expr::Map(MapExpr { entries }) | Expr::Struct(StructExpr { entries, .. }) => {
            entries.iter().any(|it| match &it.expr {
                EntryExpr::StructField(it) => any(&[&it.value]),
                EntryExpr::MapEntry(it) => any(&[&it.key, &it.value]),
            })
        }
        Expr::Comprehension(it) => {
            any(&[&it.iter_range, &it.accu_init, &it.loop_cond, &it.loop_step, &it.result])
        }
    }
}

/// Names of types, which are values too.
pub(super) fn is_type(name: &str) -> bool {
    const TYPES: &[&str] =
        &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
    TYPES.contains(&name)
}

/// What is left of the bound in one evaluation.
pub(super) struct Budget(Arc<AtomicUsize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(STEPS_MAX + 1)))
    }
}

impl Budget {
    /// Lets the loops of expressions in `context` be counted.
    pub(super) fn attach(&self, context: &mut Context<'_, '_>) -> Result<(), DeclarationError> {
        let left = Arc::clone(&self.0);
        context.add_function(CHARGE, move |walked: Value| {
            let elements = match &walked {
                Value::List(items) => items.len(),
                Value::Map(fields) => fields.map.len(),
                _ => 0,
            };
            let before = left.load(Ordering::Relaxed);
            let after = before.saturating_sub(elements + 1);
            left.store(after, Ordering::Relaxed);
            if after == 0 {
                return Err(ExecutionError::function_error(CHARGE, "too many steps"));
            }
            Ok(walked)
        })
    }

    /// True when an evaluation was refused, whatever it made of the refusal.
    pub(super) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// The expression with its loops counted, and the names in it that it does not declare itself.
pub(super) fn charged(expression: &IdedExpr) -> (IdedExpr, BTreeSet<String>) {
    let mut walk = Walk::default();
    let charged = walk.expression(expression);
    (charged, walk.free)
}

#[derive(Default)]
struct Walk {
    /// What the loops around declare.
    declared: Vec<String>,
    free: BTreeSet<String>,
}

impl Walk {
    fn expression(&mut self, it: &IdedExpr) -> IdedExpr {
        let expr = match &it.expr {
            Expr::Unspecified | Expr::Literal(_) => it.expr.clone(),
            Expr::Ident(name) => {
                if !self.declared.contains(name) {
                    self.free.insert(name.clone());
                }
                it.expr.clone()
            }
            Expr::Call(call) => Expr::Call(CallExpr {
                func_name: call.func_name.clone(),
                target: call.target.as_ref().map(|it| Box::new(self.expression(it))),
                args: call.args.iter().map(|it| self.expression(it)).collect(),
            }),
            Expr::List(list) => Expr::List(ListExpr {
                elements: list.elements.iter().map(|it| self.expression(it)).collect(),
                optional_indices: list.optional_indices.clone(),
            }),
            Expr::Select(select) => Expr::Select(SelectExpr {
                operand: Box::new(self.expression(&select.operand)),
                field: select.field.clone(),
                test: select.test,
            }),
            Expr::Map(map) => Expr::Map(MapExpr { entries: self.entries(&map.entries) }),
            Expr::Struct(it) => Expr::Struct(StructExpr {
                type_name: it.type_name.clone(),
                entries: self.entries(&it.entries),
            }),
            Expr::Comprehension(it) => Expr::Comprehension(Box::new(self.comprehension(it))),
        };
        IdedExpr { id: it.id, expr }
    }

    fn entries(&mut self, entries: &[IdedEntryExpr]) -> Vec<IdedEntryExpr> {
        let mut charged = Vec::with_capacity(entries.len());
        for entry in entries {
            let expr = match &entry.expr {
                EntryExpr::StructField(it) => EntryExpr::StructField(StructFieldExpr {
                    field: it.field.clone(),
                    value: self.expression(&it.value),
                    optional: it.optional,
                }),
                EntryExpr::MapEntry(it) => EntryExpr::MapEntry(MapEntryExpr {
                    key: self.expression(&it.key),
                    value: self.expression(&it.value),
                    optional: it.optional,
                }),
            };
            charged.push(IdedEntryExpr { id: entry.id, expr });
        }
        charged
    }

    fn comprehension(&mut self, it: &ComprehensionExpr) -> ComprehensionExpr {
        let range = self.expression(&it.iter_range);
        let accu_init = self.expression(&it.accu_init);
        let outside = self.declared.len();
        self.declared.extend([it.accu_var.clone(), it.iter_var.clone()]);
        self.declared.extend(it.iter_var2.clone());
        let charged = ComprehensionExpr {
            iter_range: IdedExpr {
                id: range.id,
                expr: Expr::Call(CallExpr {
                    func_name: CHARGE.to_owned(),
                    target: None,
                    args: vec![range],
                }),
            },
            iter_var: it.iter_var.clone(),
            iter_var2: it.iter_var2.clone(),
            accu_var: it.accu_var.clone(),
            accu_init,
            loop_cond: self.expression(&it.loop_cond),
            loop_step: self.expression(&it.loop_step),
            result: self.expression(&it.result),
        };
        self.declared.truncate(outside);
        charged
    }
}
