//! Capacity targets.

use proto::runtimecloud::v1::{CapacityTarget, CapacityTargetSpec, Driver, ProcessDriver, driver};
use serde_json::{Map, Value, json};

use super::{Declared, Resource, object};
use crate::cli::{document::fields::Fields, text};

pub const HEADERS: &[&str] = &["NAME", "DRIVER", "CAPACITY", "USED", "WORKERS", "STATUS", "AGE"];

pub fn read(fields: &mut Fields<'_>) -> CapacityTargetSpec {
    fields.require("driver", "driver = { process = {} }");
    let at = fields.at();
    let kind = fields.object("driver", |driver| {
        let process = driver.object("process", |_| driver::Kind::Process(ProcessDriver {}));
        if process.is_none() {
            driver.fault(
                at,
                "`driver` names one driver; write for example `driver = { process = {} }`",
            );
        }
        process
    });
    CapacityTargetSpec {
        driver: Some(Driver { kind: kind.flatten() }),
        capacity: Some(fields.amounts("capacity")),
        cordoned: fields.flag("cordoned"),
        deletion_protection: fields.flag("deletion_protection"),
    }
}

pub fn show(spec: &CapacityTargetSpec) -> Map<String, Value> {
    let kind = spec.driver.and_then(|driver| driver.kind);
    object([
        (
            "driver",
            match kind {
                Some(driver::Kind::Process(ProcessDriver {})) => json!({"process": {}}),
                None => json!({}),
            },
        ),
        ("capacity", text::amounts(spec.capacity.as_ref())),
        ("cordoned", spec.cordoned.into()),
        ("deletion_protection", spec.deletion_protection.into()),
    ])
}

pub fn row(resource: &Resource) -> Vec<String> {
    let driver = resource.spec.get("driver").and_then(Value::as_object);
    let map = |value: Option<&Value>| {
        value.and_then(Value::as_object).map_or("-".to_owned(), |map| text::pairs(map, " "))
    };
    vec![
        driver.and_then(|driver| driver.keys().next().cloned()).unwrap_or_default(),
        map(resource.spec.get("capacity")),
        map(resource.observed.get("used")),
        resource.seen("workers").to_string(),
    ]
}

impl From<CapacityTarget> for Resource {
    fn from(target: CapacityTarget) -> Self {
        let observed = target.observed.unwrap_or_default();
        let metadata = target.metadata.unwrap_or_default();
        Self {
            kind: Declared::CapacityTarget,
            key: metadata.name.clone(),
            metadata,
            spec: show(&target.spec.unwrap_or_default()),
            observed: object([
                ("used", text::amounts(observed.used.as_ref())),
                ("workers", observed.workers.into()),
                ("observed_at", text::time(observed.observed_at.as_ref())),
            ]),
            conditions: observed.conditions,
        }
    }
}
