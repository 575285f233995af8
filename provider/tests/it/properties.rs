//! The planner against Terraform's rules, over random schemas and values.

use crate::tape::{Tape, Unknowns};
use proptest::prelude::*;
use provider::{
    framework::{
        Attribute, Diagnostics, Kind, Plan, Planned, Schema, Value,
        conformance::{
            check_apply, check_final_plan, check_plan, check_schema, proposed_new_state,
        },
        generate::generate_config,
        plan::plan,
        result::{Leftover, settle},
    },
    wire::to_msgpack,
};

fn tape() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..400)
}

fn planned(schema: &Schema, prior: &Value, config: &Value) -> Planned {
    let proposed = proposed_new_state(schema, prior, config);
    plan(schema, Plan { prior, config }, &proposed)
}

/// Plans, and checks all that holds of any plan.
fn checked_plan(schema: &Schema, prior: &Value, config: &Value) -> Planned {
    let first = planned(schema, prior, config);
    assert_eq!(check_plan(schema, Plan { prior, config }, &first.state), []);
    let again = planned(schema, prior, config);
    let ty = schema.value_type();
    assert_eq!(to_msgpack(&ty, &first.state), to_msgpack(&ty, &again.state));
    assert_eq!(first.replace, again.replace);
    assert!(first.replace.is_sorted());
    if prior.is_null() {
        assert_eq!(first.replace, []);
    }
    first
}

/// An apply whose remote end answers in capitals where that means the same.
fn applied(tape: &mut Tape<'_>, schema: &Schema, planned: &Value) -> Value {
    let resolved = tape.resolve(&schema.value_type(), planned);
    let returned = respell(&schema.attributes, &resolved);
    let mut diagnostics = Diagnostics::new();
    let sides = (planned, &returned);
    let state = settle(schema, sides, Leftover::Report, &mut diagnostics);
    let state = state.unwrap_or_else(|_| panic!("{diagnostics:?}"));
    assert_eq!(
        check_apply(schema, planned, &state),
        [],
        "\n{planned:?}\n{returned:?}\n{state:?}\n{:?}",
        schema.attributes
    );
    state
}

fn respell(attributes: &[Attribute], object: &Value) -> Value {
    let Value::Object(_) = object else { return object.clone() };
    Value::object(attributes.iter().map(|attribute| {
        let value = object.get(attribute.name);
        let value = match &attribute.kind {
            Kind::Value(_) if attribute.equal.is_some() => capitals(value),
            Kind::Value(_) => value.clone(),
            Kind::Nested(_, children) | Kind::Block(_, children) => match value {
                Value::List(all) => Value::List(all.iter().map(|v| respell(children, v)).collect()),
                Value::Set(all) => {
                    Value::set(all.iter().map(|v| respell(children, v)).collect::<Vec<_>>())
                }
                Value::Map(all) => {
                    Value::map(all.iter().map(|(k, v)| (k.clone(), respell(children, v))))
                }
                other => respell(children, other),
            },
        };
        (attribute.name, value)
    }))
}

fn capitals(value: &Value) -> Value {
    match value {
        Value::String(text) => text.to_uppercase().into(),
        Value::List(all) => Value::List(all.iter().map(capitals).collect()),
        Value::Map(all) => Value::map(all.iter().map(|(k, v)| (k.clone(), capitals(v)))),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_schemas_obey_the_rules(bytes in tape()) {
        prop_assert_eq!(check_schema(&Tape::new(&bytes).schema()), []);
    }

    /// Create, nothing to do, update with unknowns, the same known, nothing to do, destroy.
    #[test]
    fn no_plan_and_no_result_breaks_a_rule(bytes in tape()) {
        let tape = &mut Tape::new(&bytes);
        let schema = tape.schema();
        let config = tape.config(&schema, Unknowns::Never);
        let create = checked_plan(&schema, &Value::Null, &config);
        let state = applied(tape, &schema, &create.state);
        let idle = checked_plan(&schema, &state, &config);
        prop_assert_eq!(&idle.state, &state, "nothing is left to do");
        prop_assert_eq!(idle.replace, []);

        let guess = tape.config(&schema, Unknowns::Sometimes);
        let first = checked_plan(&schema, &state, &guess);
        let known = tape.resolve(&schema.value_type(), &guess);
        let second = checked_plan(&schema, &state, &known);
        prop_assert_eq!(check_final_plan(&schema, &first.state, &second.state), []);
        let state = applied(tape, &schema, &second.state);
        let idle = checked_plan(&schema, &state, &known);
        prop_assert_eq!(&idle.state, &state, "nothing is left to do");

        let destroy = checked_plan(&schema, &state, &Value::Null);
        prop_assert_eq!(destroy, Planned::default());
    }

    /// What is generated for a state plans to nothing, and says no more than it must.
    #[test]
    fn a_generated_configuration_leads_to_its_state(bytes in tape()) {
        let tape = &mut Tape::new(&bytes);
        let schema = tape.schema();
        let config = tape.config(&schema, Unknowns::Never);
        let create = checked_plan(&schema, &Value::Null, &config);
        let state = applied(tape, &schema, &create.state);
        let generated = generate_config(&schema, &state);
        prop_assert!(generated.get("id").is_null());
        let idle = checked_plan(&schema, &state, &generated);
        prop_assert_eq!(&idle.state, &state);
    }

    /// A read that brings the same in another spelling changes nothing.
    #[test]
    fn a_read_without_drift_keeps_every_byte(bytes in tape()) {
        let tape = &mut Tape::new(&bytes);
        let schema = tape.schema();
        let config = tape.config(&schema, Unknowns::Never);
        let create = checked_plan(&schema, &Value::Null, &config);
        let state = applied(tape, &schema, &create.state);
        let read = respell(&schema.attributes, &state);
        let mut diagnostics = Diagnostics::new();
        let kept = settle(&schema, (&state, &read), Leftover::Report, &mut diagnostics);
        prop_assert_eq!(kept, Ok(state));
    }
}
