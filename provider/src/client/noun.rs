//! The nouns of the API that have the same five calls, so that all else is written once for them.
//!
//! A new noun is one more `noun!` below.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use proto::runtimecloud::v1::{
    self as api, capacity_leases_client::CapacityLeasesClient,
    capacity_targets_client::CapacityTargetsClient, environments_client::EnvironmentsClient,
    event_subscriptions_client::EventSubscriptionsClient, quotas_client::QuotasClient,
    service_accounts_client::ServiceAccountsClient, tokens_client::TokensClient,
    worker_pools_client::WorkerPoolsClient, workers_client::WorkersClient,
};
use tonic::{Request, transport::Channel};

use super::RpcResult;

/// The host puts up to 500 resources on a page, of at most some 150 KiB each: more than tonic takes
/// unless it is told to.
pub(crate) const PAGE_BYTES_MAX: usize = 128 << 20;

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

    /// For people: `worker pool`. With an `s` it means many.
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
    fn list(channel: Channel, request: Request<api::ListRequest>) -> Answer<Page<Self>>;
}

/// Some of the resources that were asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// In the host's order.
    pub items: Vec<T>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

macro_rules! noun {
    ($noun:ident, $kind:literal, $client:ident, $create:ident $(. $parent:ident)?, $update:ident,
     $spec:ident, $many:ident $(, created: $created:ident)?) => {
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
                Box::pin(async move {
                    let answer = $client::new(channel).create(request).await?;
                    Ok(answer$(.map(|it| it.$created.unwrap_or_default()))?)
                })
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

            fn list(channel: Channel, request: Request<api::ListRequest>) -> Answer<Page<Self>> {
                Box::pin(async move {
                    let mut client =
                        $client::new(channel).max_decoding_message_size(PAGE_BYTES_MAX);
                    let page = client.list(request).await?;
                    Ok(page.map(|page| Page { items: page.$many, next: page.next_page_token }))
                })
            }
        }
    };
}

noun!(
    CapacityLease,
    "capacity lease",
    CapacityLeasesClient,
    CreateCapacityLeaseRequest.environment,
    UpdateCapacityLeaseRequest,
    CapacityLeaseSpec,
    capacity_leases
);
noun!(
    CapacityTarget,
    "capacity target",
    CapacityTargetsClient,
    CreateCapacityTargetRequest,
    UpdateCapacityTargetRequest,
    CapacityTargetSpec,
    capacity_targets
);
noun!(
    Environment,
    "environment",
    EnvironmentsClient,
    CreateEnvironmentRequest,
    UpdateEnvironmentRequest,
    EnvironmentSpec,
    environments
);
noun!(
    EventSubscription,
    "event subscription",
    EventSubscriptionsClient,
    CreateEventSubscriptionRequest,
    UpdateEventSubscriptionRequest,
    EventSubscriptionSpec,
    event_subscriptions
);
noun!(Quota, "quota", QuotasClient, CreateQuotaRequest, UpdateQuotaRequest, QuotaSpec, quotas);
noun!(
    ServiceAccount,
    "service account",
    ServiceAccountsClient,
    CreateServiceAccountRequest,
    UpdateServiceAccountRequest,
    ServiceAccountSpec,
    service_accounts
);
noun!(
    Token,
    "token",
    TokensClient,
    CreateTokenRequest.service_account,
    UpdateTokenRequest,
    TokenSpec,
    tokens,
    created: token
);
noun!(
    WorkerPool,
    "worker pool",
    WorkerPoolsClient,
    CreateWorkerPoolRequest.environment,
    UpdateWorkerPoolRequest,
    WorkerPoolSpec,
    worker_pools
);

pub(super) fn list_workers(
    channel: Channel,
    request: Request<api::ListRequest>,
) -> Answer<Page<api::Worker>> {
    Box::pin(async move {
        let mut client = WorkersClient::new(channel).max_decoding_message_size(PAGE_BYTES_MAX);
        let page = client.list(request).await?;
        Ok(page.map(|page| Page { items: page.workers, next: page.next_page_token }))
    })
}

pub(super) fn renew_lease(
    channel: Channel,
    request: Request<api::RenewCapacityLeaseRequest>,
) -> Answer<api::CapacityLease> {
    Box::pin(async move { CapacityLeasesClient::new(channel).renew(request).await })
}
