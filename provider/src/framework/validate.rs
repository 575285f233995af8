//! Checks a configuration against the rules of its schema. Unknown values are never wrong; null
//! elements of collections always are.

use super::{
    Attribute, Diagnostics, Kind, Mode, Nesting, Path, Reported, Schema, Validator, Value, walk,
};

/// Reports each rule that `config` breaks, at its path.
pub fn validate(schema: &Schema, config: &Value, diagnostics: &mut Diagnostics) {
    check_rules((&schema.validators, Quote::Value), &Path::root(), config, diagnostics);
    check_object(&schema.attributes, &Path::root(), config, diagnostics);
}

/// Reports write-only values that a CLI would store, because it doesn't know what write-only means.
pub fn refuse_write_only(schema: &Schema, config: &Value, diagnostics: &mut Diagnostics) {
    let mut found = Vec::new();
    write_only_paths(&schema.attributes, &Path::root(), config, &mut found);
    for (path, mode) in found {
        let otherwise = if mode == Mode::Required { "" } else { ", or leave the argument out" };
        diagnostics.error(
            path.clone(),
            "Write-only value not supported",
            format!(
                "`{path}` must never be stored, and this version of the CLI would store it. Use \
                 Terraform 1.11 or OpenTofu 1.11, or newer{otherwise}."
            ),
        );
    }
}

/// Reports values that are not known where the CLI has to know them.
pub fn refuse_unknown(config: &Value, diagnostics: &mut Diagnostics) -> Result<(), Reported> {
    let mut found = Vec::new();
    walk::unknown_paths(&Path::root(), config, &mut found);
    for path in found {
        diagnostics.error(
            path.clone(),
            "Value not known",
            format!(
                "`{path}` is not known, and now it has to be. The CLI should have waited; please \
                 report a bug in it."
            ),
        );
    }
    diagnostics.stop_if_failed()
}

fn check_object(
    attributes: &[Attribute],
    path: &Path,
    object: &Value,
    diagnostics: &mut Diagnostics,
) {
    for attribute in attributes {
        let path = path.child(attribute.name);
        let value = object.get(attribute.name);
        let quote =
            if attribute.sensitive || attribute.write_only { Quote::Nothing } else { Quote::Value };
        check_rules((&attribute.validators, quote), &path, value, diagnostics);
        refuse_null_elements(&path, value, diagnostics);
        if let Some(version) = attribute.resent_by
            && !value.is_null()
            && object.get(version).is_null()
        {
            let detail = format!(
                "`{path}` is never stored, so a change of it is not seen by itself. Set \
                 `{version}` beside it, and change that whenever `{path}` changes."
            );
            diagnostics.error(path.clone(), "Write-only value without a version", detail);
        }
        match &attribute.kind {
            Kind::Value(_) => {}
            Kind::Nested(Nesting::Single | Nesting::Group, children)
            | Kind::Block(Nesting::Single | Nesting::Group, children) => {
                check_object(children, &path, value, diagnostics);
            }
            Kind::Nested(_, children) | Kind::Block(_, children) => {
                for (step, element) in walk::elements(value) {
                    check_object(children, &path.join(step), element, diagnostics);
                }
            }
        }
    }
}

/// Null means "left out", which an element can't be: the remote end would have another collection
/// than the one planned.
fn refuse_null_elements(path: &Path, collection: &Value, diagnostics: &mut Diagnostics) {
    for (step, element) in walk::elements(collection) {
        let path = path.join(step);
        if element.is_null() {
            diagnostics.error(
                path.clone(),
                "Null element",
                format!(
                    "`{path}` has a null element, which means nothing. Give it a value or leave it \
                     out, as in `{{ for k, v in VALUES : k => v if v != null }}`."
                ),
            );
        }
        refuse_null_elements(&path, element, diagnostics);
    }
}

/// Whether a message may say what a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Value,
    /// It is a secret: only what it must be is said.
    Nothing,
}

fn check_rules(
    (validators, quote): (&[Validator], Quote),
    path: &Path,
    value: &Value,
    diagnostics: &mut Diagnostics,
) {
    for validator in validators {
        // A rule for elements points at the element.
        let (validator, targets) = match validator {
            Validator::Each(rule) => (
                &**rule,
                walk::elements(value).into_iter().map(|(s, v)| (path.join(s), v)).collect(),
            ),
            rule => (rule, vec![(path.clone(), value)]),
        };
        for (path, value) in targets {
            if let Err(what) = validator.check(value) {
                let demand = validator.demand();
                let hides = quote == Quote::Nothing && !demand.is_empty();
                let what = if hides { demand } else { what };
                let subject = match (path.is_root(), value) {
                    (true, _) => "The block".to_owned(),
                    (false, _) => format!("`{path}`"),
                };
                diagnostics.error(path, "Invalid value", format!("{subject} {what}."));
            }
        }
    }
}

fn write_only_paths(
    attributes: &[Attribute],
    path: &Path,
    object: &Value,
    found: &mut Vec<(Path, Mode)>,
) {
    for attribute in attributes {
        let path = path.child(attribute.name);
        let value = object.get(attribute.name);
        if attribute.write_only && !value.is_null() {
            found.push((path.clone(), attribute.mode));
        }
        write_only_paths(attribute.children(), &path, value, found);
        for (step, element) in walk::elements(value) {
            write_only_paths(attribute.children(), &path.join(step), element, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(secret: Attribute, check: fn(&Schema, &Value, &mut Diagnostics)) -> String {
        let schema = Schema::new("A thing.").attributes([secret]);
        let mut diagnostics = Diagnostics::new();
        check(&schema, &Value::object([("secret", Value::from("hush"))]), &mut diagnostics);
        let mut told = diagnostics.iter();
        let first = told.next().unwrap().detail.clone();
        assert_eq!(told.next(), None);
        first
    }

    #[test]
    fn what_is_secret_is_not_quoted() {
        let rule = || Validator::pattern("digits", |text| text.bytes().all(|b| b.is_ascii_digit()));
        let secret = || Attribute::string("secret", "A secret.").check(rule());
        assert_eq!(told(secret(), validate), "`secret` must be digits, not \"hush\".");
        for secret in [secret().sensitive(), secret().required().write_only()] {
            assert_eq!(told(secret, validate), "`secret` must be digits.");
        }
    }

    #[test]
    fn what_is_required_is_not_said_to_be_left_out() {
        let secret = || Attribute::string("secret", "A secret.").write_only();
        let optional = told(secret(), refuse_write_only);
        assert!(optional.contains("leave the argument out"), "{optional}");
        let required = told(secret().required(), refuse_write_only);
        assert!(!required.contains("leave the argument out"), "{required}");
    }
}
