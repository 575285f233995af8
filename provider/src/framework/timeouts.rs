//! The `timeouts` attribute: how long create, read, update and delete may take, or opening.
//!
//! Nothing but the configuration knows them, so an import can not find them. They must be in the state
//! all the same, for a deletion, which has no configuration. An import therefore stores [`imported`],
//! and that a configuration says otherwise is no change of its own: its times are stored with the
//! next change of anything else. Terraform accepts a plan that keeps a prior value in the place of a
//! configured one only where neither is null; hence a time for each operation, and the mode.

use super::{Attribute, Schema, Validator, Value};
use std::time::Duration;

const NAME: &str = "timeouts";

/// Time for an operation that the user gives none.
pub(crate) const DEFAULT: Duration = Duration::from_secs(20 * 60);

/// How long each operation may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For creating.
    pub create: Duration,
    /// For reading.
    pub read: Duration,
    /// For updating.
    pub update: Duration,
    /// For deleting.
    pub delete: Duration,
    /// For opening an ephemeral resource.
    pub open: Duration,
}

impl Default for Timeouts {
    /// 20 minutes each.
    fn default() -> Self {
        Self { create: DEFAULT, read: DEFAULT, update: DEFAULT, delete: DEFAULT, open: DEFAULT }
    }
}

/// The ready-made attribute, for the schema of a resource.
pub fn timeouts() -> Attribute {
    let operations = [
        operation("create", "Time for creating; `20m` if left out."),
        operation("read", "Time for reading; `20m` if left out."),
        operation("update", "Time for updating; `20m` if left out."),
        operation("delete", "Time for deleting; `20m` if left out."),
    ];
    timeouts_of(operations.map(Attribute::optional_computed)).optional_computed().keep_prior()
}

/// The ready-made attribute, for the schema of an ephemeral resource that may wait to be opened.
pub fn open_timeout() -> Attribute {
    timeouts_of([operation("open", "Time for opening; `20m` if left out.")])
}

fn timeouts_of<const N: usize>(operations: [Attribute; N]) -> Attribute {
    Attribute::object(
        NAME,
        "How long an operation may take before it is given up, such as `30s`, `20m` or `1h30m`.",
        operations,
    )
}

/// The times in the state of an import: those that hold when there are none.
pub(crate) fn imported() -> Value {
    Value::object(["create", "read", "update", "delete"].map(|operation| (operation, "20m".into())))
}

/// Whether a schema has them.
pub(crate) fn are_in(schema: &Schema) -> bool {
    schema.attribute(NAME).is_some()
}

/// The same object with the times that are stored when it changes.
pub(crate) fn stored(mut planned: Value, config: &Value, prior: &Value) -> Value {
    let is_kept = config.get(NAME).is_null() && are_imported(prior);
    planned.set_attribute(NAME, if is_kept { prior } else { config }.get(NAME).clone());
    planned
}

/// Whether a state has the times of an import.
pub(crate) fn are_imported(state: &Value) -> bool {
    *state.get(NAME) == imported()
}

/// Whether a plan differs from what was imported in nothing but times.
pub(crate) fn is_as_imported(planned: &Value, prior: &Value) -> bool {
    are_imported(prior) && {
        let mut same = planned.clone();
        same.set_attribute(NAME, imported());
        same == *prior
    }
}

/// The state of an import with the times that it has.
pub(crate) fn with_imported(mut state: Value) -> Value {
    state.set_attribute(NAME, imported());
    state
}

fn operation(name: &'static str, description: &'static str) -> Attribute {
    Attribute::string(name, description).check(Validator::Custom(|value| {
        parse_duration(value.as_str().unwrap_or_default()).map(|_| ())
    }))
}

impl Timeouts {
    /// The times in a resource's value or configuration; 20 minutes where it says nothing.
    pub fn of(resource: &Value) -> Self {
        let time = |operation| {
            let text = resource.get(NAME).get(operation).as_str();
            text.and_then(|text| parse_duration(text).ok()).unwrap_or(DEFAULT)
        };
        Self {
            create: time("create"),
            read: time("read"),
            update: time("update"),
            delete: time("delete"),
            open: time("open"),
        }
    }
}

/// Reads `1h30m`, `20m`, `90s`, `500ms` and their like: whole numbers with units, largest first.
///
/// The error continues the sentence "The value ...".
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let error = || {
        let text: String = text.chars().take(40).collect();
        format!("must be a time such as \"30s\", \"20m\" or \"1h30m\", not {text:?}")
    };
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let amount: u64 = rest[..digits].parse().map_err(|_| error())?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let (_, millis) = units.find(|(name, _)| *name == &rest[..letters]).ok_or_else(error)?;
        rest = &rest[letters..];
        let part = amount.checked_mul(*millis).ok_or_else(error)?;
        total = total.checked_add(part).ok_or_else(error)?;
    }
    // A year is longer than anyone waits, and keeps later sums of times from overflowing.
    if total == 0 || total > 365 * 24 * 3_600_000 {
        Err(error())
    } else {
        Ok(Duration::from_millis(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::{Plan, conformance, plan};

    #[test]
    fn times_are_read() {
        for (text, seconds) in [("30s", 30), ("20m", 1200), ("1h30m", 5400), ("2h", 7200)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in
            ["", "5", "m", "-5m", "1.5h", "5m1h", "1m1m", "5 m", "0s", "99999999999999h", "5µs"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    /// What is planned for a thing of a size with times, null or one for creating.
    fn planned(prior: [Value; 2], config: [Value; 2]) -> [Value; 2] {
        let thing =
            |[size, times]: [Value; 2]| Value::object([("size", size), ("timeouts", times)]);
        let schema = Schema::new("A thing.")
            .attributes([Attribute::number("size", "Its size.").required(), timeouts()]);
        let (prior, config) = (thing(prior), thing(config));
        let proposed = conformance::proposed_new_state(&schema, &prior, &config);
        let request = Plan { prior: &prior, config: &config };
        let planned = plan::plan(&schema, request, &proposed).state;
        let broken = conformance::check_plan(&schema, request, &planned);
        assert!(broken.is_empty(), "{broken:?}");
        ["size", "timeouts"].map(|name| planned.get(name).clone())
    }

    fn times(create: &str) -> Value {
        let none = |operation| (operation, Value::Null);
        Value::object([("create", create.into()), none("read"), none("update"), none("delete")])
    }

    #[test]
    fn times_alone_change_nothing_of_what_was_imported() {
        let one = || Value::from(1_u32);
        for config in [Value::Null, times("5m")] {
            assert_eq!(planned([one(), imported()], [one(), config]), [one(), imported()]);
        }
        let two = || Value::from(2_u32);
        assert_eq!(planned([one(), imported()], [two(), times("5m")]), [two(), times("5m")]);
        assert_eq!(planned([one(), imported()], [two(), Value::Null]), [two(), imported()]);
    }

    #[test]
    fn times_that_are_stored_are_those_of_the_configuration() {
        let one = || Value::from(1_u32);
        for config in [Value::Null, times("5m"), imported()] {
            let (prior, wanted) = ([one(), times("1m")], [one(), config.clone()]);
            assert_eq!(planned(prior, [one(), config]), wanted);
        }
        assert_eq!(planned([one(), Value::Null], [one(), times("5m")])[1], times("5m"));
    }

    #[test]
    fn an_operation_without_a_time_has_twenty_minutes() {
        let timeouts =
            Timeouts::of(&Value::object([("timeouts", Value::object([("create", "5m".into())]))]));
        assert_eq!(timeouts.create, Duration::from_secs(300));
        assert_eq!(timeouts.delete, DEFAULT);
    }
}
