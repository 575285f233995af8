//! One attempt to post an event.
//!
//! Invariants:
//! - Redirects are answers, not ways: nothing but the subscription's own URL is called.
//! - No address that may not be called is connected to, whatever a name resolves to.
//! - Of an answer nothing is kept but its status and `Retry-After`.

use std::{
    fmt,
    net::SocketAddr,
    task::{self, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{
            HttpConnector,
            dns::{GaiResolver, Name},
        },
    },
    rt::TokioExecutor,
};
use jiff::Timestamp;
use tonic::codegen::Bytes;
use tower::Service;

use super::{delivery::Outcome, model::may_be_called};
use crate::events::cloud;

/// What is posted.
pub struct Post<'a> {
    pub url: &'a str,
    pub event_id: &'a str,
    pub now: Timestamp,
    /// One or two, as the header has them.
    pub signatures: String,
    pub body: &'a str,
    pub timeout: Duration,
}

/// Of an answer so much is read, that its connection can be used again.
const ANSWER_BYTES_MAX: usize = 64 << 10;

type Connector = HttpsConnector<HttpConnector<Checked>>;

#[derive(Clone)]
pub struct Sender(Client<Connector, Full<Bytes>>);

impl Sender {
    /// Trusts what the system trusts. Without any certificates of the system, no `https` is.
    pub fn new() -> Self {
        let mut http = HttpConnector::new_with_resolver(Checked(GaiResolver::new()));
        http.enforce_http(false);
        http.set_nodelay(true);
        let https = match HttpsConnectorBuilder::new().with_native_roots() {
            Ok(tls) => tls.https_or_http().enable_http1().wrap_connector(http),
            Err(error) => {
                tracing::warn!(%error, "no certificates are trusted: webhooks by https will fail");
                let config = rustls::ClientConfig::builder()
                    .with_root_certificates(rustls::RootCertStore::empty())
                    .with_no_client_auth();
                let tls = HttpsConnectorBuilder::new().with_tls_config(config);
                tls.https_or_http().enable_http1().wrap_connector(http)
            }
        };
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_timer(hyper_util::rt::TokioTimer::new())
            .pool_max_idle_per_host(1)
            .build(https);
        Self(client)
    }

    pub async fn post(&self, post: Post<'_>) -> Outcome {
        let failed = |why: String| Outcome::Failed { why, retry_after: None };
        let request = Request::builder()
            .method(Method::POST)
            .uri(post.url)
            .header(header::CONTENT_TYPE, cloud::MEDIA_TYPE)
            .header(header::USER_AGENT, concat!("runtimecloud/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", post.event_id)
            .header("webhook-timestamp", post.now.as_second().to_string())
            .header("webhook-signature", post.signatures)
            .body(Full::new(Bytes::copy_from_slice(post.body.as_bytes())));
        let request = match request {
            Ok(request) => request,
            Err(error) => return failed(format!("the request can not be made: {error}")),
        };
        let answer = async {
            let answer = self.0.request(request).await?;
            let (parts, body) = answer.into_parts();
            // Whatever it is, the answer was its status.
            let _ = Limited::new(body, ANSWER_BYTES_MAX).collect().await.is_ok();
            Ok::<_, hyper_util::client::legacy::Error>(parts)
        };
        match tokio::time::timeout(post.timeout, answer).await {
            Ok(Ok(parts)) => judge(parts.status, &parts.headers, post.now),
            Ok(Err(error)) => failed(innermost(&error)),
            Err(_) => {
                let after = proto::duration::print(post.timeout);
                failed(format!("there was no answer within {after}"))
            }
        }
    }
}

impl Default for Sender {
    fn default() -> Self {
        Self::new()
    }
}

fn judge(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Outcome {
    if status.is_success() {
        return Outcome::Taken;
    }
    if status == StatusCode::GONE {
        return Outcome::Gone;
    }
    let code = status.as_u16();
    let why = if status.is_redirection() {
        format!("it answered {code}, and redirects are not followed")
    } else {
        format!("it answered {code}")
    };
    Outcome::Failed { why, retry_after: retry_after(headers, now) }
}

/// Seconds, or a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = Timestamp::try_from(httpdate::parse_http_date(text).ok()?).ok()?;
    Duration::try_from(at.duration_since(now)).ok()
}

/// The outer causes of a failed call name only layers.
fn innermost(error: &hyper_util::client::legacy::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let place = if error.is_connect() { "it can not be connected to" } else { "the call broke" };
    format!("{place}: {cause}")
}

/// Looks names up, and leaves out what may not be called.
#[derive(Clone)]
struct Checked(GaiResolver);

#[derive(Debug)]
struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name stands for addresses that may not be called")
    }
}

impl std::error::Error for Forbidden {}

impl Service<Name> for Checked {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = BoxFuture<'static, Result<Self::Response, std::io::Error>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), std::io::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let found = self.0.call(name);
        Box::pin(async move {
            let found: Vec<_> = found.await?.filter(|it| may_be_called(it.ip())).collect();
            if found.is_empty() {
                return Err(std::io::Error::other(Forbidden));
            }
            Ok(found.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_asks_for_is_understood() {
        let now = Timestamp::from_second(784_111_777).unwrap();
        for (text, seconds) in [
            ("7", Some(7)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:49:17 GMT", None),
            ("soon", None),
            ("-1", None),
            ("99999999999999999999999", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, text.parse().unwrap());
            assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
