//! A host in memory, for what is asked of a resource rather than of a host: it keeps intent, answers
//! over a real connection, and runs nothing. What the real host does is asked by the acceptance
//! tests.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use proto::{
    runtimecloud::v1::{
        self as api,
        capacity_leases_server::{CapacityLeases, CapacityLeasesServer},
        capacity_targets_server::{CapacityTargets, CapacityTargetsServer},
        environments_server::{Environments, EnvironmentsServer},
        events_server::{Events, EventsServer},
        quotas_server::{Quotas, QuotasServer},
        service_accounts_server::{ServiceAccounts, ServiceAccountsServer},
        tokens_server::{Tokens, TokensServer},
        worker_operations_server::{WorkerOperations, WorkerOperationsServer},
        worker_pools_server::{WorkerPools, WorkerPoolsServer},
        workers_server::{Workers, WorkersServer},
    },
    tfplugin6::{self as pb, provider_server::Provider as _},
};
use provider::{
    client::{Client, Secret, Settings},
    framework::{Context, Provider as _, Value},
    provider::RuntimeCloud,
    server, wire,
};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Code, Request, Response, Status,
    transport::{Identity, Server, ServerTlsConfig},
};

pub(crate) const TOKEN: &str = "a-token";
/// How many resources a page holds unless asked for another number.
pub(crate) const PAGE: usize = 3;

/// What the host holds, and how it behaves.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) capacity_leases: BTreeMap<String, api::CapacityLease>,
    pub(crate) capacity_targets: BTreeMap<String, api::CapacityTarget>,
    pub(crate) environments: BTreeMap<String, api::Environment>,
    pub(crate) quotas: BTreeMap<String, api::Quota>,
    pub(crate) service_accounts: BTreeMap<String, api::ServiceAccount>,
    /// With their secrets, as they were sent last.
    pub(crate) tokens: BTreeMap<String, api::Token>,
    pub(crate) worker_pools: BTreeMap<String, api::WorkerPool>,
    /// In the order in which they are listed.
    pub(crate) workers: Vec<api::Worker>,
    pub(crate) events: Vec<api::Event>,
    next_id: u64,
    /// Errors to answer the next calls with, the first first.
    pub(crate) failures: Vec<Status>,
    /// Errors to answer the next calls with that are no writes.
    pub(crate) failures_of_reads: Vec<Status>,
    /// Errors to answer the next writes with that are no dry runs.
    pub(crate) failures_of_writes: Vec<Status>,
    /// Each call: its name, and its request id if it was a write.
    pub(crate) calls: Vec<(&'static str, String)>,
    /// Calls take no end.
    pub(crate) hangs: bool,
    /// Calls of this name take no end.
    pub(crate) hangs_on: Option<&'static str>,
    /// Creations happen, and their answers never arrive.
    pub(crate) loses_answers: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct FakeHost {
    pub(crate) memory: Arc<Mutex<Memory>>,
}

impl FakeHost {
    /// Serves until the runtime ends.
    pub(crate) async fn start() -> (Self, SocketAddr) {
        Self::serve(Server::builder()).await
    }

    /// Serves `https`; also gives its certificate.
    pub(crate) async fn start_with_tls() -> (SocketAddr, Vec<u8>) {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let identity = Identity::from_pem(cert.pem(), signing_key.serialize_pem());
        let tls = ServerTlsConfig::new().identity(identity);
        let (_, address) = Self::serve(Server::builder().tls_config(tls).unwrap()).await;
        (address, cert.pem().into_bytes())
    }

    async fn serve(mut server: Server) -> (Self, SocketAddr) {
        let host = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = server
            .add_service(CapacityLeasesServer::new(host.clone()))
            .add_service(CapacityTargetsServer::new(host.clone()))
            .add_service(EnvironmentsServer::new(host.clone()))
            .add_service(EventsServer::new(host.clone()))
            .add_service(QuotasServer::new(host.clone()))
            .add_service(ServiceAccountsServer::new(host.clone()))
            .add_service(TokensServer::new(host.clone()))
            .add_service(WorkerOperationsServer::new(host.clone()))
            .add_service(WorkerPoolsServer::new(host.clone()))
            .add_service(WorkersServer::new(host.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        (host, address)
    }

    pub(crate) fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap()
    }

    /// What every call does first.
    async fn enter<T>(
        &self,
        call: &'static str,
        request: Request<T>,
        request_id: impl Fn(&T) -> String,
    ) -> Result<T, Status> {
        let token = request.metadata().get("authorization").and_then(|it| it.to_str().ok());
        if token != Some(&format!("Bearer {TOKEN}")) {
            return Err(Status::unauthenticated("the token is unknown"));
        }
        let request = request.into_inner();
        let hangs = {
            let mut memory = self.memory();
            let request_id = request_id(&request);
            let is_write = !request_id.is_empty();
            memory.calls.push((call, request_id));
            if !memory.failures.is_empty() {
                return Err(memory.failures.remove(0));
            }
            if !is_write && !memory.failures_of_reads.is_empty() {
                return Err(memory.failures_of_reads.remove(0));
            }
            if is_write && !memory.failures_of_writes.is_empty() {
                return Err(memory.failures_of_writes.remove(0));
            }
            memory.hangs || memory.hangs_on == Some(call)
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        Ok(request)
    }
}

impl Memory {
    fn metadata(&mut self, name: String, labels: BTreeMap<String, String>) -> api::Metadata {
        self.next_id += 1;
        let id = format!("fake_{}", self.next_id);
        api::Metadata { id, name, generation: 1, revision: 1, labels, ..Default::default() }
    }
}

/// For a connection to `address` with the right token.
pub(crate) fn settings(address: SocketAddr) -> Settings {
    Settings {
        endpoint: format!("http://{address}"),
        token: Secret::new(TOKEN),
        ca_certificates: None,
        request_timeout: Duration::from_secs(30),
    }
}

/// The provider's server, configured for a connection to `address`.
pub(crate) async fn configured(address: SocketAddr) -> server::Server<RuntimeCloud> {
    let provider = RuntimeCloud::new(|_| None);
    let schema = provider.schema();
    let mut block = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    block.set_attribute("endpoint", format!("http://{address}"));
    block.set_attribute("token", TOKEN);
    let config = Some(wire::encode(&schema.value_type(), &block).unwrap());
    let server = server::Server::new(provider);
    let request = pb::configure_provider::Request { config, ..Default::default() };
    let answer = server.configure_provider(Request::new(request)).await.unwrap();
    assert_eq!(answer.into_inner().diagnostics, []);
    server
}

/// A context that nobody interrupts.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline far away, which nothing is compared with"
)]
pub(crate) fn context(client: Client) -> Context<Client> {
    let deadline = Instant::now() + Duration::from_secs(60);
    Context::new(Some(Arc::new(client)), Box::pin(std::future::pending()), deadline)
}

fn id_of(options: Option<&api::WriteOptions>) -> String {
    options.map(|options| options.request_id.clone()).unwrap_or_default()
}

/// A page, whose token is how many came before it.
fn page<T>(request: &api::ListRequest, items: impl Iterator<Item = T>) -> (Vec<T>, String) {
    let before: usize = request.page_token.parse().unwrap_or(0);
    let size = if request.page_size == 0 { PAGE } else { request.page_size as usize };
    let mut items: Vec<T> = items.skip(before).collect();
    let more = items.len() > size;
    items.truncate(size);
    (items, if more { (before + size).to_string() } else { String::new() })
}

fn not_found() -> Status {
    Status::new(Code::NotFound, "it is not there")
}

fn granted() -> api::CapacityLeaseObserved {
    api::CapacityLeaseObserved {
        state: api::CapacityLeaseState::Granted.into(),
        fencing_token: Some(7),
        granted_at: Some(prost_types::Timestamp { seconds: 1_800_000_000, nanos: 0 }),
        ..Default::default()
    }
}

/// What a creation is answered with.
macro_rules! created {
    ($noun:ident) => {
        api::$noun
    };
    ($noun:ident $answer:ident) => {
        api::$answer
    };
}

/// The five calls of a noun.
macro_rules! noun {
    ($service:ident, $noun:ident, $memory:ident, $create:ident $(. $parent:ident)?, $update:ident,
     $list:ident $(=> $answer:ident.$created:ident)? $(, $observed:expr)?;
     $($more:tt)*) => {
        #[tonic::async_trait]
        impl $service for FakeHost {
            async fn create(
                &self,
                request: Request<api::$create>,
            ) -> Result<Response<created!($noun $($answer)?)>, Status> {
                let request =
                    self.enter("create", request, |r| id_of(r.options.as_ref())).await?;
                let (noun, is_lost) = {
                    let mut memory = self.memory();
                    let metadata = memory.metadata(request.name, request.labels);
                    let noun = api::$noun {
                        metadata: Some(metadata.clone()),
                        $($parent: request.$parent,)?
                        spec: request.spec,
                        observed: [$($observed)?].into_iter().next(),
                    };
                    if !request.options.is_some_and(|options| options.dry_run) {
                        memory.$memory.insert(metadata.id, noun.clone());
                    }
                    (noun, memory.loses_answers)
                };
                if is_lost {
                    std::future::pending::<()>().await;
                }
                $(let noun = api::$answer { $created: Some(noun), ..Default::default() };)?
                Ok(Response::new(noun))
            }

            async fn get(
                &self,
                request: Request<api::GetRequest>,
            ) -> Result<Response<api::$noun>, Status> {
                let key = self.enter("get", request, |_| String::new()).await?.key;
                let memory = self.memory();
                let named = |noun: &&api::$noun| {
                    let parent = String::new() $(+ &noun.$parent + "/")?;
                    let name = &noun.metadata.as_ref().unwrap().name;
                    parent + name == key
                };
                let found = memory.$memory.get(&key);
                let found = found.or_else(|| memory.$memory.values().find(named));
                found.cloned().map(Response::new).ok_or_else(not_found)
            }

            async fn update(
                &self,
                request: Request<api::$update>,
            ) -> Result<Response<api::$noun>, Status> {
                let request =
                    self.enter("update", request, |r| id_of(r.options.as_ref())).await?;
                let mut memory = self.memory();
                let noun = memory.$memory.get_mut(&request.key).ok_or_else(not_found)?;
                let options = request.options.unwrap_or_default();
                if options.dry_run {
                    return Ok(Response::new(noun.clone()));
                }
                let metadata = noun.metadata.as_mut().unwrap();
                if options.revision != 0 && options.revision != metadata.revision {
                    return Err(Status::aborted("it has another revision"));
                }
                metadata.revision += 1;
                metadata.labels = request.labels;
                noun.spec = request.spec;
                Ok(Response::new(noun.clone()))
            }

            async fn delete(
                &self,
                request: Request<api::DeleteRequest>,
            ) -> Result<Response<api::$noun>, Status> {
                let request =
                    self.enter("delete", request, |r| id_of(r.options.as_ref())).await?;
                let gone = self.memory().$memory.remove(&request.key);
                gone.map(Response::new).ok_or_else(not_found)
            }

            async fn list(
                &self,
                request: Request<api::ListRequest>,
            ) -> Result<Response<api::$list>, Status> {
                let request = self.enter("list", request, |_| String::new()).await?;
                let memory = self.memory();
                let is_wanted = |noun: &&api::$noun| {
                    let labels = &noun.metadata.as_ref().unwrap().labels;
                    let parent = String::new() $(+ &noun.$parent)?;
                    let fits = |(key, value): (&String, _)| labels.get(key) == Some(value);
                    (request.parent.is_empty() || request.parent == parent)
                        && request.labels.iter().all(fits)
                };
                let wanted = memory.$memory.values().filter(is_wanted).cloned();
                let (page, next_page_token) = page(&request, wanted);
                Ok(Response::new(api::$list { $memory: page, next_page_token }))
            }

            $($more)*
        }
    };
}

noun!(
    CapacityLeases, CapacityLease, capacity_leases, CreateCapacityLeaseRequest.environment,
    UpdateCapacityLeaseRequest, ListCapacityLeasesResponse, granted();
    async fn renew(
        &self,
        _: Request<api::RenewCapacityLeaseRequest>,
    ) -> Result<Response<api::CapacityLease>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }
    async fn check(
        &self,
        _: Request<api::CheckCapacityLeaseRequest>,
    ) -> Result<Response<api::CheckCapacityLeaseResponse>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }
);
noun!(
    CapacityTargets, CapacityTarget, capacity_targets, CreateCapacityTargetRequest,
    UpdateCapacityTargetRequest, ListCapacityTargetsResponse;
);
noun!(
    Environments, Environment, environments, CreateEnvironmentRequest, UpdateEnvironmentRequest,
    ListEnvironmentsResponse;
);
noun!(
    Quotas, Quota, quotas, CreateQuotaRequest, UpdateQuotaRequest, ListQuotasResponse;
    async fn recount(
        &self,
        _: Request<api::RecountQuotasRequest>,
    ) -> Result<Response<api::RecountQuotasResponse>, Status> {
        Err(Status::unimplemented("nobody counts here"))
    }
);
noun!(
    ServiceAccounts, ServiceAccount, service_accounts, CreateServiceAccountRequest,
    UpdateServiceAccountRequest, ListServiceAccountsResponse;
);
noun!(
    Tokens, Token, tokens, CreateTokenRequest.service_account, UpdateTokenRequest,
    ListTokensResponse => CreateTokenResponse.token;
);
noun!(
    WorkerPools, WorkerPool, worker_pools, CreateWorkerPoolRequest.environment,
    UpdateWorkerPoolRequest, ListWorkerPoolsResponse;
    async fn scale(
        &self,
        _: Request<api::ScaleWorkerPoolRequest>,
    ) -> Result<Response<api::WorkerPool>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }
);

#[tonic::async_trait]
impl Workers for FakeHost {
    type LogsStream = tokio_stream::Empty<Result<api::LogChunk, Status>>;

    async fn get(&self, _: Request<api::GetRequest>) -> Result<Response<api::Worker>, Status> {
        Err(not_found())
    }

    async fn list(
        &self,
        request: Request<api::ListRequest>,
    ) -> Result<Response<api::ListWorkersResponse>, Status> {
        let request = self.enter("list", request, |_| String::new()).await?;
        let memory = self.memory();
        let of_parent =
            |it: &&api::Worker| request.parent.is_empty() || it.worker_pool == request.parent;
        let workers = memory.workers.iter().filter(of_parent).cloned();
        if request.parent == "absent" {
            return Err(not_found());
        }
        let (workers, next_page_token) = page(&request, workers);
        Ok(Response::new(api::ListWorkersResponse { workers, next_page_token }))
    }

    async fn logs(
        &self,
        _: Request<api::LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        Err(not_found())
    }
}

#[tonic::async_trait]
impl Events for FakeHost {
    type WatchStream = tokio_stream::Empty<Result<api::Event, Status>>;
    type SnapshotStream = tokio_stream::Empty<Result<api::SnapshotPart, Status>>;

    async fn watch(
        &self,
        _: Request<api::WatchEventsRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(not_found())
    }

    async fn list(
        &self,
        request: Request<api::ListEventsRequest>,
    ) -> Result<Response<api::ListEventsResponse>, Status> {
        let request = self.enter("list", request, |_| String::new()).await?;
        let fits = |event: &&api::Event| {
            event.position > request.after
                && (request.types.is_empty() || request.types.contains(&event.r#type))
                && (request.subject_id.is_empty() || request.subject_id == event.subject_id)
        };
        let mut events: Vec<_> = self.memory().events.iter().filter(fits).cloned().collect();
        if request.newest_first {
            events.reverse();
        }
        let position = self.memory().events.last().map_or(0, |event| event.position);
        events.truncate(request.page_size as usize);
        Ok(Response::new(api::ListEventsResponse {
            events,
            next_page_token: String::new(),
            position,
            oldest_position: 1,
        }))
    }

    async fn snapshot(
        &self,
        _: Request<api::SnapshotRequest>,
    ) -> Result<Response<Self::SnapshotStream>, Status> {
        Err(not_found())
    }
}

/// An operation that is never done.
fn operation(pool: &str) -> api::WorkerOperation {
    api::WorkerOperation {
        id: "op_1".to_owned(),
        worker_pool: pool.to_owned(),
        state: api::WorkerOperationState::UnderWay.into(),
        total: 3,
        done: 1,
        ..Default::default()
    }
}

#[tonic::async_trait]
impl WorkerOperations for FakeHost {
    async fn start(
        &self,
        request: Request<api::StartWorkerOperationRequest>,
    ) -> Result<Response<api::WorkerOperation>, Status> {
        let request = self.enter("start", request, |r| id_of(r.options.as_ref())).await?;
        Ok(Response::new(operation(&request.worker_pool)))
    }

    async fn get(
        &self,
        request: Request<api::GetRequest>,
    ) -> Result<Response<api::WorkerOperation>, Status> {
        self.enter("get", request, |_| String::new()).await?;
        Ok(Response::new(operation("dev/web")))
    }

    async fn list(
        &self,
        _: Request<api::ListRequest>,
    ) -> Result<Response<api::ListWorkerOperationsResponse>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }

    async fn cancel(
        &self,
        _: Request<api::CancelWorkerOperationRequest>,
    ) -> Result<Response<api::WorkerOperation>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }
}
