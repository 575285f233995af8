//! Actions: their configuration, their plan, and their events while they work.
//!
//! Holds: the stream of an invocation ends with exactly one `Completed`, whatever happened, and each
//! event says something; whoever drops the stream ends the wait.

use super::{PROVIDER_CONFIG_UNKNOWN, Server, Shape, guard, unknown_type};
use crate::{
    framework::{
        Action, Context, Diagnostics, Path, Progress, Provider, Reported, Value,
        validate::refuse_unknown,
    },
    wire::diagnostics_to_proto,
};
use futures_util::{FutureExt, Stream, StreamExt, future::BoxFuture, stream};
use proto::tfplugin6::{self as pb, invoke_action::event};
use std::{pin::Pin, task::Poll, time::Duration};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until};
use tonic::Status;

/// How long an action may go on when it is interrupted or its time is up, to say how things stand.
const LAST_MOMENT: Duration = Duration::from_secs(5);

const RPC: &str = "InvokeAction";

/// What an invocation tells, as a stream.
pub(super) type Events =
    Pin<Box<dyn Stream<Item = Result<pb::invoke_action::Event, Status>> + Send>>;

type Found<C> = Result<&'static dyn Action<C>, Reported>;

impl<P: Provider> Server<P> {
    fn action(&self, name: &str, diagnostics: &mut Diagnostics) -> Found<P::Client> {
        let found = self.provider.actions().iter().find(|action| action.type_name() == name);
        found.copied().ok_or_else(|| unknown_type(diagnostics, "action", name))
    }

    pub(super) fn validate_action(
        &self,
        request: &pb::validate_action_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_action_config::Response, Reported> {
        let action = self.action(&request.type_name, diagnostics)?;
        let shape = Shape::new(action.schema());
        let config = shape.decode_config(request.config.as_ref(), diagnostics)?;
        action.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) async fn plan_of_action(
        &self,
        request: pb::plan_action::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::plan_action::Response, Reported> {
        let action = self.action(&request.action_type, diagnostics)?;
        let config = Shape::new(action.schema()).decode(request.config.as_ref(), diagnostics)?;
        let context = self.context(action.time(&config));
        if self.must_defer(request.client_capabilities) {
            // The only reason for which the protocol lets an action wait.
            let deferred = PROVIDER_CONFIG_UNKNOWN;
            return Ok(pb::plan_action::Response { deferred, ..Default::default() });
        }
        action.plan(&context, &config, diagnostics).await?;
        Ok(Default::default())
    }

    /// Nothing is done before the stream is read.
    pub(super) fn invocation(&self, request: &pb::invoke_action::Request) -> Events {
        let (prepared, mut diagnostics) =
            guard::prepare(RPC, |diagnostics| self.prepare(request, diagnostics));
        let subject = guard::Subject::Action(request.action_type.clone());
        events(move |progress| {
            let work = async move {
                let result = match prepared {
                    Ok(invocation) => invocation.run(&progress, &mut diagnostics).await,
                    Err(reported) => Err(reported),
                };
                (result, diagnostics)
            };
            guard::settle(RPC, subject, work).map(|(_, diagnostics)| diagnostics).boxed()
        })
    }

    fn prepare(
        &self,
        request: &pb::invoke_action::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<Invocation<P::Client>, Reported> {
        let action = self.action(&request.action_type, diagnostics)?;
        let config = Shape::new(action.schema()).decode(request.config.as_ref(), diagnostics)?;
        refuse_unknown(&config, diagnostics)?;
        let context = self.context(action.time(&config));
        Ok(Invocation { action, config, context })
    }
}

/// An action with all that it is invoked with.
struct Invocation<C: 'static> {
    action: &'static dyn Action<C>,
    config: Value,
    context: Context<C>,
}

impl<C: Send + Sync> Invocation<C> {
    /// Ends soon after an interruption and after the deadline, even if the action does not.
    async fn run(
        self,
        progress: &dyn Progress,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let Self { action, config, context } = &self;
        let interrupted = async {
            context.stopped().await;
            sleep(LAST_MOMENT).await;
        };
        let last = Instant::from_std(context.deadline) + LAST_MOMENT;
        let (summary, detail) = tokio::select! {
            biased;
            result = action.invoke(context, config, progress, diagnostics) => return result,
            () = interrupted => (
                "Interrupted",
                "The action was interrupted before it was done. What it has begun may go on.",
            ),
            () = sleep_until(last) => (
                "Time is up",
                "The action was not done in its time. What it has begun may go on.",
            ),
        };
        Err(diagnostics.error(Path::root(), summary, detail))
    }
}

/// Hands lines to the stream.
struct Said(UnboundedSender<String>);

impl Progress for Said {
    fn say(&self, message: String) {
        let _nobody_listens_any_more = self.0.send(message);
    }
}

/// Lines as they are said while the work goes on, and then its end.
fn events(begin: impl FnOnce(Said) -> BoxFuture<'static, Diagnostics>) -> Events {
    let (say, mut said) = unbounded_channel();
    let mut running = Some(begin(Said(say)));
    let mut ended = None;
    let next = stream::poll_fn(move |cx| {
        if let Some(work) = &mut running
            && let Poll::Ready(diagnostics) = work.poll_unpin(cx)
        {
            // With the work goes the other end of `said`.
            running = None;
            ended = Some(diagnostics);
        }
        match said.poll_recv(cx) {
            Poll::Ready(Some(message)) => {
                Poll::Ready(Some(event::Type::Progress(event::Progress { message })))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(ended.take().map(|diagnostics| {
                let diagnostics = diagnostics_to_proto(&diagnostics);
                event::Type::Completed(event::Completed { diagnostics })
            })),
        }
    });
    next.map(|it| Ok(pb::invoke_action::Event { r#type: Some(it) })).boxed()
}
