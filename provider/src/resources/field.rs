//! Where a field of the host's API stands in the configuration. Pure.
//!
//! The host names fields as its API has them: ``spec.limits[`cpu`].hard``. The specification's
//! fields are attributes of the same names, so the path is found by walking the schema, as far as
//! the two agree.

use crate::framework::{Attribute, Kind, Nesting, Path, Type};

/// The path of the attribute that a field stands for; the root when there is none.
pub(crate) fn attribute_path(attributes: &[Attribute], field: &str) -> Path {
    let field = field.strip_prefix("spec.").unwrap_or(field);
    let mut level = attributes;
    let mut path = Path::root();
    let mut segments = segments(field).into_iter().peekable();
    while let Some(segment) = segments.next() {
        let Some(attribute) = level.iter().find(|attribute| stands_for(attribute, &segment)) else {
            return path;
        };
        path = path.child(attribute.name);
        match &attribute.kind {
            Kind::Nested(Nesting::Map, _) | Kind::Value(Type::Map(_)) => {
                let Some(key) = segments.next() else { return path };
                path = path.key(&key);
            }
            Kind::Value(Type::List(_)) | Kind::Nested(Nesting::List, _) => {
                let Some(Ok(index)) = segments.peek().map(|index| index.parse()) else {
                    return path;
                };
                segments.next();
                path = path.index(index);
            }
            Kind::Nested(Nesting::Single | Nesting::Group, _) | Kind::Block(..) => {}
            Kind::Nested(Nesting::Set, _) | Kind::Value(_) => return path,
        }
        level = attribute.children();
    }
    path
}

/// A value that is never stored has the suffix `_wo` here, and none in the API.
fn stands_for(attribute: &Attribute, field: &str) -> bool {
    let stem = attribute.name.strip_suffix("_wo").filter(|_| attribute.write_only);
    attribute.name == field || stem == Some(field)
}

/// The parts between dots and within brackets, the latter without their quotes.
fn segments(field: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (key, after) = inside.split_once(']').unwrap_or((inside, ""));
            segments.push(key.trim_matches(['`', '"']).to_owned());
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            segments.push(rest[..end].to_owned());
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::RESOURCES;

    #[test]
    fn fields_of_the_api_are_found_in_the_configuration() {
        for (ty, field, path) in [
            ("worker_pool", "name", "name"),
            ("worker_pool", "environment", "environment"),
            ("worker_pool", "spec.size", "size"),
            ("worker_pool", "spec.worker.command", "worker.command"),
            ("worker_pool", "spec.worker.command[1]", "worker.command[1]"),
            ("worker_pool", "spec.worker.shape[`a.b/c`]", r#"worker.shape["a.b/c"]"#),
            ("worker_pool", "spec.worker.ports[0]", "worker.ports"),
            ("worker_pool", "spec.readiness.http.port", "readiness.http.port"),
            ("worker_pool", "spec.readiness.command.command", "readiness.command"),
            ("worker_pool", "labels[`x`]", r#"labels["x"]"#),
            ("quota", "spec.limits[`cpu`].hard", r#"limits["cpu"].hard"#),
            ("quota", "spec.limits.cpu.soft", r#"limits["cpu"].soft"#),
            ("capacity_target", "spec.capacity.amounts", r#"capacity["amounts"]"#),
            ("service_account_token", "spec.secret", "secret_wo"),
            ("service_account_token", "spec.expires_at", "expires_at"),
            ("environment", "options.request_id", ""),
            ("environment", "spec.", ""),
            ("environment", "[", ""),
            ("environment", "", ""),
        ] {
            let ty = format!("runtimecloud_{ty}");
            let resource = RESOURCES.iter().find(|r| r.type_name() == ty).unwrap();
            let found = attribute_path(&resource.schema().attributes, field);
            assert_eq!(found.to_string(), path, "{ty} {field}");
        }
    }
}
