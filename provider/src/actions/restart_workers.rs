//! `runtimecloud_restart_workers`: stops the processes of workers and starts them again.

use proto::runtimecloud::v1::WorkerOperationVerb;

use super::on_workers::OnWorkers;

pub(super) static RESTART_WORKERS: OnWorkers = OnWorkers {
    type_name: "runtimecloud_restart_workers",
    verb: WorkerOperationVerb::Restart,
    participle: "restarted",
    description: "Restarts workers of a pool in place, some at a time: the process of each is stopped and \
         started again. Its id and its capacity target stay.",
};
