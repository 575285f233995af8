//! Our functions, as rows of calls.

use provider::{
    framework::{FunctionError, Number, Type, Value, evaluate},
    functions::FUNCTIONS,
};

fn call<const N: usize>(name: &str, arguments: [Value; N]) -> Result<Value, FunctionError> {
    let function = FUNCTIONS.iter().find(|function| function.name() == name).unwrap();
    let signature = function.signature();
    let typed = arguments.into_iter().enumerate().map(|(at, argument)| {
        let dynamic = signature.parameter(at).is_some_and(|p| p.ty == Type::Dynamic);
        // The type does not matter to the function.
        let wrap = dynamic && !argument.is_null() && !argument.is_unknown();
        if wrap { Value::Dynamic(Type::Dynamic, Box::new(argument)) } else { argument }
    });
    evaluate(*function, &typed.collect::<Vec<_>>())
}

fn refused<const N: usize>(name: &str, arguments: [Value; N]) -> (Option<usize>, String) {
    let error = call(name, arguments).unwrap_err();
    assert!(error.text.ends_with('.'), "a sentence: {}", error.text);
    assert!(error.text.starts_with(|c: char| c.is_uppercase() || c == '`'), "{}", error.text);
    (error.argument, error.text)
}

fn number(text: &str) -> Value {
    text.parse::<Number>().unwrap().into()
}

#[test]
fn amounts_are_read_as_exact_numbers() {
    for (text, resource, amount) in [
        ("500m", "cpu", "500"),
        ("2", "cpu", "2000"),
        ("0.1", "cpu", "100"),
        ("1Gi", "memory", "1073741824"),
        ("18446744073709551615", "memory", "18446744073709551615"),
        ("2k", "licences", "2000"),
    ] {
        let read = call("parse_quantity", [text.into(), resource.into()]);
        assert_eq!(read, Ok(number(amount)), "{text} {resource}");
    }
    assert_eq!(call("parse_quantity", ["1Gi".into()]), Ok(number("1073741824")));
    for (arguments, argument, what) in [
        (["1.5".into(), "workers".into()], 0, "finer than the smallest amount"),
        (["-1".into(), "cpu".into()], 0, "a number of zero or more"),
        (["".into(), "cpu".into()], 0, "write for example `500m`"),
        ([Value::Null, "cpu".into()], 0, "`text` must not be null"),
        (["1".into(), Value::Null], 1, "`resource` must not be null"),
    ] {
        let (at, told) = refused("parse_quantity", arguments);
        assert!(at == Some(argument) && told.contains(what), "{at:?} {told}");
    }
    let (at, told) = refused("parse_quantity", ["500m".into()]);
    assert!(at == Some(0) && told.contains("second argument"), "{told}");
    let (at, _) = refused("parse_quantity", ["1".into(), "cpu".into(), "memory".into()]);
    assert_eq!(at, Some(2));
}

#[test]
fn amounts_are_written_as_people_do() {
    for (amount, resource, text) in [
        ("1500", "cpu", "1500m"),
        ("2000", "cpu", "2"),
        ("1073741824", "memory", "1Gi"),
        ("1500000", "memory", "1500000"),
        ("2000", "licences", "2000"),
        ("0", "cpu", "0"),
        ("18446744073709551615", "memory", "18446744073709551615"),
    ] {
        let written = call("format_quantity", [number(amount), resource.into()]);
        assert_eq!(written, Ok(text.into()), "{amount} {resource}");
        assert_eq!(call("parse_quantity", [text.into(), resource.into()]), Ok(number(amount)));
    }
    for (amount, what) in [
        ("-1", "not below zero"),
        ("1.5", "`floor` or `ceil`"),
        ("1e400", "at most 18446744073709551615"),
        ("18446744073709551616", "at most 18446744073709551615"),
    ] {
        let (at, told) = refused("format_quantity", [number(amount), "cpu".into()]);
        assert!(at == Some(0) && told.contains(what), "{told}");
    }
}

#[test]
fn sums_are_exact_over_arguments_lists_and_maps() {
    let list = Value::list(["512Mi", "512Mi"]);
    let map = Value::map([("a", "1Gi"), ("b", "1Gi")]);
    let object = Value::object([("x", number("1024")), ("y", list.clone())]);
    for (arguments, sum) in [
        (["cpu".into(), "500m".into(), number("1")], "1500m"),
        (["memory".into(), list.clone(), map], "3Gi"),
        (["memory".into(), object, "0".into()], "1048577Ki"),
        (["cpu".into(), Value::list::<Value>([]), "0.1".into()], "100m"),
    ] {
        assert_eq!(call("sum_quantities", arguments), Ok(sum.into()));
    }
    assert_eq!(call("sum_quantities", ["cpu".into()]), Ok("0".into()));
    let most = number("18446744073709551615");
    for (first, second, at, what) in [
        ("1".into(), "1.5".into(), 2, "`1.5` is not an amount"),
        (Value::list([Value::from("1"), Value::Null]), "1".into(), 1, "At `[1]` is null"),
        (Value::map([("a", true)]), "1".into(), 1, "At `[\"a\"]` is a boolean"),
        (true.into(), "1".into(), 1, "This is a boolean"),
        (most, "1".into(), 2, "the most that can be counted"),
        (Value::Null, "1".into(), 1, "must not be null"),
    ] {
        let (argument, told) = refused("sum_quantities", ["workers".into(), first, second]);
        assert!(argument == Some(at) && told.contains(what), "{argument:?} {told}");
    }
}

#[test]
fn a_shape_times_a_size_fits_when_no_resource_exceeds_its_limit() {
    let shape = || Value::map([("cpu", "500m"), ("memory", "512Mi")]);
    let hard = |hard: &str| Value::object([("hard", hard.into()), ("soft", Value::Null)]);
    for (size, limits, fits) in [
        (4_u32, Value::object([("cpu", "2".into())]), true),
        (5, Value::object([("cpu", "2".into())]), false),
        (5, Value::object([("cpu", number("2.5"))]), true),
        (4, Value::map([("cpu", "2"), ("memory", "1Gi")]), false),
        (1000, Value::map([("disk", "1")]), true),
        (3, Value::map([("workers", "2")]), false),
        (2, Value::map([("workers", "2")]), true),
        (4, Value::map([("cpu", hard("2")), ("memory", hard("2Gi"))]), true),
        (4, Value::map([("cpu", hard("1999m"))]), false),
        (4, Value::map([("cpu", Value::object([("hard", Value::Null)]))]), true),
        (0, Value::map([("cpu", "0")]), true),
    ] {
        let told = call("fits", [shape(), size.into(), limits.clone()]);
        assert_eq!(told, Ok(fits.into()), "{size} {limits:?}");
    }
    let most = number("18446744073709551615");
    let large = Value::map([("memory", "15Ei")]);
    assert_eq!(call("fits", [large, most, Value::map([("memory", "15Ei")])]), Ok(false.into()));
}

#[test]
fn what_is_no_shape_size_or_limit_is_told_at_its_argument() {
    let cpu = |text: &str| Value::map([("cpu", text)]);
    let none = || Value::map::<&str, Value>([]);
    for (arguments, at, what) in [
        ([cpu("fast"), 1_u32.into(), none()], 0, "At `[\"cpu\"]`: `fast` is not an amount"),
        ([cpu("1"), number("1.5"), none()], 1, "a whole number"),
        ([cpu("1"), number("-1"), none()], 1, "a whole number"),
        ([cpu("1"), 1_u32.into(), "2".into()], 2, "this is a string"),
        ([cpu("1"), 1_u32.into(), cpu("much")], 2, "`much` is not an amount"),
        (
            [cpu("1"), 1_u32.into(), Value::map([("cpu", Value::map([("soft", "1")]))])],
            2,
            "has `hard`",
        ),
        ([cpu("1"), 1_u32.into(), Value::Null], 2, "must not be null"),
        ([Value::map([("cpu", Value::Null)]), 1_u32.into(), none()], 0, "at `[\"cpu\"]`"),
    ] {
        let (argument, told) = refused("fits", arguments);
        assert!(argument == Some(at) && told.contains(what), "{argument:?} {told}");
    }
}
