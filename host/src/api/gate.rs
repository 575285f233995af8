//! What every call passes first: a request id, the caller's token, its role, and a net for panics.
//!
//! Invariants:
//! - A call that is not in [`METHODS`] is refused, so that none is open by oversight.
//! - Every answer carries the header `x-request-id`.
//! - A panic in a handler becomes `INTERNAL`; the host goes on.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{self, Poll},
};

use futures_util::{FutureExt, future::BoxFuture};
use http::{HeaderMap, HeaderName, HeaderValue};
use tonic::{Code, Status, body::Body};
use tower::{Layer, Service};
use uuid::Uuid;

use super::{Caller, bad_token, status, web};
use crate::{
    clock::Clock,
    store::Store,
    tokens::{
        model::{Role, access},
        secret,
    },
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The least role for each call, by path; `None` needs no token. Sorted.
pub const METHODS: &[(&str, Option<Role>)] = &[
    ("/grpc.health.v1.Health/Check", None),
    ("/grpc.health.v1.Health/Watch", None),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Some(Role::Viewer)),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityLeases/Check", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityLeases/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityLeases/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityLeases/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityLeases/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityLeases/Renew", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityLeases/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityTargets/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityTargets/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.CapacityTargets/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityTargets/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.CapacityTargets/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.Environments/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.Environments/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.Environments/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.Environments/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.Environments/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/DropDeadLetters", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.EventSubscriptions/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.EventSubscriptions/ListDeadLetters", Some(Role::Viewer)),
    ("/runtimecloud.v1.EventSubscriptions/RedeliverDeadLetters", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/Resume", Some(Role::Editor)),
    ("/runtimecloud.v1.EventSubscriptions/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.Events/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.Events/Snapshot", Some(Role::Viewer)),
    ("/runtimecloud.v1.Events/Watch", Some(Role::Viewer)),
    ("/runtimecloud.v1.Host/GetInfo", Some(Role::Viewer)),
    ("/runtimecloud.v1.Quotas/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.Quotas/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.Quotas/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.Quotas/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.Quotas/Recount", Some(Role::Viewer)),
    ("/runtimecloud.v1.Quotas/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.ServiceAccounts/Create", Some(Role::Admin)),
    ("/runtimecloud.v1.ServiceAccounts/Delete", Some(Role::Admin)),
    ("/runtimecloud.v1.ServiceAccounts/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.ServiceAccounts/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.ServiceAccounts/Update", Some(Role::Admin)),
    // What others than administrators may do with tokens is decided with the tokens.
    ("/runtimecloud.v1.Tokens/Create", Some(Role::Viewer)),
    ("/runtimecloud.v1.Tokens/Delete", Some(Role::Viewer)),
    ("/runtimecloud.v1.Tokens/Get", Some(Role::Admin)),
    ("/runtimecloud.v1.Tokens/List", Some(Role::Admin)),
    ("/runtimecloud.v1.Tokens/Update", Some(Role::Viewer)),
    ("/runtimecloud.v1.WorkerOperations/Cancel", Some(Role::Editor)),
    ("/runtimecloud.v1.WorkerOperations/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.WorkerOperations/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.WorkerOperations/Start", Some(Role::Editor)),
    ("/runtimecloud.v1.WorkerPools/Create", Some(Role::Editor)),
    ("/runtimecloud.v1.WorkerPools/Delete", Some(Role::Editor)),
    ("/runtimecloud.v1.WorkerPools/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.WorkerPools/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.WorkerPools/Scale", Some(Role::Editor)),
    ("/runtimecloud.v1.WorkerPools/Update", Some(Role::Editor)),
    ("/runtimecloud.v1.Workers/Get", Some(Role::Viewer)),
    ("/runtimecloud.v1.Workers/List", Some(Role::Viewer)),
    ("/runtimecloud.v1.Workers/Logs", Some(Role::Viewer)),
    ("/v1/events", Some(Role::Viewer)),
];

#[derive(Clone)]
pub struct Gate {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

impl Gate {
    /// Says who calls, or why not; `None` for a call that needs no token.
    fn admit(
        &self,
        path: &str,
        headers: &HeaderMap,
        request_id: &str,
    ) -> Result<Option<Caller>, Status> {
        let refuse =
            |code, reason, message: String| status::plain((code, reason), message, request_id);
        let Ok(row) = METHODS.binary_search_by_key(&path, |(path, _)| path) else {
            let message = "this host has no such call: is the client newer than the host?";
            return Err(refuse(Code::Unimplemented, "NO_SUCH_CALL", message.to_owned()));
        };
        let Some(least) = METHODS[row].1 else { return Ok(None) };
        let Some(secret) = bearer(headers) else {
            let message = "a token is needed: send `authorization: Bearer TOKEN`; the first one is in \
                 `admin.token` in the host's data folder";
            return Err(refuse(Code::Unauthenticated, "NO_TOKEN", message.to_owned()));
        };
        let records = self.store.records();
        let Some(token) = secret::find(&records, secret) else {
            return Err(bad_token("the token is not known, revoked or expired", request_id));
        };
        let name = token.key(&records);
        let role = access(&records, token, self.clock.now())
            .map_err(|void| bad_token(&format!("the token `{name}` {void}"), request_id))?;
        if role < least {
            let (role, least) = (role.name(), least.name());
            let message =
                format!("token `{name}` is of a {role}, and this call needs the role {least}");
            return Err(refuse(Code::PermissionDenied, "ROLE_TOO_LOW", message));
        }
        Ok(Some(Caller { token: token.id, name, role, request_id: request_id.to_owned() }))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) =
        headers.get(http::header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The caller's request id if it is a decent one, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(&REQUEST_ID).and_then(|id| id.to_str().ok());
    given
        .filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|it| it.is_ascii_graphic()))
        .map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { gate: self.clone(), inner }
    }
}

#[derive(Clone)]
pub struct Gated<S> {
    gate: Gate,
    inner: S,
}

impl<S> Service<http::Request<Body>> for Gated<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = http::Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let request_id = request_id(request.headers());
        let admitted = self.gate.admit(request.uri().path(), request.headers(), &request_id);
        let refuse = if web::is_plain(request.uri().path()) {
            |status: Status| web::refusal(&status)
        } else {
            |status: Status| status.into_http()
        };
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        Box::pin(async move {
            let mut response = match admitted {
                Err(status) => refuse(status),
                Ok(caller) => {
                    if let Some(caller) = caller {
                        request.extensions_mut().insert(caller);
                    }
                    match AssertUnwindSafe(inner.call(request)).catch_unwind().await {
                        Ok(response) => response?,
                        Err(_) => refuse(fault(&request_id)),
                    }
                }
            };
            if let Ok(id) = HeaderValue::from_str(&request_id) {
                response.headers_mut().insert(REQUEST_ID, id);
            }
            Ok(response)
        })
    }
}

fn fault(request_id: &str) -> Status {
    tracing::error!(request_id, "a call ended in a panic");
    let message = "a fault in the host ended this call; its log says more under the request id";
    status::plain((Code::Internal, "FAULT"), message.to_owned(), request_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_calls_is_sorted() {
        assert!(METHODS.is_sorted_by_key(|(path, _)| path));
    }

    #[test]
    fn every_call_of_the_api_is_in_the_table() {
        use prost::Message;
        let set = prost_types::FileDescriptorSet::decode(proto::FILE_DESCRIPTOR_SET).unwrap();
        for file in set.file.iter().filter(|file| file.package() == "runtimecloud.v1") {
            for service in &file.service {
                for method in &service.method {
                    let path = format!("/runtimecloud.v1.{}/{}", service.name(), method.name());
                    assert!(METHODS.iter().any(|(known, _)| *known == path), "{path}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_handler_is_an_answer() {
        let dir = tempfile::TempDir::new().unwrap();
        let (clock, ids) = (Arc::new(crate::clock::SystemClock), Arc::new(crate::ids::SystemIds));
        let store = crate::store::sqlite::SqliteStore::open(dir.path(), clock.clone(), ids);
        let gate = Gate { store: Arc::new(store.unwrap()), clock };
        let handler = tower::service_fn(async |_: http::Request<Body>| -> Result<_, Status> {
            panic!("on purpose");
        });
        let request = http::Request::post("/grpc.health.v1.Health/Check");
        let request = request.header("x-request-id", "mine").body(Body::empty()).unwrap();
        let response = gate.layer(handler).call(request).await.unwrap();
        assert_eq!(response.headers()["grpc-status"], "13");
        assert_eq!(response.headers()["x-request-id"], "mine");
    }
}
