//! The life of the plugin's process: start, listen, serve, end.
//!
//! Holds: standard output has the handshake's one line and nothing else; the socket file is gone when
//! the process is; the process ends within about a second of the CLI's order to, whatever still hangs,
//! and soon after a CLI that was killed.
//! Signals often reach the whole process group (a key pressed, a CI job cancelled, a time limit), and
//! then the CLI decides: it still has to save what was made. So an interrupt is ignored, and the signal
//! to terminate only ends what waits, as the CLI's call to stop does. Debug mode ends with either.

mod connection;
mod errand;
mod socket;

pub use self::errand::parent_destroys;
use self::{connection::accept, socket::Socket};
use crate::{
    docs,
    framework::Provider,
    handshake::{Environment, PROTOCOL, Request, SocketPlace},
    log,
    server::Server,
    tls::Identity,
};
use anyhow::Context as _;
use proto::plugin::{
    Empty,
    grpc_controller_server::{GrpcController, GrpcControllerServer},
};
use std::{
    io::{self, Write},
    os::unix::process::parent_id,
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::UnixListener,
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request as Call, Response, Status, async_trait};

/// How often it is looked whether the CLI still lives.
const PARENT_CHECK: Duration = Duration::from_secs(3);
/// How long calls that are still open may go on after the order to end.
const LAST_CALLS: Duration = Duration::from_millis(500);

/// Runs the program `arguments` (without its name) ask for.
pub fn run<P: Provider>(
    provider: P,
    arguments: &[String],
    environment: Environment<'_>,
) -> ExitCode {
    let name = provider.address().rsplit('/').next().unwrap_or_default().to_owned();
    log::start(&name, environment);
    log::catch_panics();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => match Request::read(environment) {
            Ok(request) => report(serve_plugin(provider, &request)),
            Err(refusal) => fail(&refusal.to_string()),
        },
        ["--debug" | "-debug"] => report(serve_debug(provider, &SocketPlace::read(environment))),
        ["--version" | "-V"] => {
            let version = env!("CARGO_PKG_VERSION");
            report(say(&format!("terraform-provider-{name} {version}, plugin protocol {PROTOCOL}")))
        }
        // For our own makefile: not shown to people.
        ["docs", examples, folder] => {
            let examples = docs::examples_in(Path::new(examples));
            report(docs::write(&provider, &examples, Path::new(folder)))
        }
        _ => fail("Usage: [--debug | --version]. Without arguments it is started by a CLI."),
    }
}

fn report(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}")),
    }
}

fn fail(message: &str) -> ExitCode {
    // With nobody left to read it, the exit code says it.
    let _unread = writeln!(io::stderr(), "{message}");
    ExitCode::FAILURE
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .context("failed to write to standard output")
}

fn serve_plugin<P: Provider>(provider: P, request: &Request) -> anyhow::Result<()> {
    let parent = parent_id();
    let identity = request.client_certificate.clone().map(Identity::accepting).transpose()?;
    in_runtime(async {
        let socket = Socket::bind(&request.socket)?;
        let certificate = identity.as_ref().map(|identity| identity.certificate.as_slice());
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        say(&request.answer(socket.file.path(), certificate))?;
        let server = Arc::new(Server::new(provider));
        let told_to_end = async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => tracing::debug!("interrupt ignored: the CLI decides"),
                    _ = terminate.recv() => server.stop(),
                    () = orphaned(parent) => return,
                }
            }
        };
        let tls = identity.map(|identity| TlsAcceptor::from(identity.config));
        serve(Arc::clone(&server), socket.listener, tls, told_to_end).await
    })
}

/// Ends when the CLI has died without saying so.
async fn orphaned(parent: u32) {
    while parent_id() == parent {
        tokio::time::sleep(PARENT_CHECK).await;
    }
}

fn serve_debug<P: Provider>(provider: P, place: &SocketPlace) -> anyhow::Result<()> {
    in_runtime(async {
        let socket = Socket::bind(place)?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let reattach = serde_json::json!({ provider.address(): {
            "Protocol": "grpc",
            "ProtocolVersion": PROTOCOL,
            "Pid": std::process::id(),
            "Test": true,
            "Addr": { "Network": "unix", "String": socket.file.path() },
        }});
        say(&format!(
            "Provider started. To use it, in the shell of the CLI:\n\n\
             \texport TF_REATTACH_PROVIDERS='{reattach}'\n\n\
             Interrupt it to end."
        ))?;
        let told_to_end = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        serve(Arc::new(Server::new(provider)), socket.listener, None, told_to_end).await
    })
}

fn in_runtime(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let result = runtime.block_on(work);
    // What still hangs (a name look-up, say) must not keep the process.
    runtime.shutdown_background();
    result
}

/// Serves until told to end, by the controller's call or by `told_to_end`.
async fn serve<P: Provider>(
    server: Arc<Server<P>>,
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
    told_to_end: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let end = CancellationToken::new();
    let (send, connections) = mpsc::channel(16);
    let accepting = tokio::spawn(accept(listener, tls, send));
    let serving = tonic::transport::Server::builder()
        .add_service(server.into_service())
        .add_service(GrpcControllerServer::new(Controller { end: end.clone() }))
        .serve_with_incoming_shutdown(ReceiverStream::new(connections), end.cancelled());
    let out_of_time = async {
        tokio::select! {
            () = told_to_end => end.cancel(),
            () = end.cancelled() => {}
        }
        tokio::time::sleep(LAST_CALLS).await;
    };
    let served = tokio::select! {
        served = serving => served.context("failed to serve"),
        () = out_of_time => Ok(()),
    };
    accepting.abort();
    served
}

/// The CLI's order to end.
struct Controller {
    end: CancellationToken,
}

#[async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _request: Call<Empty>) -> Result<Response<Empty>, Status> {
        self.end.cancel();
        Ok(Response::new(Empty {}))
    }
}
