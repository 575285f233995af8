//! A real HTTP server that takes webhooks, or fails at it in every way.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
};

/// A call that came in.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Taken,
    /// A status line's code and reason, and more headers.
    Status(&'static str, &'static str),
    Hang,
    Garbage,
    Close,
}

type Behaviour = Box<dyn FnMut(&Got) -> Reply + Send>;

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<(Got, Reply)>>>,
    behaviour: Arc<Mutex<Behaviour>>,
}

impl Receiver {
    pub(crate) async fn start(behaviour: impl FnMut(&Got) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}/hooks", listener.local_addr().unwrap()),
            got: Arc::default(),
            behaviour: Arc::new(Mutex::new(Box::new(behaviour))),
        };
        let serving = receiver.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        receiver
    }

    pub(crate) fn behave(&self, behaviour: impl FnMut(&Got) -> Reply + Send + 'static) {
        *self.behaviour.lock().unwrap() = Box::new(behaviour);
    }

    /// All calls, with what they were answered.
    pub(crate) fn all(&self) -> Vec<(Got, Reply)> {
        self.got.lock().unwrap().clone()
    }

    /// Calls that were taken.
    pub(crate) fn taken(&self) -> Vec<Got> {
        let all = self.all().into_iter();
        all.filter(|(_, reply)| *reply == Reply::Taken).map(|(got, _)| got).collect()
    }

    /// Behind TLS, with a certificate of its own that only the file at the path knows.
    pub(crate) async fn start_tls(certificate: &Path) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let own = params.self_signed(&key).unwrap();
        std::fs::write(certificate, own.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Self {
            url: format!("https://localhost:{port}/hooks"),
            got: Arc::default(),
            behaviour: Arc::new(Mutex::new(Box::new(|_| Reply::Taken))),
        };
        let serving = receiver.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, serving) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serving.serve(stream).await;
                    }
                });
            }
        });
        receiver
    }

    async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        while let Some(got) = read(&mut stream).await {
            let reply = (self.behaviour.lock().unwrap())(&got);
            self.got.lock().unwrap().push((got, reply.clone()));
            let text = match reply {
                Reply::Taken => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
                Reply::Status(status, headers) => {
                    format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n{headers}\r\nno")
                }
                Reply::Hang => {
                    std::future::pending::<()>().await;
                    return;
                }
                Reply::Garbage => "\0\0 what is this \r\n\r\n\r\n".to_owned(),
                Reply::Close => return,
            };
            if stream.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Got> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(bytes[head..].to_vec()).unwrap();
    Some(Got { path, headers, body })
}
