//! Connections, encrypted or not, each handed over when its handshake is done.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    sync::mpsc,
};
use tokio_rustls::TlsAcceptor;
use tonic::transport::server::Connected;

/// A connection that hasn't introduced itself by then is dropped.
const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// Accepts for ever. A handshake is a task of its own, so that a slow one holds up no other.
pub(super) async fn accept(
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
    connections: mpsc::Sender<io::Result<Connection>>,
) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                // Out of file descriptors, most likely: some may be free soon.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (tls, connections) = (tls.clone(), connections.clone());
        drop(tokio::spawn(async move {
            match greet(stream, tls).await {
                // The receiver is gone when the process is about to end.
                Ok(connection) => drop(connections.send(Ok(connection)).await),
                Err(error) => tracing::warn!("a connection was refused: {error}"),
            }
        }));
    }
}

async fn greet(stream: UnixStream, tls: Option<TlsAcceptor>) -> io::Result<Connection> {
    let Some(tls) = tls else { return Ok(Connection(Box::pin(stream))) };
    let stream = tokio::time::timeout(TLS_HANDSHAKE_MAX, tls.accept(stream)).await??;
    Ok(Connection(Box::pin(stream)))
}

trait Stream: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// A connection, encrypted or not.
pub(super) struct Connection(Pin<Box<dyn Stream>>);

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(context)
    }
}
