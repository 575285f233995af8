//! The nouns of the API that have the same five calls, so that all else is written once for them.
//!
//! A new noun is one more `noun!` below.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use proto::runtimecloud::v1::{
    self as api, capacity_targets_client::CapacityTargetsClient,
    environments_client::EnvironmentsClient, quotas_client::QuotasClient,
    worker_pools_client::WorkerPoolsClient, workers_client::WorkersClient,
};
use tonic::{Request, transport::Channel};

use super::RpcResult;

type Answer<Res> = BoxFuture<'static, RpcResult<Res>>;

/// What a resource shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft<Spec> {
    /// Name of the parent; empty for kinds without one.
    pub parent: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub spec: Spec,
}

impl<Spec> Draft<Spec> {
    /// How people and the host call the resource: `NAME` or `PARENT/NAME`.
    pub fn key(&self) -> String {
        key(&self.parent, &self.name)
    }
}

/// `NAME` or `PARENT/NAME`.
pub fn key(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") }
}

/// A resource of the API: its messages and its methods.
pub trait Noun: Sized + Send + Sync + 'static {
    type Spec: Clone + PartialEq + Send + Sync + 'static;
    type Create: Clone + Send + 'static;
    type Update: Clone + Send + 'static;

    /// For people: `worker pool`.
    const KIND: &'static str;

    fn metadata(&self) -> api::Metadata;
    fn spec(&self) -> Self::Spec;
    /// Name of the parent; empty for kinds without one.
    fn parent(&self) -> String;
    fn create_message(draft: Draft<Self::Spec>, options: api::WriteOptions) -> Self::Create;
    fn update_message(
        key: String,
        draft: Draft<Self::Spec>,
        options: api::WriteOptions,
    ) -> Self::Update;

    fn create(channel: Channel, request: Request<Self::Create>) -> Answer<Self>;
    fn get(channel: Channel, request: Request<api::GetRequest>) -> Answer<Self>;
    fn update(channel: Channel, request: Request<Self::Update>) -> Answer<Self>;
    fn delete(channel: Channel, request: Request<api::DeleteRequest>) -> Answer<Self>;
}

macro_rules! noun {
    ($noun:ident, $kind:literal, $client:ident, $create:ident $(. $parent:ident)?, $update:ident,
     $spec:ident) => {
        impl Noun for api::$noun {
            type Spec = api::$spec;
            type Create = api::$create;
            type Update = api::$update;

            const KIND: &'static str = $kind;

            fn metadata(&self) -> api::Metadata {
                self.metadata.clone().unwrap_or_default()
            }

            fn spec(&self) -> api::$spec {
                self.spec.clone().unwrap_or_default()
            }

            fn parent(&self) -> String {
                String::new() $(+ &self.$parent)?
            }

            fn create_message(draft: Draft<api::$spec>, options: api::WriteOptions) -> api::$create {
                api::$create {
                    $($parent: draft.parent,)?
                    name: draft.name,
                    labels: draft.labels,
                    spec: Some(draft.spec),
                    options: Some(options),
                }
            }

            fn update_message(
                key: String,
                draft: Draft<api::$spec>,
                options: api::WriteOptions,
            ) -> api::$update {
                let Draft { labels, spec, .. } = draft;
                api::$update { key, labels, spec: Some(spec), options: Some(options) }
            }

            fn create(channel: Channel, request: Request<api::$create>) -> Answer<Self> {
                Box::pin(async move { $client::new(channel).create(request).await })
            }

            fn get(channel: Channel, request: Request<api::GetRequest>) -> Answer<Self> {
                Box::pin(async move { $client::new(channel).get(request).await })
            }

            fn update(channel: Channel, request: Request<api::$update>) -> Answer<Self> {
                Box::pin(async move { $client::new(channel).update(request).await })
            }

            fn delete(channel: Channel, request: Request<api::DeleteRequest>) -> Answer<Self> {
                Box::pin(async move { $client::new(channel).delete(request).await })
            }
        }
    };
}

noun!(
    CapacityTarget,
    "capacity target",
    CapacityTargetsClient,
    CreateCapacityTargetRequest,
    UpdateCapacityTargetRequest,
    CapacityTargetSpec
);
noun!(
    Environment,
    "environment",
    EnvironmentsClient,
    CreateEnvironmentRequest,
    UpdateEnvironmentRequest,
    EnvironmentSpec
);
noun!(Quota, "quota", QuotasClient, CreateQuotaRequest, UpdateQuotaRequest, QuotaSpec);
noun!(
    WorkerPool,
    "worker pool",
    WorkerPoolsClient,
    CreateWorkerPoolRequest.environment,
    UpdateWorkerPoolRequest,
    WorkerPoolSpec
);

pub(super) fn list_workers(
    channel: Channel,
    request: Request<api::ListRequest>,
) -> Answer<api::ListWorkersResponse> {
    Box::pin(async move { WorkersClient::new(channel).list(request).await })
}
