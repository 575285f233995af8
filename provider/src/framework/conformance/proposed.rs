//! What Terraform proposes: the configuration, with prior values where only the provider writes.

use crate::framework::{Attribute, Kind, Mode, Nesting, Schema, Value, walk};

/// The state that Terraform proposes to plan: null when `config` is.
pub fn proposed_new_state(schema: &Schema, prior: &Value, config: &Value) -> Value {
    object(&schema.attributes, prior, config)
}

fn object(attributes: &[Attribute], prior: &Value, config: &Value) -> Value {
    if !matches!(config, Value::Object(_)) {
        return config.clone();
    }
    Value::object(attributes.iter().map(|attribute| {
        (attribute.name, one(attribute, prior.get(attribute.name), config.get(attribute.name)))
    }))
}

fn one(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if config.is_null() && attribute.mode.is_computed() && !attribute.is_block() {
        return if was_configured(attribute, prior) { Value::Null } else { prior.clone() };
    }
    let (Kind::Nested(nesting, children) | Kind::Block(nesting, children)) = &attribute.kind else {
        return config.clone();
    };
    match nesting {
        Nesting::Single | Nesting::Group => object(children, prior, config),
        Nesting::List | Nesting::Map => walk::map_elements(config, |step, config| {
            object(children, walk::element(prior, step), config)
        }),
        Nesting::Set => {
            let mut free: Vec<&Value> = prior.elements().iter().collect();
            walk::map_elements(config, |_, config| {
                let found = free.iter().position(|prior| came_from(children, prior, config));
                match found {
                    Some(at) => object(children, free.remove(at), config),
                    None => config.clone(),
                }
            })
        }
    }
}

/// Whether a prior value of an optional and computed nested attribute holds something that only a
/// configuration can have given.
fn was_configured(attribute: &Attribute, prior: &Value) -> bool {
    fn any(children: &[Attribute], value: &Value) -> bool {
        children.iter().any(|child| {
            let value = value.get(child.name);
            (!child.mode.is_computed() && !value.is_null())
                || any(child.children(), value)
                || walk::elements(value).iter().any(|(_, e)| any(child.children(), e))
        })
    }
    let children = attribute.children();
    attribute.mode == Mode::OptionalComputed
        && (any(children, prior) || walk::elements(prior).iter().any(|(_, e)| any(children, e)))
}

/// Whether a prior element of a set may be what a configured one became.
fn came_from(children: &[Attribute], prior: &Value, config: &Value) -> bool {
    children.iter().all(|child| {
        let (prior, config) = (prior.get(child.name), config.get(child.name));
        if prior == config || (config.is_null() && child.mode.is_computed()) {
            return true;
        }
        match (&child.kind, prior, config) {
            (Kind::Nested(..) | Kind::Block(..), Value::Object(_), Value::Object(_)) => {
                came_from(child.children(), prior, config)
            }
            // Sets within sets are not looked into.
            (Kind::Nested(..) | Kind::Block(..), Value::Set(_), Value::Set(_)) => true,
            (Kind::Nested(..) | Kind::Block(..), _, _) if prior.is_set() && config.is_set() => {
                let (prior, config) = (walk::elements(prior), walk::elements(config));
                !config.is_empty()
                    && prior.len() == config.len()
                    && prior.iter().zip(&config).all(|((a, prior), (b, config))| {
                        a == b && came_from(child.children(), prior, config)
                    })
            }
            _ => false,
        }
    })
}
