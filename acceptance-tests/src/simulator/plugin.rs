//! The plugin as a process, and the connection to it, as a CLI makes them: the cookie, a P-521
//! certificate, the line, mutual TLS, HTTP/2 asked for by ALPN, and the order to end.
//!
//! Whoever drops a plugin kills it.

use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
};

use anyhow::{Context, Result, ensure};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use hyper_util::rt::TokioIo;
use proto::{
    plugin::{Empty, grpc_controller_client::GrpcControllerClient},
    tfplugin6::provider_client::ProviderClient,
};
use rustix::process::Signal;
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::UnixStream,
    process::{Child, ChildStdout, Command},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::transport::{Channel, Endpoint};

use crate::{binaries, processes, run::LIMIT};

const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// What a CLI takes of a schema.
const SCHEMA_BYTES_MAX: usize = 64 << 20;

/// The provider's path; built if it is not there or old.
pub fn binary() -> Result<PathBuf> {
    binaries::PROVIDER.path()
}

/// The provider, with an environment of its own and its temporary files in `folder`.
pub fn command(folder: &Path) -> Result<Command> {
    Ok(alone(Command::new(binary()?), folder))
}

/// The provider, as a CLI starts it; without an identity, without TLS.
pub fn plugin_command(folder: &Path, client: Option<&Identity>) -> Result<Command> {
    Ok(as_plugin(Command::new(binary()?), folder, client))
}

/// Any program, told what a CLI tells a plugin.
pub fn as_plugin(program: Command, folder: &Path, client: Option<&Identity>) -> Command {
    let mut command = alone(program, folder);
    command.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE).env("PLUGIN_PROTOCOL_VERSIONS", "6,5");
    if let Some(identity) = client {
        command.env("PLUGIN_CLIENT_CERT", &identity.pem);
    }
    command
}

fn alone(mut command: Command, folder: &Path) -> Command {
    command
        .env_clear()
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// A key and its certificate, as the CLI makes them.
pub struct Identity {
    pem: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    pub fn new() -> Result<Self> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512)?;
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()])?;
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        })
    }
}

/// A started plugin and the fields of its line.
pub struct Plugin {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub fields: Vec<String>,
}

impl Plugin {
    /// Starts it and waits for its line.
    pub async fn start(mut command: Command) -> Result<Self> {
        let mut child = command.spawn().context("cannot start the plugin")?;
        let mut stdout = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut line = String::new();
        within(stdout.read_line(&mut line)).await??;
        let fields: Vec<String> = line.trim_end().split('|').map(str::to_owned).collect();
        ensure!(line.ends_with('\n') && fields.len() >= 6, "not the line of a plugin: {line:?}");
        Ok(Self { child, stdout, fields })
    }

    pub fn socket(&self) -> PathBuf {
        PathBuf::from(&self.fields[3])
    }

    /// The TLS connection that `client` gets, or the failure to get one.
    ///
    /// In TLS 1.3 a client learns only by reading that it was refused.
    pub async fn tls(&self, client: Option<&Identity>) -> Result<TlsStream<UnixStream>> {
        let server = STANDARD_NO_PAD.decode(&self.fields[5])?;
        let mut roots = RootCertStore::empty();
        roots.add(server.into())?;
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match client {
            Some(identity) => {
                let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(identity.key.clone()));
                builder.with_client_auth_cert(vec![identity.certificate.clone()], key)?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = UnixStream::connect(self.socket()).await?;
        let name = ServerName::try_from("localhost")?;
        Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
    }

    /// A channel: with TLS as `client`, or plain. Fails unless the plugin speaks HTTP/2 by ALPN.
    pub async fn channel(&self, client: Option<&Identity>) -> Result<Channel> {
        let Some(_) = client else { return plain(&self.socket()).await };
        let stream = self.tls(client).await?;
        let chosen = stream.get_ref().1.alpn_protocol();
        ensure!(chosen == Some(b"h2"), "the plugin chose {chosen:?} by ALPN, not `h2`");
        Ok(within(endpoint().connect_with_connector(once(stream))).await??)
    }

    pub fn pid(&self) -> Result<u32> {
        self.child.id().context("the plugin has ended")
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        processes::signal(self.pid()?, signal)
    }

    /// Sends the order to end, and gives what the process leaves behind.
    pub async fn shut_down(self, channel: Channel) -> Result<(ExitStatus, Rest)> {
        // The answer may be lost in the end; CLIs ignore it, too.
        let _ignored = GrpcControllerClient::new(channel).shutdown(Empty {}).await;
        self.end().await
    }

    /// Waits for the end.
    pub async fn end(mut self) -> Result<(ExitStatus, Rest)> {
        let status = within(self.child.wait()).await??;
        let mut rest = Rest::default();
        within(self.stdout.read_to_string(&mut rest.stdout)).await??;
        if let Some(mut stderr) = self.child.stderr.take() {
            within(stderr.read_to_string(&mut rest.stderr)).await??;
        }
        Ok((status, rest))
    }
}

/// What was written after the line.
#[derive(Debug, Default)]
pub struct Rest {
    pub stdout: String,
    pub stderr: String,
}

/// A channel without TLS.
pub async fn plain(socket: &Path) -> Result<Channel> {
    let stream = UnixStream::connect(socket).await?;
    Ok(within(endpoint().connect_with_connector(once(stream))).await??)
}

/// The provider's client, with room for any schema.
pub fn client(channel: Channel) -> ProviderClient<Channel> {
    ProviderClient::new(channel).max_decoding_message_size(SCHEMA_BYTES_MAX)
}

/// The result, or an error when it does not come for a very long time.
pub async fn within<T>(future: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(LIMIT, future).await.context("nothing happened for a long time")
}

fn endpoint() -> Endpoint {
    Endpoint::from_static("http://localhost")
}

/// A connector that hands out one connection.
fn once<S>(
    stream: S,
) -> impl tower::Service<
    http::Uri,
    Response = TokioIo<S>,
    Error = std::io::Error,
    Future = impl Future<Output = std::io::Result<TokioIo<S>>> + Send,
> + Send
where
    S: Send + 'static,
{
    let mut stream = Some(stream);
    tower::service_fn(move |_| {
        let stream = stream.take().ok_or_else(|| std::io::Error::other("connected already"));
        async move { Ok(TokioIo::new(stream?)) }
    })
}
