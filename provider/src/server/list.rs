//! List resources: what is found, one event each.
//!
//! Holds: each event has an identity, but one that only tells something; never more are sent than
//! asked for; when nobody listens any more, the work ends with all its calls.

use super::{
    Server, Shape,
    guard::{Subject, prepare, stream},
    identity::{encode, incomplete},
};
use crate::framework::{
    BoxFuture, Context, Diagnostics, IdentitySchema, List, ListRequest, Listed, Path, Provider,
    Reported, Sink, Timeouts, Value, result,
};
use proto::tfplugin6 as pb;
use std::{ops::ControlFlow, sync::Arc};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

type Event = pb::list_resource::Event;

const RPC: &str = "ListResource";

impl<P: Provider> Server<P> {
    pub(super) fn validate_list(
        &self,
        request: &pb::validate_list_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_list_resource_config::Response, Reported> {
        let list = self.list_resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(list.schema());
        let config = shape.decode_config(request.config.as_ref(), diagnostics)?;
        list.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) fn list(
        &self,
        request: &pb::list_resource::Request,
    ) -> ReceiverStream<Result<Event, Status>> {
        let (listing, diagnostics) = prepare(RPC, |diagnostics| self.listing(request, diagnostics));
        let call = (RPC, Subject::ListResource(request.type_name.clone()));
        let last = |diagnostic| Event { diagnostic, ..Default::default() };
        stream(call, last, async move |sender| match listing {
            Ok(listing) => listing.run(sender, diagnostics).await,
            Err(Reported { .. }) => diagnostics,
        })
    }

    fn listing(
        &self,
        request: &pb::list_resource::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<Listing<P::Client>, Reported> {
        let list = self.list_resource(&request.type_name, diagnostics)?;
        let resource = self.resource(&request.type_name, diagnostics)?;
        let identity = resource.identity().ok_or_else(|| incomplete(diagnostics))?;
        let shape = Shape::new(list.schema());
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        if !config.is_wholly_known() {
            return Err(diagnostics.error(
                Path::root(),
                "Not known yet",
                "A list is made of what is known: give its `config` values that don't come from \
                 something that is not there yet.",
            ));
        }
        // No number, and none that makes sense, is no limit.
        let limit = usize::try_from(request.limit).ok().filter(|limit| *limit > 0);
        Ok(Listing {
            list,
            context: self.context(Timeouts::default().read),
            config,
            limit: limit.unwrap_or(usize::MAX),
            include_state: request.include_resource_object,
            resource: self.shape(resource),
            identity,
        })
    }
}

/// A list to be made.
struct Listing<C: 'static> {
    list: &'static dyn List<C>,
    context: Context<C>,
    config: Value,
    limit: usize,
    include_state: bool,
    resource: Arc<Shape>,
    identity: IdentitySchema,
}

impl<C: Send + Sync + 'static> Listing<C> {
    /// Makes it, and gives what is left to tell.
    async fn run(
        self,
        sender: mpsc::Sender<Result<Event, Status>>,
        mut diagnostics: Diagnostics,
    ) -> Diagnostics {
        let Self { list, context, config, limit, include_state, resource, identity } = self;
        let mut events = Events {
            resource,
            identity,
            include_state,
            sender,
            left: limit,
            problems: Diagnostics::new(),
        };
        let request = ListRequest { config: &config, include_state, limit };
        // A failure has been reported.
        let _reported = list.list(&context, request, &mut events, &mut diagnostics).await;
        diagnostics.append(events.problems);
        diagnostics
    }
}

/// Makes events of what is found.
struct Events {
    resource: Arc<Shape>,
    identity: IdentitySchema,
    include_state: bool,
    sender: mpsc::Sender<Result<Event, Status>>,
    left: usize,
    problems: Diagnostics,
}

impl Events {
    fn event(&mut self, listed: &Listed) -> Result<Event, Reported> {
        let problems = &mut self.problems;
        if !self.identity.is_complete(&listed.identity) {
            return Err(incomplete(problems));
        }
        let resource_object = match &listed.state {
            Some(state) if self.include_state => {
                let state = result::imported(&self.resource.schema, state, problems)?;
                self.resource.encode(&state, problems)?
            }
            Some(_) | None => None,
        };
        Ok(Event {
            identity: Some(encode(&self.identity, &listed.identity, problems)?),
            display_name: listed.display_name.clone(),
            resource_object,
            diagnostic: Vec::new(),
        })
    }
}

impl Sink for Events {
    fn send(&mut self, listed: Listed) -> BoxFuture<'_, ControlFlow<()>> {
        Box::pin(async move {
            if self.left == 0 {
                return ControlFlow::Break(());
            }
            let Ok(event) = self.event(&listed) else {
                self.left = 0;
                return ControlFlow::Break(());
            };
            self.left -= 1;
            match self.sender.send(Ok(event)).await {
                Ok(()) if self.left > 0 => ControlFlow::Continue(()),
                Ok(()) | Err(_) => ControlFlow::Break(()),
            }
        })
    }
}
