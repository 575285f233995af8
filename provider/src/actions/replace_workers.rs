//! `runtimecloud_replace_workers`: lets new workers take the places of others.

use proto::runtimecloud::v1::WorkerOperationVerb;

use super::on_workers::OnWorkers;

pub(super) static REPLACE_WORKERS: OnWorkers = OnWorkers {
    type_name: "runtimecloud_replace_workers",
    verb: WorkerOperationVerb::Replace,
    participle: "replaced",
    description: "Replaces workers of a pool by new ones, some at a time. A new worker is started while the \
         old one stops, perhaps on another capacity target.",
};
