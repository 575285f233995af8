//! The event log as server-sent events, each a CloudEvent in its JSON form.
//!
//! Invariants:
//! - Each message has an id from which the stream goes on when it is sent back.
//! - Such an id says which log it is of: on another one it is refused, not misread.

use std::{convert::Infallible, fmt::Write};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use http_body::Frame;
use http_body_util::StreamBody;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, body::Body, codegen::Bytes};

use super::{
    Caller, Core,
    events::{ended_status, store_failed, unknown_type},
    feed::{self, Item, Until, Wanted},
    status, web,
};
use crate::{
    events::{LoggedEvent, cloud},
    ids::HostId,
    resource::quoted,
    store::EventQuery,
};

/// A client that has lost its connection waits so long, in milliseconds.
const RETRY: &str = "retry: 1000\n\n";

pub async fn open(core: &Core, request: &Parts) -> Result<http::Response<Body>, Status> {
    let caller = request.extensions.get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| Status::unauthenticated("no token was checked"))?;
    let request_id = caller.request_id.clone();
    let wanted = read(core, request, &request_id)?;
    // Before the first byte, so that it is a status of HTTP and no client tries again.
    let probe = core.store.events(EventQuery::after(wanted.after, 1)).await;
    let page = probe.map_err(|error| store_failed(&error, &request_id))?;
    if !page.goes_on_from(wanted.after) {
        return Err(status::bad_position(wanted.after, &page, &request_id));
    }
    let host = core.store.host_id();
    let begin = format!("{RETRY}{}", bookmark(host, wanted.after));
    let mut told = wanted.after;
    let items = ReceiverStream::new(feed::open(core, wanted)).map(move |item| match item {
        Ok(Item::Event(event)) => {
            told = event.position;
            message(host, &event)
        }
        Ok(Item::Bookmark(position)) if position == told => Ok(": heartbeat\n\n".to_owned()),
        Ok(Item::Bookmark(position)) => {
            told = position;
            Ok(bookmark(host, position))
        }
        Err(ended) => Err(ended_status(&ended, &request_id)),
    });
    let items = items.take_until(core.shutdown.clone().cancelled_owned());
    let items = stream::once(async { Ok(begin) }).chain(items);
    let texts = core.guarded(caller, items).map(|item| {
        let text = item.unwrap_or_else(|status| last_word(&status));
        Ok::<_, Infallible>(Frame::data(Bytes::from(text)))
    });
    let mut response = http::Response::new(Body::new(StreamBody::new(texts)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if request.version < http::Version::HTTP_2 {
        // A reader sees at once that there is no more.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

fn message(host: HostId, event: &LoggedEvent) -> Result<String, Status> {
    let json = cloud::json(event, host).map_err(|error| {
        Status::internal(format!("cannot write the event at {}: {error}", event.position))
    })?;
    Ok(format!("id: {}\ndata: {json}\n\n", token(host, event.position)))
}

fn bookmark(host: HostId, position: u64) -> String {
    let token = token(host, position);
    format!("id: {token}\nevent: bookmark\ndata: {{\"position\":{position}}}\n\n")
}

/// Why there is no more; the connection ends with it.
fn last_word(status: &Status) -> String {
    let code = match status.code() {
        tonic::Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        tonic::Code::OutOfRange => StatusCode::GONE,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    format!("event: end\ndata: {}\n\n", web::problem(code, status))
}

fn read(core: &Core, request: &Parts, request_id: &str) -> Result<Wanted, Status> {
    let invalid = |field: &str, message: String| status::invalid(field, message, request_id);
    let (mut after, mut types, mut subject_id) = (None, Vec::new(), None);
    for pair in request.uri.query().unwrap_or_default().split('&').filter(|it| !it.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value).decode_utf8();
        let value = value.map_err(|_| invalid(name, "it is not UTF-8 text".to_owned()))?;
        match name {
            "after" => after = Some(value.into_owned()),
            "subject" => subject_id = Some(value.into_owned()),
            "type" => types.push(value.into_owned()),
            _ => {
                let why = "there is no such parameter: use `after`, `subject` or `type`";
                return Err(invalid(&quoted(name), why.to_owned()));
            }
        }
    }
    if let Some(fault) = unknown_type(&types) {
        return Err(invalid("type", fault));
    }
    let after = match last_event_id(&request.headers).map(str::to_owned).or(after) {
        None => *core.store.last_position().borrow(),
        Some(text) => match text.parse() {
            Ok(position) => position,
            Err(_) => read_token(core.store.host_id(), &text).ok_or_else(|| {
                let why = "it is neither a position nor an id of this stream: take a position from \
                           `Events.Snapshot`, or leave it out for what happens from now on";
                invalid("after", why.to_owned())
            })?,
        },
    };
    Ok(Wanted { after, types, subject_id, until: Until::Gone })
}

/// What a client sends that was connected before.
fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty())
}

/// Names the log, for ids that clients send back.
fn epoch(host: HostId) -> String {
    Sha256::digest(host.to_string())[..6].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}").is_ok();
        text
    })
}

fn token(host: HostId, position: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{position}", epoch(host)))
}

/// The position of a token. One of another log means a position that this one never had.
fn read_token(host: HostId, token: &str) -> Option<u64> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (of, position) = text.split_once('.')?;
    let position = position.parse().ok()?;
    Some(if of == epoch(host) { position } else { u64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SystemIds;

    #[test]
    fn an_id_reads_back_on_its_own_log_alone() {
        let (one, other) = (HostId::new(&SystemIds), HostId::new(&SystemIds));
        for position in [0, 1, u64::MAX - 1] {
            assert_eq!(read_token(one, &token(one, position)), Some(position));
            assert_eq!(read_token(other, &token(one, position)), Some(u64::MAX));
        }
        for hostile in ["", "%%%", "AAAA", &URL_SAFE_NO_PAD.encode("a.b"), &"A".repeat(10_000)] {
            assert_eq!(read_token(one, hostile), None, "{hostile}");
        }
    }
}
