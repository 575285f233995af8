//! Attributes that several data sources share: what the host observes. Pure.

use proto::runtimecloud::v1::{self as api, ConditionStatus};

use crate::{
    framework::{Attribute, Nesting, Type, Value},
    resources::{amounts, attributes::text_or_null},
};

pub(super) use crate::resources::attributes::time_of_api as time_value;

/// When something was last seen, and what is said of it.
pub(super) fn common() -> [Attribute; 6] {
    [
        Attribute::value("labels", Type::map(Type::String), "All its labels.").computed(),
        Attribute::number("generation", "Counts changes of what was asked for, from 1.").computed(),
        Attribute::number("revision", "Counts all stored changes, from 1.").computed(),
        time("created_at", "When it was created, as RFC 3339 writes it."),
        time("updated_at", "When it was last changed, as RFC 3339 writes it."),
        conditions(),
    ]
}

/// The values of [`common`].
pub(super) fn common_values(
    metadata: &api::Metadata,
    conditions: &[api::Condition],
) -> Vec<(&'static str, Value)> {
    vec![
        ("labels", metadata.labels.clone().into()),
        ("generation", metadata.generation.into()),
        ("revision", metadata.revision.into()),
        ("created_at", time_value(metadata.created_at.as_ref())),
        ("updated_at", time_value(metadata.updated_at.as_ref())),
        ("conditions", Value::map(conditions.iter().map(|c| (&c.r#type, condition(c))))),
    ]
}

pub(super) fn count(name: &'static str, description: &'static str) -> Attribute {
    Attribute::number(name, description).computed()
}

pub(super) fn time(name: &'static str, description: &'static str) -> Attribute {
    Attribute::string(name, description).computed()
}

/// Amounts by resource in use.
pub(super) fn used(description: &'static str) -> Attribute {
    Attribute::value("used", Type::map(Type::String), description).computed()
}

pub(super) fn used_value(used: Option<&api::Amounts>) -> Value {
    amounts::from_api(used)
}

fn conditions() -> Attribute {
    Attribute::nested(
        "conditions",
        Nesting::Map,
        "What is true of it and why, by condition.",
        [
            Attribute::string("status", "`true`, `false` or `unknown`.").computed(),
            Attribute::string("reason", "One word for programs.").computed(),
            Attribute::string("message", "A sentence for people.").computed(),
            time("changed_at", "When `status` last changed, as RFC 3339 writes it."),
            count("observed_generation", "The generation that this is said of."),
        ],
    )
    .computed()
}

fn condition(condition: &api::Condition) -> Value {
    let status = match condition.status() {
        ConditionStatus::True => "true",
        ConditionStatus::False => "false",
        ConditionStatus::Unknown | ConditionStatus::Unspecified => "unknown",
    };
    Value::object([
        ("status", status.into()),
        ("reason", text_or_null(&condition.reason)),
        ("message", text_or_null(&condition.message)),
        ("changed_at", time_value(condition.changed_at.as_ref())),
        ("observed_generation", condition.observed_generation.into()),
    ])
}
