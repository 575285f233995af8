//! What Terraform accepts as a plan.

use super::{Violation, violation};
use crate::framework::{Attribute, Kind, Nesting, Path, Plan, Schema, Step, Value, walk};

/// The rules that a planned state breaks.
pub fn check_plan(schema: &Schema, request: Plan<'_>, planned: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    let root = Path::root();
    if let Err((path, what)) = walk::conform(&schema.value_type(), planned, &root) {
        return vec![violation(&path, what)];
    }
    let sides = Sides { prior: request.prior, config: request.config, planned };
    object(&schema.attributes, &root, &sides, &mut found);
    found
}

struct Sides<'a> {
    prior: &'a Value,
    config: &'a Value,
    planned: &'a Value,
}

impl<'a> Sides<'a> {
    fn child(&self, name: &str) -> Self {
        self.map(|value| value.get(name))
    }

    fn element(&self, step: &Step) -> Self {
        self.map(|value| walk::element(value, step))
    }

    fn map(&self, into: impl Fn(&'a Value) -> &'a Value) -> Self {
        Sides { prior: into(self.prior), config: into(self.config), planned: into(self.planned) }
    }
}

fn object(attributes: &[Attribute], path: &Path, sides: &Sides<'_>, found: &mut Vec<Violation>) {
    match (sides.config.is_null(), sides.planned.is_null()) {
        (true, false) => found.push(violation(path, "planned to exist, but not configured")),
        (false, true) => found.push(violation(path, "planned to be absent, but configured")),
        (true, true) => {}
        (false, false) => {
            for attribute in attributes {
                let (path, sides) = (path.child(attribute.name), sides.child(attribute.name));
                if attribute.is_block() {
                    block(attribute, &path, &sides, found);
                } else {
                    value(attribute, &path, &sides, found);
                }
            }
        }
    }
}

fn value(attribute: &Attribute, path: &Path, sides: &Sides<'_>, found: &mut Vec<Violation>) {
    let Sides { prior, config, planned } = *sides;
    if attribute.write_only {
        if !planned.is_null() {
            found.push(violation(path, "a write-only value in the plan"));
        }
        return;
    }
    let from_config = same(planned, config);
    let from_prior = planned == prior && !prior.is_null() && !config.is_null();
    if from_config || from_prior || (config.is_null() && attribute.mode.is_computed()) {
        return;
    }
    match &attribute.kind {
        _ if config.is_null() => {
            found.push(violation(path, "a planned value for what is neither set nor computed"));
        }
        Kind::Nested(nesting, children) if config.is_set() => {
            nested(*nesting, children, (path, sides), found);
        }
        _ => found.push(violation(path, "planned otherwise than configured")),
    }
}

fn nested(
    nesting: Nesting,
    children: &[Attribute],
    (path, sides): (&Path, &Sides<'_>),
    found: &mut Vec<Violation>,
) {
    if !sides.planned.is_set() {
        found.push(violation(path, "planned null or unknown, but configured"));
        return;
    }
    match nesting {
        Nesting::Single | Nesting::Group => object(children, path, sides, found),
        Nesting::Set => {
            let (config, planned) = (sides.config.elements(), sides.planned.elements());
            if config.len() != planned.len() && sides.config.is_wholly_known() {
                found.push(violation(path, "another number of elements than configured"));
            }
        }
        Nesting::List | Nesting::Map => {
            let (config, planned) = (walk::elements(sides.config), walk::elements(sides.planned));
            if !config.iter().map(|(step, _)| step).eq(planned.iter().map(|(step, _)| step)) {
                found.push(violation(path, "other elements than configured"));
                return;
            }
            for (step, config) in &config {
                let sides = sides.element(step);
                // An element that is unknown as a whole stays so.
                if config.is_set() {
                    object(children, &path.join(step.clone()), &sides, found);
                } else if !same(sides.planned, config) {
                    found.push(violation(
                        &path.join(step.clone()),
                        "planned otherwise than configured",
                    ));
                }
            }
        }
    }
}

fn block(attribute: &Attribute, path: &Path, sides: &Sides<'_>, found: &mut Vec<Violation>) {
    let Kind::Block(nesting, children) = &attribute.kind else { return };
    match nesting {
        Nesting::Single | Nesting::Group if sides.config.is_unknown() => {}
        Nesting::Single | Nesting::Group => object(children, path, sides, found),
        Nesting::List | Nesting::Set | Nesting::Map if sides.config.is_unknown() => {
            if !sides.planned.is_unknown() {
                found.push(violation(path, "planned, but its configuration is not known yet"));
            }
        }
        Nesting::List | Nesting::Set | Nesting::Map => {
            nested(*nesting, children, (path, sides), found);
        }
    }
}

/// Equality that takes all unknowns for one.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Unknown(_), Value::Unknown(_)) => true,
        (Value::List(x), Value::List(y)) | (Value::Set(x), Value::Set(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Map(x), Value::Map(y)) | (Value::Object(x), Value::Object(y)) => {
            x.keys().eq(y.keys()) && x.values().zip(y.values()).all(|(x, y)| same(x, y))
        }
        _ => a == b,
    }
}
