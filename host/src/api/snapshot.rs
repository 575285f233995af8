//! All resources as they are at one moment, for a reader who is to follow the event log from there.
//!
//! Invariant: the position is read before the resources, so that each change is in the one or told
//! after the other.

use prost::Message;
use proto::runtimecloud::v1;
use tokio::sync::mpsc;
use tonic::Status;

use super::{Caller, Core, View, status};
use crate::{
    accounts, capacity, environments, leases, operations, pools,
    resource::{Kind, quoted},
    subscriptions,
    tokens::{self, model::Role},
};

type Parts = mpsc::Sender<Result<v1::SnapshotPart, Status>>;

/// Resources on their way to a reader.
const AHEAD: usize = 64;

/// Kinds that a snapshot has, in the order in which they need each other.
pub const KINDS: &[Kind] = &[
    Kind::CapacityTarget,
    Kind::Quota,
    Kind::Environment,
    Kind::ServiceAccount,
    Kind::Token,
    Kind::WorkerPool,
    Kind::Worker,
    Kind::WorkerOperation,
    Kind::CapacityLease,
    Kind::EventSubscription,
];

/// Begins to send what the caller asks for and may read.
pub fn open(
    core: &Core,
    kinds: &[String],
    caller: &Caller,
) -> Result<mpsc::Receiver<Result<v1::SnapshotPart, Status>>, Status> {
    let may_read = |kind: Kind| kind != Kind::Token || caller.role >= Role::Admin;
    let mut wanted: Vec<Kind> = KINDS.iter().copied().filter(|kind| may_read(*kind)).collect();
    if !kinds.is_empty() {
        if let Some(unknown) = kinds.iter().find(|it| !wanted.iter().any(|kind| kind.code() == *it))
        {
            let known: Vec<_> = wanted.iter().map(|kind| kind.code()).collect();
            let message = format!(
                "{} is not a kind that you may read: use some of {}",
                quoted(unknown),
                known.join(", ")
            );
            return Err(status::invalid("kinds", message, &caller.request_id));
        }
        wanted.retain(|kind| kinds.iter().any(|it| it == kind.code()));
    }
    let position = *core.store.last_position().borrow();
    let view = core.view();
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let head = v1::SnapshotPart { position, ..v1::SnapshotPart::default() };
        if sender.send(Ok(head)).await.is_err() {
            return;
        }
        for kind in wanted {
            if send(&view, (kind, position), &sender).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

struct Gone;

async fn send(view: &View, (kind, position): (Kind, u64), parts: &Parts) -> Result<(), Gone> {
    macro_rules! each {
        ($all:expr, $name:literal, $encode:expr) => {
            for it in $all {
                let resource = prost_types::Any {
                    type_url: concat!("type.googleapis.com/runtimecloud.v1.", $name).to_owned(),
                    value: $encode(it, view).encode_to_vec(),
                };
                let kind = kind.code().to_owned();
                let part = v1::SnapshotPart { position, kind, resource: Some(resource) };
                parts.send(Ok(part)).await.map_err(|_| Gone)?;
            }
        };
    }
    let records = &view.records;
    match kind {
        Kind::CapacityLease => {
            each!(records.capacity_leases.iter(), "CapacityLease", leases::wire::lease);
        }
        Kind::CapacityTarget => {
            each!(records.capacity_targets.values(), "CapacityTarget", capacity::wire::target);
        }
        Kind::Environment => {
            each!(records.environments.values(), "Environment", environments::wire::environment);
        }
        Kind::EventSubscription => {
            let all = records.event_subscriptions.values();
            each!(all, "EventSubscription", subscriptions::wire::subscription);
        }
        Kind::Quota => each!(records.quotas.values(), "Quota", capacity::wire::quota),
        Kind::ServiceAccount => {
            each!(records.service_accounts.values(), "ServiceAccount", accounts::wire::account);
        }
        Kind::Token => each!(records.tokens.values(), "Token", tokens::wire::token),
        Kind::Worker => each!(records.workers.values(), "Worker", pools::workers_api::encode),
        Kind::WorkerOperation => {
            each!(records.operations.values(), "WorkerOperation", operations::api::encode);
        }
        Kind::WorkerPool => {
            each!(records.worker_pools.values(), "WorkerPool", pools::wire::pool);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_can_be_listed_is_in_a_snapshot() {
        let set = prost_types::FileDescriptorSet::decode(proto::FILE_DESCRIPTOR_SET).unwrap();
        let ours = set.file.iter().filter(|file| file.package() == "runtimecloud.v1");
        let methods = ours.flat_map(|file| &file.service).flat_map(|service| &service.method);
        let lists = methods.filter(|it| it.input_type() == ".runtimecloud.v1.ListRequest");
        assert_eq!(lists.count(), KINDS.len());
    }
}
