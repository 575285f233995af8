//! The CLI's side of the plugin protocol, played for real: starts the binary, reads its line,
//! connects with a P-521 certificate and asks for HTTP/2 by ALPN.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use hyper_util::rt::TokioIo;
use proto::{
    plugin::{Empty, grpc_controller_client::GrpcControllerClient},
    tfplugin6::provider_client::ProviderClient,
};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::UnixStream,
    process::{Child, ChildStdout, Command},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::transport::{Channel, Endpoint};

const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// Far longer than anything takes; only a hanging test meets it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The binary, with an environment of its own.
pub(crate) fn command(folder: &Path) -> Command {
    alone(Command::new(env!("CARGO_BIN_EXE_terraform-provider-runtimecloud")), folder)
}

/// The binary, as a CLI starts it.
pub(crate) fn plugin_command(folder: &Path, client: Option<&Identity>) -> Command {
    let binary = Command::new(env!("CARGO_BIN_EXE_terraform-provider-runtimecloud"));
    as_plugin(binary, folder, client)
}

/// Any program, told what a CLI tells a plugin.
pub(crate) fn as_plugin(program: Command, folder: &Path, client: Option<&Identity>) -> Command {
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
pub(crate) struct Identity {
    pub(crate) pem: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).unwrap();
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

/// A started plugin and the fields of its line.
pub(crate) struct Plugin {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) fields: Vec<String>,
}

impl Plugin {
    /// Starts it and waits for its line.
    pub(crate) async fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        within(stdout.read_line(&mut line)).await.unwrap();
        assert!(line.ends_with('\n'), "{line:?}");
        let fields = line.trim_end().split('|').map(str::to_owned).collect();
        Self { child, stdout, fields }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        PathBuf::from(&self.fields[3])
    }

    /// The TLS connection that `client` gets, or the failure to get one.
    ///
    /// In TLS 1.3 a client learns only by reading that it was refused, so one byte is awaited: the
    /// HTTP/2 server speaks first.
    pub(crate) async fn tls(
        &self,
        client: Option<&Identity>,
    ) -> std::io::Result<TlsStream<UnixStream>> {
        let server = STANDARD_NO_PAD.decode(&self.fields[5]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(server.into()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client {
            Some(identity) => {
                let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(identity.key.clone()));
                builder.with_client_auth_cert(vec![identity.certificate.clone()], key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = UnixStream::connect(self.socket()).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// A channel: with TLS as `client`, or plain.
    pub(crate) async fn channel(&self, client: Option<&Identity>) -> Channel {
        let endpoint = Endpoint::from_static("http://localhost");
        match client {
            Some(_) => {
                let stream = self.tls(client).await.unwrap();
                assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
                within(endpoint.connect_with_connector(once(stream))).await.unwrap()
            }
            None => plain(&self.socket()).await,
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = std::process::Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Sends the order to end, and gives what the process leaves behind.
    pub(crate) async fn shut_down(self, channel: Channel) -> (ExitStatus, Rest) {
        // The answer may be lost in the end; CLIs ignore it, too.
        let _ignored = GrpcControllerClient::new(channel).shutdown(Empty {}).await;
        self.end().await
    }

    /// Waits for the end.
    pub(crate) async fn end(mut self) -> (ExitStatus, Rest) {
        let status = within(self.child.wait()).await.unwrap();
        let mut rest = Rest::default();
        within(self.stdout.read_to_string(&mut rest.stdout)).await.unwrap();
        let mut stderr = self.child.stderr.take().unwrap();
        within(stderr.read_to_string(&mut rest.stderr)).await.unwrap();
        (status, rest)
    }
}

/// What was written after the line.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A channel without TLS.
pub(crate) async fn plain(socket: &Path) -> Channel {
    let stream = UnixStream::connect(socket).await.unwrap();
    within(Endpoint::from_static("http://localhost").connect_with_connector(once(stream)))
        .await
        .unwrap()
}

/// The provider's client, with room for any schema.
pub(crate) fn client(channel: Channel) -> ProviderClient<Channel> {
    ProviderClient::new(channel).max_decoding_message_size(64 << 20)
}

/// The result, or a failed test when it never comes.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened for a long time")
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
