//! What Terraform takes for granted of a function, and what we ask of ours.

use super::{
    Violation,
    schema::{has_dynamic, is_name, is_sentence},
    violation,
};
use crate::framework::{Parameter, Path, Signature, Type};
use std::collections::BTreeSet;

/// Words of the configuration language: as names they are read as something else.
const RESERVED: [&str; 9] =
    ["each", "else", "endfor", "endif", "false", "for", "if", "null", "true"];

/// The rules that a function's name and signature break. The path of a violation is the parameter's
/// name; the root stands for the function.
pub fn check_signature(name: &str, signature: &Signature) -> Vec<Violation> {
    let mut found = Vec::new();
    let root = Path::root();
    let mut say = |what: &str| found.push(violation(&root, what));
    check_name(name, &mut say);
    if !is_sentence(signature.summary) || signature.summary.contains('\n') {
        say("no summary in one sentence");
    }
    if !is_sentence(signature.description) {
        say("no description in sentences");
    }
    check_type(&signature.returns, &mut say);
    if signature.deprecated.is_some_and(|instead| !is_sentence(instead)) {
        say("deprecated, but not said in favour of what");
    }
    let mut names = BTreeSet::new();
    for parameter in signature.parameters.iter().chain(&signature.variadic) {
        let path = root.child(parameter.name);
        let mut say = |what: &str| found.push(violation(&path, what));
        if !names.insert(parameter.name) {
            say("a name twice");
        }
        check_parameter(parameter, &mut say);
    }
    found
}

fn check_parameter(parameter: &Parameter, say: &mut impl FnMut(&str)) {
    check_name(parameter.name, say);
    if !is_sentence(parameter.description) {
        say("no description in sentences");
    }
    check_type(&parameter.ty, say);
}

fn check_name(name: &str, say: &mut impl FnMut(&str)) {
    if !is_name(name) {
        say("a name that is not lower-case letters, digits and underscores");
    }
    if RESERVED.contains(&name) {
        say("a reserved name");
    }
}

fn check_type(ty: &Type, say: &mut impl FnMut(&str)) {
    if has_dynamic(ty, true) {
        say("a dynamic type within another type");
    }
    if has_tuple(ty) {
        say("a tuple type, which only dynamic values have");
    }
}

fn has_tuple(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Number | Type::String | Type::Dynamic => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => has_tuple(element),
        Type::Object(types) => types.values().any(has_tuple),
        Type::Tuple(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Signature {
        Signature {
            summary: "Adds numbers.",
            description: "The sum of all.",
            parameters: vec![Parameter::new("first", Type::Number, "The first number.")],
            variadic: Some(Parameter::new("more", Type::Number, "Further numbers.")),
            returns: Type::Number,
            deprecated: None,
        }
    }

    fn broken(name: &str, change: impl FnOnce(&mut Signature)) -> Vec<String> {
        let mut signature = sound();
        change(&mut signature);
        check_signature(name, &signature).into_iter().map(|v| v.what).collect()
    }

    #[test]
    fn each_rule_is_told_when_it_is_broken() {
        assert_eq!(check_signature("sum", &sound()), []);
        let parameter = |name, ty| Parameter::new(name, ty, "A number.");
        type Change = Box<dyn FnOnce(&mut Signature)>;
        let cases: [(&str, Change, &str); 11] = [
            ("Sum", Box::new(|_| ()), "lower-case"),
            ("null", Box::new(|_| ()), "reserved"),
            ("sum", Box::new(|s| s.summary = "sum"), "summary"),
            ("sum", Box::new(|s| s.summary = "One.\nTwo."), "summary"),
            ("sum", Box::new(|s| s.description = ""), "description"),
            ("sum", Box::new(|s| s.deprecated = Some("old")), "in favour"),
            (
                "sum",
                Box::new(move |s| s.variadic = Some(parameter("first", Type::Number))),
                "twice",
            ),
            (
                "sum",
                Box::new(move |s| s.variadic = Some(parameter("a-b", Type::Bool))),
                "lower-case",
            ),
            (
                "sum",
                Box::new(move |s| s.parameters = vec![parameter("for", Type::Bool)]),
                "reserved",
            ),
            ("sum", Box::new(|s| s.returns = Type::list(Type::Dynamic)), "dynamic"),
            ("sum", Box::new(|s| s.returns = Type::Tuple(vec![Type::Bool])), "tuple"),
        ];
        for (name, change, what) in cases {
            let told = broken(name, change);
            assert!(matches!(&*told, [one] if one.contains(what)), "{what}: {told:?}");
        }
    }
}
