//! What holds for every resource without a host to ask. What holds of their whole lives is tried with
//! random configurations in `acceptance-tests`.

use provider::{
    framework::{
        Diagnostics, Value,
        conformance::{self, Violation},
        validate,
    },
    resources::RESOURCES,
};

fn clean(violations: &[Violation]) {
    let found: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn null_elements_are_refused_where_they_stand() {
    let null = |key: &str| Value::map([(key, Value::Null)]);
    let worker = |name: &str, value| Value::object([(name, value)]);
    for (ty, attribute, value, path) in [
        ("environment", "variables", null("A"), r#"variables["A"]"#),
        ("environment", "labels", null("a"), r#"labels["a"]"#),
        ("quota", "limits", null("cpu"), r#"limits["cpu"]"#),
        ("worker_pool", "worker", worker("shape", null("cpu")), r#"worker.shape["cpu"]"#),
        (
            "worker_pool",
            "worker",
            worker("command", Value::list(["x".into(), Value::Null])),
            "worker.command[1]",
        ),
        ("worker_pool", "worker", worker("ports", Value::set([Value::Null])), "worker.ports[*]"),
    ] {
        let ty = format!("runtimecloud_{ty}");
        let resource = RESOURCES.iter().find(|resource| resource.type_name() == ty).unwrap();
        let mut diagnostics = Diagnostics::new();
        let config = Value::object([(attribute, value)]);
        validate::validate(&resource.schema(), &config, &mut diagnostics);
        let found: Vec<_> = diagnostics.iter().map(|d| (&*d.summary, d.path.to_string())).collect();
        assert_eq!(found, [("Null element", path.to_owned())]);
    }
}

#[test]
fn every_schema_is_one_that_terraform_takes() {
    for resource in RESOURCES {
        clean(&conformance::check_schema(&resource.schema()));
    }
}
