//! `runtimecloud_capacity_target`: somewhere workers can run.

use proto::runtimecloud::v1::{self as api, driver};

use super::{
    amounts,
    attributes::{self, deletion_protection_of},
    managed::Kind,
};
use crate::framework::{Attribute, Diagnostics, Path, Validator, Value};

pub(crate) struct CapacityTarget;

impl Kind for CapacityTarget {
    type Noun = api::CapacityTarget;

    const TYPE: &'static str = "runtimecloud_capacity_target";
    const DESCRIPTION: &'static str = "Somewhere workers can run: how they are run there, and how \
        much they may use together. Environments choose targets by their labels.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            attributes::name("Name, unique among capacity targets. A change replaces the target."),
            Attribute::object(
                "driver",
                "How workers are run: exactly one kind. A change of the kind replaces the target.",
                [Attribute::object(
                    "process",
                    "Workers are processes on the host's own machine. Write `process = {}`.",
                    [],
                )
                .replace()],
            )
            .required()
            .check(Validator::ExactlyOneOf(&["process"])),
            attributes::amounts(
                "capacity",
                "What all workers here may use together, by resource: `cpu` (as in `500m` or `2`), \
                 `memory` (as in `512Mi` or `4Gi`), `workers`, or any other name. What is not \
                 named has no limit.",
            ),
            Attribute::bool(
                "cordoned",
                "While `true`, no new workers are placed here; those that run stay. `false` if \
                 left out.",
            )
            .default(false),
        ]
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        amounts::check(config.get("capacity"), &Path::attribute("capacity"), diagnostics);
    }

    fn spec(&self, values: &Value) -> api::CapacityTargetSpec {
        let process = !values.get("driver").get("process").is_null();
        api::CapacityTargetSpec {
            driver: Some(api::Driver {
                kind: process.then_some(driver::Kind::Process(api::ProcessDriver {})),
            }),
            capacity: Some(amounts::to_api(values.get("capacity"))),
            cordoned: values.get("cordoned").as_bool().unwrap_or(false),
            deletion_protection: deletion_protection_of(values),
        }
    }

    fn values(&self, spec: &api::CapacityTargetSpec) -> Vec<(&'static str, Value)> {
        let process = match spec.driver.and_then(|driver| driver.kind) {
            Some(driver::Kind::Process(api::ProcessDriver {})) => Value::object::<&str>([]),
            None => Value::Null,
        };
        vec![
            ("driver", Value::object([("process", process)])),
            ("capacity", amounts::from_api(spec.capacity.as_ref())),
            ("cordoned", spec.cordoned.into()),
            ("deletion_protection", spec.deletion_protection.into()),
        ]
    }
}
