//! A real host as a process, its API, and the usual resources to begin with.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use proto::runtimecloud::v1::{
    self, capacity_leases_client::CapacityLeasesClient,
    capacity_targets_client::CapacityTargetsClient, environments_client::EnvironmentsClient,
    event_subscriptions_client::EventSubscriptionsClient, events_client::EventsClient,
    host_client::HostClient, quotas_client::QuotasClient,
    service_accounts_client::ServiceAccountsClient, tokens_client::TokensClient,
    worker_operations_client::WorkerOperationsClient, worker_pools_client::WorkerPoolsClient,
    workers_client::WorkersClient,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tonic::{
    Request, Status,
    metadata::MetadataValue,
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

/// Long enough for the slowest machine; nothing waits so long when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) dir: TempDir,
    child: Option<Child>,
    pub(crate) endpoint: String,
}

#[derive(Clone)]
pub(crate) struct Bearer(pub(crate) String);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let value = format!("Bearer {}", self.0);
        let value = MetadataValue::try_from(value).map_err(|_| Status::internal("bad token"))?;
        request.metadata_mut().insert("authorization", value);
        Ok(request)
    }
}

pub(crate) type Authorized = InterceptedService<Channel, Bearer>;

/// All clients of one caller.
pub(crate) struct Api {
    pub(crate) accounts: ServiceAccountsClient<Authorized>,
    pub(crate) subscriptions: EventSubscriptionsClient<Authorized>,
    pub(crate) targets: CapacityTargetsClient<Authorized>,
    pub(crate) environments: EnvironmentsClient<Authorized>,
    pub(crate) events: EventsClient<Authorized>,
    pub(crate) host: HostClient<Authorized>,
    pub(crate) leases: CapacityLeasesClient<Authorized>,
    pub(crate) operations: WorkerOperationsClient<Authorized>,
    pub(crate) pools: WorkerPoolsClient<Authorized>,
    pub(crate) quotas: QuotasClient<Authorized>,
    pub(crate) tokens: TokensClient<Authorized>,
    pub(crate) workers: WorkersClient<Authorized>,
}

impl World {
    pub(crate) fn start() -> Self {
        Self::start_in(TempDir::with_prefix("runtimecloud-").unwrap())
    }

    pub(crate) fn start_in(dir: TempDir) -> Self {
        let mut world = Self { dir, child: None, endpoint: String::new() };
        world.restart(&[]);
        world
    }

    /// A host that trusts the certificates in a file, and no others.
    pub(crate) fn start_trusting(certificates: &Path) -> Self {
        let dir = TempDir::with_prefix("runtimecloud-").unwrap();
        let mut world = Self { dir, child: None, endpoint: String::new() };
        let mut command = serve(world.dir.path(), &[]);
        command.env("SSL_CERT_FILE", certificates).env_remove("SSL_CERT_DIR");
        world.begin(command);
        world
    }

    /// With more arguments of `serve`.
    pub(crate) fn start_with(more: &[&str]) -> Self {
        let dir = TempDir::with_prefix("runtimecloud-").unwrap();
        let mut world = Self { dir, child: None, endpoint: String::new() };
        world.restart(more);
        world
    }

    /// Started by something that ignores signals, as `nohup` does.
    pub(crate) fn start_deaf() -> Self {
        let dir = TempDir::with_prefix("runtimecloud-").unwrap();
        let host = serve(dir.path(), &[]);
        let mut deaf = Command::new("sh");
        deaf.args(["-c", "trap '' HUP INT QUIT USR1 USR2; exec \"$0\" \"$@\""]);
        deaf.arg(host.get_program()).args(host.get_args()).stdin(Stdio::null());
        let mut world = Self { dir, child: None, endpoint: String::new() };
        world.begin(deaf);
        world
    }

    /// Starts the host, which must not run.
    pub(crate) fn restart(&mut self, more: &[&str]) {
        self.begin(serve(self.dir.path(), more));
    }

    fn begin(&mut self, mut host: Command) {
        let mut child = host.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("the host ended before it listened").unwrap();
        let second = lines.next().unwrap().unwrap();
        assert!(second.starts_with("administrator token in "), "{second}");
        self.endpoint = first.strip_prefix("listening on ").unwrap().to_owned();
        self.child = Some(child);
    }

    pub(crate) fn admin_token(&self) -> String {
        fs::read_to_string(self.dir.path().join("admin.token")).unwrap().trim().to_owned()
    }

    pub(crate) async fn api(&self) -> Api {
        self.api_as(&self.admin_token()).await
    }

    pub(crate) async fn api_as(&self, token: &str) -> Api {
        let endpoint = Channel::from_shared(self.endpoint.clone()).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let service = || InterceptedService::new(channel.clone(), Bearer(token.to_owned()));
        Api {
            accounts: ServiceAccountsClient::new(service()),
            subscriptions: EventSubscriptionsClient::new(service()),
            targets: CapacityTargetsClient::new(service()),
            environments: EnvironmentsClient::new(service()),
            events: EventsClient::new(service()),
            host: HostClient::new(service()),
            leases: CapacityLeasesClient::new(service()),
            operations: WorkerOperationsClient::new(service()),
            pools: WorkerPoolsClient::new(service()),
            quotas: QuotasClient::new(service()),
            tokens: TokensClient::new(service()),
            workers: WorkersClient::new(service()),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the host to end.
    pub(crate) fn signal(&self) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), Signal::TERM).unwrap();
    }

    /// Asks the host to end, and waits until it has; answers whether it says that all went well.
    pub(crate) fn terminate(&mut self) -> bool {
        self.signal();
        self.child.take().unwrap().wait().unwrap().success()
    }
}

/// Leaves nothing behind: a host that stops all workers runs once more, if need be.
impl Drop for World {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
        if self.dir.path().join("targets").exists() {
            let swept = sweep(self.dir.path());
            // A test that failed already must not fail again here: that would hide why.
            assert!(swept.is_some() || std::thread::panicking(), "workers may be left");
        }
    }
}

fn sweep(data_dir: &Path) -> Option<()> {
    let mut child = serve(data_dir, &["--stop-workers"]).stdout(Stdio::piped()).spawn().ok()?;
    BufReader::new(child.stdout.take()?).lines().nth(1)?.ok()?;
    kill_process(Pid::from_child(&child), Signal::TERM).ok()?;
    child.wait().ok()?.success().then_some(())
}

pub(crate) fn serve(data_dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runtimecloud"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data_dir).args(more);
    command.env("RUNTIMECLOUD_LOG", "warn").stdin(Stdio::null());
    command
}

/// Tries again until it is there.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let look = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, look).await;
    found.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

pub(crate) fn amounts(amounts: &[(&str, u64)]) -> v1::Amounts {
    let amounts = amounts.iter().map(|(name, amount)| ((*name).to_owned(), *amount));
    v1::Amounts { amounts: amounts.collect() }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(crate) fn labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A pool of workers that sleep, each using a tenth of a CPU.
pub(crate) fn sleepers(size: u32) -> v1::WorkerPoolSpec {
    v1::WorkerPoolSpec {
        size,
        worker: Some(v1::WorkerTemplate {
            command: words(&["sleep", "1000"]),
            shape: Some(amounts(&[("cpu", 100)])),
            ..v1::WorkerTemplate::default()
        }),
        ..v1::WorkerPoolSpec::default()
    }
}

pub(crate) fn new_pool(name: &str, spec: v1::WorkerPoolSpec) -> v1::CreateWorkerPoolRequest {
    v1::CreateWorkerPoolRequest {
        environment: "dev".to_owned(),
        name: name.to_owned(),
        spec: Some(spec),
        ..v1::CreateWorkerPoolRequest::default()
    }
}

/// A lease in `dev`.
pub(crate) fn new_lease(name: &str, spec: v1::CapacityLeaseSpec) -> v1::CreateCapacityLeaseRequest {
    v1::CreateCapacityLeaseRequest {
        environment: "dev".to_owned(),
        name: name.to_owned(),
        spec: Some(spec),
        ..v1::CreateCapacityLeaseRequest::default()
    }
}

pub(crate) fn lease_of(some: &[(&str, u64)]) -> v1::CapacityLeaseSpec {
    v1::CapacityLeaseSpec { amounts: Some(amounts(some)), ..v1::CapacityLeaseSpec::default() }
}

pub(crate) fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

pub(crate) fn get(key: &str) -> v1::GetRequest {
    v1::GetRequest { key: key.to_owned() }
}

pub(crate) fn delete(key: &str) -> v1::DeleteRequest {
    v1::DeleteRequest { key: key.to_owned(), options: None }
}

/// A token that stands alone.
pub(crate) fn new_token(name: &str, role: v1::Role) -> v1::CreateTokenRequest {
    v1::CreateTokenRequest {
        name: name.to_owned(),
        spec: Some(v1::TokenSpec { role: role.into(), ..v1::TokenSpec::default() }),
        ..v1::CreateTokenRequest::default()
    }
}

impl Api {
    /// A target `local`, a quota `team` of 2 CPUs, and an environment `dev` bound to it.
    pub(crate) async fn usual(&mut self) {
        self.target("local", amounts(&[])).await;
        self.quota("team", &[("cpu", Some(2_000), None)]).await;
        self.environment("dev", "team").await;
    }

    pub(crate) async fn target(&mut self, name: &str, capacity: v1::Amounts) -> v1::CapacityTarget {
        let kind = v1::driver::Kind::Process(v1::ProcessDriver {});
        let request = v1::CreateCapacityTargetRequest {
            name: name.to_owned(),
            spec: Some(v1::CapacityTargetSpec {
                driver: Some(v1::Driver { kind: Some(kind) }),
                capacity: Some(capacity),
                ..v1::CapacityTargetSpec::default()
            }),
            ..v1::CreateCapacityTargetRequest::default()
        };
        self.targets.create(request).await.unwrap().into_inner()
    }

    pub(crate) async fn quota(
        &mut self,
        name: &str,
        limits: &[(&str, Option<u64>, Option<u64>)],
    ) -> v1::Quota {
        let request = v1::CreateQuotaRequest {
            name: name.to_owned(),
            spec: Some(quota_spec(limits)),
            ..v1::CreateQuotaRequest::default()
        };
        self.quotas.create(request).await.unwrap().into_inner()
    }

    pub(crate) async fn account(&mut self, name: &str, role: v1::Role) -> v1::ServiceAccount {
        let request = v1::CreateServiceAccountRequest {
            name: name.to_owned(),
            spec: Some(v1::ServiceAccountSpec {
                role: role.into(),
                ..v1::ServiceAccountSpec::default()
            }),
            ..v1::CreateServiceAccountRequest::default()
        };
        self.accounts.create(request).await.unwrap().into_inner()
    }

    pub(crate) async fn token(
        &mut self,
        request: v1::CreateTokenRequest,
    ) -> v1::CreateTokenResponse {
        self.tokens.create(request).await.unwrap().into_inner()
    }

    pub(crate) async fn environment(&mut self, name: &str, quota: &str) -> v1::Environment {
        let request = v1::CreateEnvironmentRequest {
            name: name.to_owned(),
            spec: Some(v1::EnvironmentSpec {
                quota: quota.to_owned(),
                ..v1::EnvironmentSpec::default()
            }),
            ..v1::CreateEnvironmentRequest::default()
        };
        self.environments.create(request).await.unwrap().into_inner()
    }

    pub(crate) async fn scale(&mut self, key: &str, size: u32) -> Result<v1::WorkerPool, Status> {
        let request = v1::ScaleWorkerPoolRequest { key: key.to_owned(), size, options: None };
        self.pools.scale(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn pool(&mut self, key: &str) -> v1::WorkerPool {
        self.pools.get(get(key)).await.unwrap().into_inner()
    }

    pub(crate) async fn lease(&mut self, key: &str) -> v1::CapacityLeaseObserved {
        self.leases.get(get(key)).await.unwrap().into_inner().observed.unwrap()
    }

    /// Waits until a lease is in a state.
    pub(crate) async fn lease_in(
        &mut self,
        key: &str,
        state: v1::CapacityLeaseState,
    ) -> v1::CapacityLeaseObserved {
        until("the lease's state", async || {
            let lease = self.lease(key).await;
            (lease.state() == state).then_some(lease)
        })
        .await
    }

    /// Whether a lease is valid with a fencing token, and the word that says why.
    pub(crate) async fn check(&mut self, key: &str, fencing_token: u64) -> (bool, String) {
        let key = key.to_owned();
        let request = v1::CheckCapacityLeaseRequest { key, fencing_token };
        let checked = self.leases.check(request).await.unwrap().into_inner();
        (checked.valid, checked.reason)
    }

    /// Waits until the pool says `Ready`.
    pub(crate) async fn ready(&mut self, key: &str) -> v1::WorkerPool {
        until("the pool to be ready", async || {
            let pool = self.pool(key).await;
            is_true(&pool.observed.as_ref()?.conditions, "Ready").then_some(pool)
        })
        .await
    }

    pub(crate) async fn workers_of(&mut self, pool: &str) -> Vec<v1::Worker> {
        let request = v1::ListRequest { parent: pool.to_owned(), ..v1::ListRequest::default() };
        self.workers.list(request).await.unwrap().into_inner().workers
    }

    pub(crate) async fn workers_of_all(&mut self) -> Vec<v1::Worker> {
        self.workers_of("").await
    }

    /// All events up to now.
    pub(crate) async fn all_events(&mut self) -> Vec<v1::Event> {
        let mut stream =
            self.events.watch(v1::WatchEventsRequest::default()).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(event) = stream.message().await.unwrap() {
            events.push(event);
        }
        events
    }
}

pub(crate) fn quota_spec(limits: &[(&str, Option<u64>, Option<u64>)]) -> v1::QuotaSpec {
    let limits = limits.iter().map(|(name, hard, soft)| {
        (*name, v1::Limit { hard: *hard, soft: *soft, ..v1::Limit::default() })
    });
    let limits = limits.map(|(name, limit)| (name.to_owned(), limit));
    v1::QuotaSpec { limits: limits.collect(), ..v1::QuotaSpec::default() }
}

pub(crate) fn condition<'a>(conditions: &'a [v1::Condition], name: &str) -> &'a v1::Condition {
    conditions.iter().find(|condition| condition.r#type == name).unwrap()
}

pub(crate) fn is_true(conditions: &[v1::Condition], name: &str) -> bool {
    condition(conditions, name).status == v1::ConditionStatus::True as i32
}

/// Faults of a refused call, as `field: message`.
pub(crate) fn faults(status: &Status) -> Vec<String> {
    use tonic_types::StatusExt;
    let violations = status.get_details_bad_request().map(|it| it.field_violations);
    let faults = violations.unwrap_or_default().into_iter();
    faults.map(|it| format!("{}: {}", it.field, it.description)).collect()
}

pub(crate) fn reason(status: &Status) -> String {
    use tonic_types::StatusExt;
    status.get_details_error_info().map(|info| info.reason).unwrap_or_default()
}
