//! Calls of the host's API, the same for every kind of resource.

use std::collections::BTreeMap;

use proto::runtimecloud::v1::{
    self, DeleteRequest, GetRequest, ListRequest, WriteOptions,
    capacity_leases_client::CapacityLeasesClient, capacity_targets_client::CapacityTargetsClient,
    environments_client::EnvironmentsClient, event_subscriptions_client::EventSubscriptionsClient,
    events_client::EventsClient, host_client::HostClient, quotas_client::QuotasClient,
    service_accounts_client::ServiceAccountsClient, tokens_client::TokensClient,
    worker_operations_client::WorkerOperationsClient, worker_pools_client::WorkerPoolsClient,
    workers_client::WorkersClient,
};
use tonic::Status;

use crate::cli::{
    connection::{Authorized, Session},
    kinds::{Declared, Desired, Resource, Spec},
};

/// Calls that have the same shape for each declared kind: its client, the field of its list, and the
/// message of its update.
macro_rules! each_kind {
    ($($kind:ident, $client:ident, $list:ident, $update:ident;)*) => {
        impl Session {
            pub async fn get(&self, kind: Declared, key: &str) -> Result<Resource, Status> {
                let request = GetRequest { key: key.to_owned() };
                let channel = self.channel.clone();
                match kind {
                    $(Declared::$kind => {
                        Ok($client::new(channel).get(request).await?.into_inner().into())
                    })*
                }
            }

            pub async fn delete(&self, kind: Declared, key: &str, options: WriteOptions) -> Result<Resource, Status> {
                let request = DeleteRequest { key: key.to_owned(), options: Some(options) };
                let channel = self.channel.clone();
                match kind {
                    $(Declared::$kind => {
                        Ok($client::new(channel).delete(request).await?.into_inner().into())
                    })*
                }
            }

            pub async fn update(&self, desired: &Desired, options: WriteOptions) -> Result<Resource, Status> {
                let (key, labels) = (desired.key.clone(), desired.labels.clone());
                let channel = self.channel.clone();
                match desired.spec.clone() {
                    $(Spec::$kind(spec) => {
                        let request = v1::$update { key, labels, spec: Some(spec), options: Some(options) };
                        Ok($client::new(channel).update(request).await?.into_inner().into())
                    })*
                }
            }

            /// One page, and the token of the next.
            async fn page(&self, kind: Declared, request: ListRequest) -> Result<(Vec<Resource>, String), Status> {
                let channel = self.channel.clone();
                match kind {
                    $(Declared::$kind => {
                        let page = $client::new(channel).list(request).await?.into_inner();
                        Ok((page.$list.into_iter().map(Resource::from).collect(), page.next_page_token))
                    })*
                }
            }
        }
    };
}

each_kind! {
    CapacityLease, CapacityLeasesClient, capacity_leases, UpdateCapacityLeaseRequest;
    CapacityTarget, CapacityTargetsClient, capacity_targets, UpdateCapacityTargetRequest;
    Environment, EnvironmentsClient, environments, UpdateEnvironmentRequest;
    EventSubscription, EventSubscriptionsClient, event_subscriptions, UpdateEventSubscriptionRequest;
    Quota, QuotasClient, quotas, UpdateQuotaRequest;
    ServiceAccount, ServiceAccountsClient, service_accounts, UpdateServiceAccountRequest;
    WorkerPool, WorkerPoolsClient, worker_pools, UpdateWorkerPoolRequest;
}

/// Which resources are meant.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub labels: BTreeMap<String, String>,
    /// Empty: any.
    pub parent: String,
}

impl Filter {
    fn page(&self, page_token: String) -> ListRequest {
        let Self { labels, parent } = self.clone();
        ListRequest { labels, parent, page_size: 0, page_token }
    }
}

impl Session {
    /// All of a kind, whatever the number of pages.
    pub async fn list(&self, kind: Declared, filter: &Filter) -> Result<Vec<Resource>, Status> {
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let (page, next) = self.page(kind, filter.page(token)).await?;
            all.extend(page);
            if next.is_empty() {
                return Ok(all);
            }
            token = next;
        }
    }

    pub async fn create(
        &self,
        desired: &Desired,
        options: WriteOptions,
    ) -> Result<Resource, Status> {
        let (name, labels) = (desired.key.clone(), desired.labels.clone());
        let (channel, options) = (self.channel.clone(), Some(options));
        Ok(match desired.spec.clone() {
            Spec::CapacityLease(spec) => {
                let (environment, name) = name.split_once('/').unwrap_or(("", &name));
                let request = v1::CreateCapacityLeaseRequest {
                    environment: environment.to_owned(),
                    name: name.to_owned(),
                    labels,
                    spec: Some(spec),
                    options,
                };
                CapacityLeasesClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::CapacityTarget(spec) => {
                let spec = Some(spec);
                let request = v1::CreateCapacityTargetRequest { name, labels, spec, options };
                CapacityTargetsClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::Environment(spec) => {
                let spec = Some(spec);
                let request = v1::CreateEnvironmentRequest { name, labels, spec, options };
                EnvironmentsClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::EventSubscription(spec) => {
                let spec = Some(spec);
                let request = v1::CreateEventSubscriptionRequest { name, labels, spec, options };
                EventSubscriptionsClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::Quota(spec) => {
                let request = v1::CreateQuotaRequest { name, labels, spec: Some(spec), options };
                QuotasClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::ServiceAccount(spec) => {
                let spec = Some(spec);
                let request = v1::CreateServiceAccountRequest { name, labels, spec, options };
                ServiceAccountsClient::new(channel).create(request).await?.into_inner().into()
            }
            Spec::WorkerPool(spec) => {
                let (environment, name) = name.split_once('/').unwrap_or(("", &name));
                let request = v1::CreateWorkerPoolRequest {
                    environment: environment.to_owned(),
                    name: name.to_owned(),
                    labels,
                    spec: Some(spec),
                    options,
                };
                WorkerPoolsClient::new(channel).create(request).await?.into_inner().into()
            }
        })
    }

    /// Workers of a pool, or all for an empty one.
    pub async fn list_workers(&self, filter: &Filter) -> Result<Vec<v1::Worker>, Status> {
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let page = self.workers().list(filter.page(token)).await?.into_inner();
            all.extend(page.workers);
            if page.next_page_token.is_empty() {
                return Ok(all);
            }
            token = page.next_page_token;
        }
    }

    /// All tokens, or those of a service account.
    pub async fn list_tokens(&self, filter: &Filter) -> Result<Vec<v1::Token>, Status> {
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let page = self.tokens().list(filter.page(token)).await?.into_inner();
            all.extend(page.tokens);
            if page.next_page_token.is_empty() {
                return Ok(all);
            }
            token = page.next_page_token;
        }
    }

    /// Worker operations of a pool, or all for an empty one; oldest first.
    pub async fn list_operations(
        &self,
        filter: &Filter,
    ) -> Result<Vec<v1::WorkerOperation>, Status> {
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let page = self.operations().list(filter.page(token)).await?.into_inner();
            all.extend(page.worker_operations);
            if page.next_page_token.is_empty() {
                return Ok(all);
            }
            token = page.next_page_token;
        }
    }

    pub fn operations(&self) -> WorkerOperationsClient<Authorized> {
        WorkerOperationsClient::new(self.channel.clone())
    }

    pub fn workers(&self) -> WorkersClient<Authorized> {
        WorkersClient::new(self.channel.clone())
    }

    pub fn pools(&self) -> WorkerPoolsClient<Authorized> {
        WorkerPoolsClient::new(self.channel.clone())
    }

    pub fn leases(&self) -> CapacityLeasesClient<Authorized> {
        CapacityLeasesClient::new(self.channel.clone())
    }

    pub fn quotas(&self) -> QuotasClient<Authorized> {
        QuotasClient::new(self.channel.clone())
    }

    pub fn events(&self) -> EventsClient<Authorized> {
        // A page of large ones.
        EventsClient::new(self.channel.clone()).max_decoding_message_size(128 << 20)
    }

    pub fn subscriptions(&self) -> EventSubscriptionsClient<Authorized> {
        EventSubscriptionsClient::new(self.channel.clone()).max_decoding_message_size(128 << 20)
    }

    pub fn tokens(&self) -> TokensClient<Authorized> {
        TokensClient::new(self.channel.clone())
    }

    pub fn host(&self) -> HostClient<Authorized> {
        HostClient::new(self.channel.clone())
    }
}

/// A write that is done once, whatever happens to the connection.
pub fn write_once(revision: u64) -> WriteOptions {
    WriteOptions { request_id: uuid::Uuid::now_v7().to_string(), revision, dry_run: false }
}
