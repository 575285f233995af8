//! Event subscriptions on the wire: decode, commit or read, encode.

use proto::runtimecloud::v1::{self, event_subscriptions_server::EventSubscriptions};
use tonic::{Code, Request, Response, Status};

use super::{
    model::{EventSubscription, Resume},
    wire,
};
use crate::{
    admission::{Answer, Command, Create, Declare, Declared, Update},
    api::{Call, Core, caller, nouns, status},
    causes::with_causes,
    ids::EventSubscriptionId,
    store::{LetterQuery, Letters},
};

pub struct EventSubscriptionsApi(pub Core);

/// Dead letters on a page: each has a whole event.
const LETTERS_MAX: usize = 100;

type Answered = Result<Response<v1::EventSubscription>, Status>;

impl EventSubscriptionsApi {
    async fn commit(&self, call: Call, command: Command) -> Answered {
        match self.0.write(call, command).await? {
            Answer::EventSubscription(it) => {
                Ok(Response::new(wire::subscription(&it, &self.0.view())))
            }
            other => Err(status::unexpected(&other)),
        }
    }

    async fn declare(&self, call: Call, change: Declare<EventSubscription>) -> Answered {
        self.commit(call, Command::EventSubscription(change)).await
    }

    fn find(&self, key: &str, request_id: &str) -> Result<EventSubscriptionId, Status> {
        let records = self.0.store.records();
        let found = records.event_subscription(key).map(|it| it.id);
        found.ok_or_else(|| status::not_found(EventSubscription::KIND, key, request_id))
    }

    async fn handle(
        &self,
        request: Request<v1::DeadLettersRequest>,
        letters: fn(Option<Vec<u64>>) -> Letters,
    ) -> Result<Response<v1::DeadLettersResponse>, Status> {
        let request_id = caller(&request)?.request_id;
        let v1::DeadLettersRequest { key, positions } = request.into_inner();
        let id = self.find(&key, &request_id)?;
        let letters = letters((!positions.is_empty()).then_some(positions));
        let handled = self.0.store.handle_dead_letters(id, letters).await;
        let dead_letters = handled.map_err(|error| status::of_commit(&error, &request_id))?;
        self.0.standing.letters_changed();
        Ok(Response::new(v1::DeadLettersResponse { dead_letters }))
    }
}

#[tonic::async_trait]
impl EventSubscriptions for EventSubscriptionsApi {
    async fn create(&self, request: Request<v1::CreateEventSubscriptionRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::CreateEventSubscriptionRequest { name, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &self.0.vault, &mut call.found);
        let create = Create { parent: String::new(), name, labels, spec };
        self.declare(call, Declare::Create(create)).await
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answered {
        nouns::get(&self.0, &request, wire::subscription)
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<v1::ListEventSubscriptionsResponse>, Status> {
        let view = self.0.view();
        let all = view.records.event_subscriptions.values();
        let sort_key = |it: &EventSubscription| it.meta.name.clone();
        let page = nouns::page(&view, &request, all, sort_key, wire::subscription)?;
        Ok(Response::new(v1::ListEventSubscriptionsResponse {
            event_subscriptions: page.items,
            next_page_token: page.next_page_token,
        }))
    }

    async fn update(&self, request: Request<v1::UpdateEventSubscriptionRequest>) -> Answered {
        let mut call = Call::new(&request, request.get_ref().options.as_ref())?;
        let v1::UpdateEventSubscriptionRequest { key, labels, spec, options: _ } =
            request.into_inner();
        let spec = wire::read(spec, &self.0.vault, &mut call.found);
        let update = Update { key, labels, spec, revision: call.revision() };
        self.declare(call, Declare::Update(update)).await
    }

    async fn delete(&self, request: Request<v1::DeleteRequest>) -> Answered {
        let (call, delete) = nouns::deletion(request)?;
        self.declare(call, Declare::Delete(delete)).await
    }

    async fn resume(&self, request: Request<v1::ResumeEventSubscriptionRequest>) -> Answered {
        let call = Call::new(&request, request.get_ref().options.as_ref())?;
        let key = request.into_inner().key;
        let resume = Resume { key, revision: call.revision() };
        self.commit(call, Command::ResumeSubscription(resume)).await
    }

    async fn list_dead_letters(
        &self,
        request: Request<v1::ListDeadLettersRequest>,
    ) -> Result<Response<v1::ListDeadLettersResponse>, Status> {
        let request_id = caller(&request)?.request_id;
        let v1::ListDeadLettersRequest { key, page_size, page_token } = request.into_inner();
        let subscription = self.find(&key, &request_id)?;
        let size = match page_size as usize {
            0 => LETTERS_MAX,
            size => size.min(LETTERS_MAX),
        };
        let after = match page_token.as_str() {
            "" => 0,
            token => token.parse().map_err(|_| {
                let why = "it is not from an answer: begin without one";
                status::invalid("page_token", why, &request_id)
            })?,
        };
        let limit = u32::try_from(size + 1).unwrap_or(u32::MAX);
        let query = LetterQuery { subscription, after, limit, redelivering: false };
        let letters = self.0.store.dead_letters(query).await;
        let mut letters = letters.map_err(|error| {
            let code = (Code::Unavailable, "STORE_FAILED");
            status::plain(code, with_causes(&error), &request_id)
        })?;
        let is_more = letters.len() > size;
        letters.truncate(size);
        let next = letters.last().filter(|_| is_more).map(|it| it.position.to_string());
        Ok(Response::new(v1::ListDeadLettersResponse {
            dead_letters: letters.into_iter().map(wire::dead_letter).collect(),
            next_page_token: next.unwrap_or_default(),
        }))
    }

    async fn redeliver_dead_letters(
        &self,
        request: Request<v1::DeadLettersRequest>,
    ) -> Result<Response<v1::DeadLettersResponse>, Status> {
        self.handle(request, Letters::Redeliver).await
    }

    async fn drop_dead_letters(
        &self,
        request: Request<v1::DeadLettersRequest>,
    ) -> Result<Response<v1::DeadLettersResponse>, Status> {
        self.handle(request, Letters::Drop).await
    }
}
