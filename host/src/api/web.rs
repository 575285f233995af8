//! What the host answers to plain HTTP on the same port: the event log as server-sent events.
//!
//! Invariants:
//! - It stands behind the gate, as every call does.
//! - A refusal is a status of HTTP and a problem as RFC 9457 writes it; the words are those of gRPC.

use std::{
    convert::Infallible,
    task::{self, Poll},
};

use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value, json};
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;
use tower::{Layer, Service};

use super::{Core, sse};

/// The one path that is answered here.
pub const EVENTS: &str = "/v1/events";

/// Whether answers on a path are plain HTTP.
pub fn is_plain(path: &str) -> bool {
    path.starts_with("/v1/")
}

/// A refusal in the words of HTTP.
pub fn refusal(status: &Status) -> http::Response<Body> {
    let code = match status.code() {
        Code::InvalidArgument => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound | Code::Unimplemented => StatusCode::NOT_FOUND,
        Code::OutOfRange => StatusCode::GONE,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = http::Response::new(Body::new(format!("{}\n", problem(code, status))));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/problem+json");
    headers.insert(header::CONTENT_TYPE, json);
    if code == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// A problem: its reason and facts are members of their own.
pub fn problem(code: StatusCode, status: &Status) -> Value {
    let mut problem = Map::new();
    if let Some(info) = status.get_details_error_info() {
        let facts = info.metadata.into_iter().map(|(name, value)| (name, Value::from(value)));
        problem.extend(facts);
        problem.insert("reason".to_owned(), info.reason.into());
    }
    let Value::Object(usual) = json!({
        "type": "about:blank",
        "title": code.canonical_reason().unwrap_or_default(),
        "status": code.as_u16(),
        "detail": status.message(),
    }) else {
        return Value::Null;
    };
    problem.extend(usual);
    Value::Object(problem)
}

#[derive(Clone)]
pub struct Web(pub Core);

impl<S> Layer<S> for Web {
    type Service = WithWeb<S>;

    fn layer(&self, inner: S) -> WithWeb<S> {
        WithWeb { core: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub struct WithWeb<S> {
    core: Core,
    inner: S,
}

impl<S> Service<http::Request<Body>> for WithWeb<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.uri().path() != EVENTS {
            return Box::pin(self.inner.call(request));
        }
        let core = self.core.clone();
        Box::pin(async move {
            if request.method() != Method::GET {
                let mut response = http::Response::new(Body::empty());
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
                return Ok(response);
            }
            let (parts, _) = request.into_parts();
            Ok(match sse::open(&core, &parts).await {
                Ok(response) => response,
                Err(status) => refusal(&status),
            })
        })
    }
}
