//! The event log on the wire: followed from a position on, in pages, and what is there at one moment.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{StreamExt, stream::BoxStream};
use proto::runtimecloud::v1::{self, events_server::Events};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::{
    Caller, Core, caller, convert,
    feed::{self, Ended, Item, Until, Wanted},
    page::PAGE_SIZE_MAX,
    snapshot, status,
};
use crate::{
    causes::with_causes,
    events::{Event, LoggedEvent},
    resource::quoted,
    store::{EventQuery, Order, StoreError},
    violations::Violations,
};

pub struct EventsApi(pub Core);

#[tonic::async_trait]
impl Events for EventsApi {
    type WatchStream = BoxStream<'static, Result<v1::Event, Status>>;
    type SnapshotStream = BoxStream<'static, Result<v1::SnapshotPart, Status>>;

    async fn watch(
        &self,
        request: Request<v1::WatchEventsRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let caller = caller(&request)?;
        let v1::WatchEventsRequest { after, follow, types, subject_id, bookmarks } =
            request.into_inner();
        if let Some(fault) = unknown_type(&types) {
            return Err(status::invalid("types", fault, &caller.request_id));
        }
        let until = if follow { Until::Gone } else { Until::End };
        let wanted = Wanted { after, types, subject_id: convert::text(subject_id), until };
        let request_id = caller.request_id.clone();
        let items = ReceiverStream::new(feed::open(&self.0, wanted)).filter_map(move |item| {
            std::future::ready(match item {
                Ok(Item::Event(event)) => Some(Ok(encode(event))),
                Ok(Item::Bookmark(position)) => {
                    bookmarks.then(|| Ok(v1::Event { position, ..v1::Event::default() }))
                }
                Err(ended) => Some(Err(ended_status(&ended, &request_id))),
            })
        });
        let items = items.take_until(self.0.shutdown.clone().cancelled_owned());
        Ok(Response::new(self.0.guarded(caller, items)))
    }

    async fn list(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Result<Response<v1::ListEventsResponse>, Status> {
        let Caller { request_id, .. } = caller(&request)?;
        let mut query = read_list(request.into_inner(), &request_id)?;
        let size = query.limit;
        query.limit += 1;
        let (after, order) = (query.after, query.order);
        let found = self.0.store.events(query).await;
        let mut page = found.map_err(|error| store_failed(&error, &request_id))?;
        if !page.goes_on_from(after) {
            return Err(status::bad_position(after, &page, &request_id));
        }
        let is_more = page.events.len() > size as usize;
        page.events.truncate(size as usize);
        let next = page.events.last().filter(|_| is_more).map(|event| event.position);
        Ok(Response::new(v1::ListEventsResponse {
            next_page_token: next.map(|next| page_token(order, next)).unwrap_or_default(),
            position: page.last,
            oldest_position: page.gone + 1,
            events: page.events.into_iter().map(encode).collect(),
        }))
    }

    async fn snapshot(
        &self,
        request: Request<v1::SnapshotRequest>,
    ) -> Result<Response<Self::SnapshotStream>, Status> {
        let caller = caller(&request)?;
        let parts = snapshot::open(&self.0, &request.get_ref().kinds, &caller)?;
        let parts = ReceiverStream::new(parts);
        let parts = parts.take_until(self.0.shutdown.clone().cancelled_owned());
        Ok(Response::new(self.0.guarded(caller, parts)))
    }
}

/// What is wrong with the first type that no event has.
pub fn unknown_type(types: &[String]) -> Option<String> {
    let unknown = types.iter().find(|name| !Event::NAMES.contains(&name.as_str()))?;
    Some(format!("{} is not an event: use some of {}", quoted(unknown), Event::NAMES.join(", ")))
}

fn read_list(request: v1::ListEventsRequest, request_id: &str) -> Result<EventQuery, Status> {
    let v1::ListEventsRequest {
        after,
        types,
        subject_id,
        since,
        newest_first,
        page_size,
        page_token,
    } = request;
    let mut found = Violations::default();
    if let Some(fault) = unknown_type(&types) {
        found.add("types", fault);
    }
    let since = since.and_then(|time| convert::read_timestamp("since", &time, &mut found));
    let order = if newest_first { Order::NewestFirst } else { Order::OldestFirst };
    let subject_id = convert::text(subject_id);
    let limit = match page_size as usize {
        0 => PAGE_SIZE_MAX,
        size => size.min(PAGE_SIZE_MAX),
    };
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let mut query =
        EventQuery { since, types, subject_id, order, ..EventQuery::after(after, limit) };
    match (page_token.as_str(), read_page_token(&page_token)) {
        ("", _) => {}
        (_, Some((of, position))) if of == order => match order {
            Order::OldestFirst => query.after = query.after.max(position),
            Order::NewestFirst => query.before = Some(position),
        },
        (_, _) => found.add("page_token", "it is not from an answer: begin without one"),
    }
    match found.into_vec().into_iter().next() {
        None => Ok(query),
        Some(fault) => Err(status::invalid(&fault.field, fault.message, request_id)),
    }
}

/// The order, and the last position of the page before.
fn page_token(order: Order, position: u64) -> String {
    let letter = match order {
        Order::OldestFirst => 'o',
        Order::NewestFirst => 'n',
    };
    URL_SAFE_NO_PAD.encode(format!("{letter}{position}"))
}

fn read_page_token(token: &str) -> Option<(Order, u64)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (order, position) = match text.strip_prefix('o') {
        Some(position) => (Order::OldestFirst, position),
        None => (Order::NewestFirst, text.strip_prefix('n')?),
    };
    Some((order, position.parse().ok()?))
}

pub fn ended_status(ended: &Ended, request_id: &str) -> Status {
    match ended {
        Ended::BadPosition { after, page } => status::bad_position(*after, page, request_id),
        Ended::Failed(error) => store_failed(error, request_id),
    }
}

pub fn store_failed(error: &StoreError, request_id: &str) -> Status {
    status::plain((tonic::Code::Unavailable, "STORE_FAILED"), with_causes(error), request_id)
}

fn encode(event: LoggedEvent) -> v1::Event {
    v1::Event {
        position: event.position,
        id: event.id.to_string(),
        r#type: event.type_name,
        time: Some(convert::timestamp(event.time)),
        subject_kind: event.subject_kind,
        subject_id: event.subject_id,
        subject_name: event.subject_name,
        generation: event.generation,
        actor: event.actor,
        data_json: event.data,
    }
}
