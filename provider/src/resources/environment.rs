//! `runtimecloud_environment`: a named, isolated place where worker pools live.

use proto::runtimecloud::v1 as api;

use super::{
    attributes::{self, deletion_protection_of},
    managed::Kind,
};
use crate::framework::{Attribute, Value};

pub(crate) struct Environment;

impl Kind for Environment {
    type Noun = api::Environment;

    const TYPE: &'static str = "runtimecloud_environment";
    const DESCRIPTION: &'static str = "A named, isolated place where worker pools live: which \
        capacity targets they may use, which quota they count against, and what variables their \
        workers get.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name("Name, unique among environments. A change replaces the environment."),
            attributes::name_of(
                "quota",
                "Name of the quota that its worker pools count against. None if left out.",
            ),
            attributes::label_map(
                "target_selector",
                "Workers are placed only on capacity targets that carry all these labels; on any \
                 if left out.",
            ),
            attributes::description(),
            attributes::variables(
                "Given to every worker as environment variables; those of a pool win.",
            ),
        ]
    }

    fn spec(&self, values: &Value) -> api::EnvironmentSpec {
        api::EnvironmentSpec {
            quota: values.text("quota").to_owned(),
            target_selector: values.get("target_selector").string_map(),
            description: values.text("description").to_owned(),
            variables: values.get("variables").string_map(),
            deletion_protection: deletion_protection_of(values),
        }
    }

    fn values(&self, spec: &api::EnvironmentSpec) -> Vec<(&'static str, Value)> {
        vec![
            ("quota", attributes::text_or_null(&spec.quota)),
            ("target_selector", spec.target_selector.clone().into()),
            ("description", attributes::text_or_null(&spec.description)),
            ("variables", spec.variables.clone().into()),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }

    fn frees_room(&self, prior: &Value, planned: &Value) -> bool {
        prior.get("quota").is_set() && prior.get("quota") != planned.get("quota")
    }

    /// What is in it counts against the other quota then.
    fn takes_room(&self, prior: &Value, planned: &Value) -> bool {
        let (before, after) = (prior.get("quota"), planned.get("quota"));
        !prior.is_null() && after.is_set() && before != after
    }
}
