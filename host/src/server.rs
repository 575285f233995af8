//! Wires the parts of the host together, and takes them apart in order.
//!
//! On the way out: no new calls, streams end, the reconciler ends after its round, workers go on
//! unless it was asked to stop them, and the store closes last.

mod admin_token;
mod farewell;

use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use proto::runtimecloud::v1::{
    capacity_leases_server::CapacityLeasesServer, capacity_targets_server::CapacityTargetsServer,
    environments_server::EnvironmentsServer, event_subscriptions_server::EventSubscriptionsServer,
    events_server::EventsServer, host_server::HostServer, quotas_server::QuotasServer,
    service_accounts_server::ServiceAccountsServer, tokens_server::TokensServer,
    worker_operations_server::WorkerOperationsServer, worker_pools_server::WorkerPoolsServer,
    workers_server::WorkersServer,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_stream::{Stream, StreamExt as _, wrappers::TcpListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::transport::{Server, server::Router};
use tower::layer::util::{Identity, Stack};

use crate::{
    accounts::api::ServiceAccountsApi,
    api::{Core, events::EventsApi, gate::Gate, host::HostApi, web::Web},
    board::Board,
    capacity::{api_quotas::QuotasApi, api_targets::CapacityTargetsApi},
    clock::{Clock, SteadyClock},
    environments::api::EnvironmentsApi,
    ids::SystemIds,
    leases::api::CapacityLeasesApi,
    operations::api::WorkerOperationsApi,
    places::{OpenDriver, Places},
    pools::{api::WorkerPoolsApi, workers_api::WorkersApi},
    store::{Store, sqlite::SqliteStore},
    subscriptions::{api::EventSubscriptionsApi, send::Sender, standing::Standing, vault::Vault},
    tasks::{
        deliver::Deliverer,
        leases::LeaseKeeper,
        prune::{EventPruner, Retention},
        reconcile::Reconciler,
    },
    tokens::api::TokensApi,
};

/// How to run a host.
pub struct Options {
    pub data_dir: PathBuf,
    pub listen: SocketAddr,
    pub retention: Retention,
    pub leave: Leave,
    pub opener: Box<dyn OpenDriver>,
}

/// What becomes of the workers when the host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    Running,
    Stopped,
}

/// A host that listens.
pub struct Serving {
    pub address: SocketAddr,
    pub admin_token_path: PathBuf,
    stop: CancellationToken,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
    reconciler: JoinHandle<()>,
    lease_keeper: JoinHandle<()>,
    event_pruner: JoinHandle<()>,
    recounter: JoinHandle<()>,
    deliverer: JoinHandle<()>,
    core: Core,
    leave: Leave,
}

/// No message of a caller is larger.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// How long calls under way may take when the host ends.
const GOODBYE: Duration = Duration::from_secs(5);

/// Opens the data folder and listens. What drivers have is known before the first call comes in.
pub async fn start(options: Options) -> Result<Serving> {
    let Options { data_dir, listen, retention, leave, opener } = options;
    make_folder(&data_dir)?;
    let data_dir = data_dir.canonicalize().context("cannot resolve the data folder")?;
    let steady = Arc::new(SteadyClock::start());
    let clock: Arc<dyn Clock> = Arc::<SteadyClock>::clone(&steady);
    let store = SqliteStore::open(&data_dir, Arc::clone(&clock), Arc::new(SystemIds))
        .with_context(|| format!("cannot open the data folder `{}`", data_dir.display()))?;
    steady.not_before(store.records().time);
    let store: Arc<dyn Store> = Arc::new(store);
    let admin_token_path = admin_token::provide(&data_dir, &*store).await?;
    let core = Core {
        board: Arc::new(Board::default()),
        places: Arc::new(Places::new(opener)),
        standing: Arc::new(Standing::default()),
        vault: Arc::new(Vault::open(&data_dir)?),
        shutdown: CancellationToken::new(),
        store,
        clock,
    };
    let reconciler = Reconciler {
        store: Arc::clone(&core.store),
        places: Arc::clone(&core.places),
        board: Arc::clone(&core.board),
        clock: Arc::clone(&core.clock),
    };
    let lease_keeper =
        LeaseKeeper { store: Arc::clone(&core.store), clock: Arc::clone(&core.clock) };
    let event_pruner =
        EventPruner { store: Arc::clone(&core.store), clock: Arc::clone(&core.clock), retention };
    let recounter = core.recounter();
    let deliverer = Deliverer {
        store: Arc::clone(&core.store),
        clock: Arc::clone(&core.clock),
        standing: Arc::clone(&core.standing),
        vault: Arc::clone(&core.vault),
        sender: Sender::new(),
    };
    drop(reconciler.observe().await);
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}: choose another with --listen"))?;
    let address = listener.local_addr().context("cannot tell the address listened on")?;
    write_file(&data_dir.join("endpoint"), &format!("http://{address}\n"))?;
    let stop = core.shutdown.clone();
    let serving = router(&core)
        .await?
        .serve_with_incoming_shutdown(connections(listener), stop.clone().cancelled_owned());
    Ok(Serving {
        address,
        admin_token_path,
        server: tokio::spawn(serving),
        reconciler: tokio::spawn(reconciler.run(stop.clone())),
        lease_keeper: tokio::spawn(lease_keeper.run(stop.clone())),
        event_pruner: tokio::spawn(event_pruner.run(stop.clone())),
        recounter: tokio::spawn(recounter.run(stop.clone())),
        deliverer: tokio::spawn(deliverer.run(stop.clone())),
        stop,
        core,
        leave,
    })
}

impl Serving {
    /// Ends at a signal, or when the server fails by itself. A second signal cuts the end short.
    pub async fn until(mut self, mut signal: impl AsyncFnMut()) -> Result<()> {
        tokio::select! {
            () = signal() => {}
            ended = &mut self.server => {
                ended.context("the server ended unexpectedly")?.context("cannot serve")?;
                anyhow::bail!("the server ended unexpectedly");
            }
        }
        tokio::select! {
            ended = self.shut_down() => ended,
            () = signal() => anyhow::bail!("told to end a second time: what was under way is cut off"),
        }
    }

    async fn shut_down(self) -> Result<()> {
        let Self { stop, server, core, leave, .. } = self;
        tracing::info!("shutting down");
        stop.cancel();
        let abort = server.abort_handle();
        if tokio::time::timeout(GOODBYE, server).await.is_err() {
            tracing::warn!("calls under way were cut off");
            abort.abort();
        }
        self.lease_keeper.await.context("the keeper of leases ended in a fault")?;
        self.deliverer.await.context("the deliverer of events ended in a fault")?;
        self.event_pruner.await.context("the pruner of events ended in a fault")?;
        self.recounter.await.context("the recounter ended in a fault")?;
        self.reconciler.await.context("the reconciler ended in a fault")?;
        match leave {
            Leave::Running => Ok(()),
            Leave::Stopped => farewell::stop_workers(&core).await,
        }
    }
}

/// Connections that send at once: an answer of several packets would else wait for the caller's
/// delayed acknowledgement of the first.
fn connections(listener: TcpListener) -> impl Stream<Item = io::Result<TcpStream>> {
    TcpListenerStream::new(listener).map(|connection| {
        let connection = connection?;
        connection.set_nodelay(true)?;
        Ok(connection)
    })
}

async fn router(core: &Core) -> Result<Router<Stack<Web, Stack<Gate, Identity>>>> {
    let gate = Gate { store: Arc::clone(&core.store), clock: Arc::clone(&core.clock) };
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<HostServer<HostApi>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
    };
    macro_rules! limited {
        ($server:ident, $api:ident) => {
            $server::new($api(core.clone())).max_decoding_message_size(MESSAGE_BYTES_MAX)
        };
    }
    Ok(Server::builder()
        // For server-sent events; all else needs HTTP/2.
        .accept_http1(true)
        .layer(gate)
        .layer(Web(core.clone()))
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .max_concurrent_streams(Some(256))
        .http2_max_header_list_size(Some(16 << 10))
        .add_service(health_service)
        .add_service(reflection().build_v1().context("cannot set up reflection")?)
        .add_service(reflection().build_v1alpha().context("cannot set up reflection")?)
        .add_service(limited!(CapacityLeasesServer, CapacityLeasesApi))
        .add_service(limited!(CapacityTargetsServer, CapacityTargetsApi))
        .add_service(limited!(EnvironmentsServer, EnvironmentsApi))
        .add_service(limited!(EventSubscriptionsServer, EventSubscriptionsApi))
        .add_service(limited!(EventsServer, EventsApi))
        .add_service(limited!(HostServer, HostApi))
        .add_service(limited!(QuotasServer, QuotasApi))
        .add_service(limited!(ServiceAccountsServer, ServiceAccountsApi))
        .add_service(limited!(TokensServer, TokensApi))
        .add_service(limited!(WorkerOperationsServer, WorkerOperationsApi))
        .add_service(limited!(WorkerPoolsServer, WorkerPoolsApi))
        .add_service(limited!(WorkersServer, WorkersApi)))
}

/// Only its owner may look into the data folder.
fn make_folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make the data folder `{}`", path.display()))
}

/// Replaces a file at once and durably; only its owner may read it.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let fresh = path.with_extension("new");
    let write = || {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}
