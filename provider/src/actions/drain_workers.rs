//! `runtimecloud_drain_workers`: stops workers, and lets others take their places when they are gone.

use proto::runtimecloud::v1::WorkerOperationVerb;

use super::on_workers::OnWorkers;

pub(super) static DRAIN_WORKERS: OnWorkers = OnWorkers {
    type_name: "runtimecloud_drain_workers",
    verb: WorkerOperationVerb::Drain,
    participle: "drained",
    description: "Drains workers of a pool: all are cordoned at once, and stopped some at a time. When one is \
         gone, another takes its place, unless the pool has become smaller.",
};
