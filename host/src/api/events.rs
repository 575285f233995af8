//! The event log on the wire: from a position on, and following if asked.

use futures_util::{StreamExt, stream::BoxStream};
use proto::runtimecloud::v1::{self, events_server::Events};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::{Core, caller, convert, status};
use crate::{
    causes::with_causes,
    events::{Event, LoggedEvent},
    store::EventQuery,
};

pub struct EventsApi(pub Core);

/// Events read at once.
const CHUNK: u32 = 256;

#[tonic::async_trait]
impl Events for EventsApi {
    type WatchStream = BoxStream<'static, Result<v1::Event, Status>>;

    async fn watch(
        &self,
        request: Request<v1::WatchEventsRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        for name in &request.types {
            if !Event::NAMES.contains(&name.as_str()) {
                let message = format!(
                    "{} is not an event: use some of {}",
                    crate::resource::quoted(name),
                    Event::NAMES.join(", ")
                );
                return Err(status::invalid("types", message, &caller.request_id));
            }
        }
        let (sender, receiver) = mpsc::channel(CHUNK as usize);
        tokio::spawn(send(self.0.clone(), request, caller.request_id.clone(), sender));
        let shutdown = self.0.shutdown.clone();
        let events = ReceiverStream::new(receiver).take_until(shutdown.cancelled_owned());
        Ok(Response::new(self.0.guarded(caller, events)))
    }
}

/// Sends events until there are no more, or for as long as somebody listens.
async fn send(
    core: Core,
    request: v1::WatchEventsRequest,
    request_id: String,
    sender: mpsc::Sender<Result<v1::Event, Status>>,
) {
    let mut last = core.store.last_position();
    let mut query = EventQuery {
        after: request.after,
        types: request.types,
        subject_id: convert::text(request.subject_id),
        limit: CHUNK,
    };
    loop {
        let known = *last.borrow_and_update();
        let events = match core.store.events(query.clone()).await {
            Ok(events) => events,
            Err(error) => {
                let code = (tonic::Code::Unavailable, "STORE_FAILED");
                let status = status::plain(code, with_causes(&error), &request_id);
                let _ = sender.send(Err(status)).await.is_ok();
                return;
            }
        };
        let is_all = events.len() < CHUNK as usize;
        let position = events.last().map_or(0, |event| event.position);
        for event in events {
            if sender.send(Ok(encode(event))).await.is_err() {
                return;
            }
        }
        query.after = query.after.max(position);
        if !is_all {
            continue;
        }
        // All up to `known` were looked at, whether they fitted or not.
        query.after = query.after.max(known);
        if !request.follow {
            return;
        }
        tokio::select! {
            changed = last.changed() => if changed.is_err() { return },
            () = sender.closed() => return,
            () = core.shutdown.cancelled() => return,
        }
    }
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
