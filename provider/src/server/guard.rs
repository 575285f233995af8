//! Around every call: what it answers when it fails or panics, and its line in the log.

use crate::{
    framework::{Diagnostics, FunctionError, Path, Reported, Severity},
    wire::diagnostics_to_proto,
};
use futures_util::FutureExt;
use proto::tfplugin6 as pb;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status};
use tracing::{Instrument, Span};

/// How many events wait for the CLI to take them.
const EVENTS_AHEAD: usize = 16;

/// An answer that carries diagnostics.
pub(super) trait Answer: Default {
    fn diagnostics(&mut self) -> &mut Vec<pb::Diagnostic>;
}

macro_rules! answers {
    ($($module:ident),* $(,)?) => {$(
        impl Answer for pb::$module::Response {
            fn diagnostics(&mut self) -> &mut Vec<pb::Diagnostic> {
                &mut self.diagnostics
            }
        }
    )*};
}
answers!(
    apply_resource_change,
    close_ephemeral_resource,
    configure_provider,
    generate_resource_config,
    get_functions,
    get_metadata,
    get_provider_schema,
    get_resource_identity_schemas,
    import_resource_state,
    move_resource_state,
    open_ephemeral_resource,
    plan_action,
    plan_resource_change,
    read_data_source,
    read_resource,
    renew_ephemeral_resource,
    upgrade_resource_identity,
    upgrade_resource_state,
    validate_action_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    validate_list_resource_config,
    validate_provider_config,
    validate_resource_config,
);

/// What a call is about: the provider, or a type or function by its name.
pub(super) enum Subject {
    Provider,
    Action(String),
    Resource(String),
    DataSource(String),
    EphemeralResource(String),
    Function(String),
    ListResource(String),
}

impl Subject {
    /// Around all that the log says during a call; each kind of subject has its own key there.
    fn span(&self, rpc: &'static str) -> Span {
        // Calls of one kind are under way side by side: their lines are told apart by an id.
        let id = || uuid::Uuid::now_v7().to_string();
        macro_rules! span {
            ($($key:ident = $name:ident)?) => {
                tracing::debug_span!("call", tf_rpc = rpc, tf_req_id = id() $(, $key = $name)?)
            };
        }
        match self {
            Self::Provider => span!(),
            Self::Action(name) => span!(tf_action_type = name),
            Self::Resource(name) => span!(tf_resource_type = name),
            Self::DataSource(name) => span!(tf_data_source_type = name),
            Self::EphemeralResource(name) => span!(tf_ephemeral_resource_type = name),
            Self::Function(name) => span!(tf_function_name = name),
            Self::ListResource(name) => span!(tf_list_resource_type = name),
        }
    }
}

/// Runs a call to its answer.
pub(super) async fn answer<R: Answer>(
    rpc: &'static str,
    subject: Subject,
    work: impl Future<Output = (Result<R, Reported>, Diagnostics)> + Send,
) -> Result<Response<R>, Status> {
    let (result, diagnostics) = settle(rpc, subject, work).await;
    let mut response = result.unwrap_or_default();
    response.diagnostics().extend(diagnostics_to_proto(&diagnostics));
    Ok(Response::new(response))
}

/// Runs a call to its end, which is logged; a panic is an end with a diagnostic.
pub(super) async fn settle<R>(
    rpc: &'static str,
    subject: Subject,
    work: impl Future<Output = (Result<R, Reported>, Diagnostics)> + Send,
) -> (Result<R, Reported>, Diagnostics) {
    let span = subject.span(rpc);
    let work = async {
        let begun = tokio::time::Instant::now();
        let (result, diagnostics) = AssertUnwindSafe(work)
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| crashed(rpc, &*panic));
        log(&diagnostics, begun.elapsed());
        (result, diagnostics)
    };
    work.instrument(span).await
}

/// Does what comes before a stream.
pub(super) fn prepare<T>(
    rpc: &'static str,
    work: impl FnOnce(&mut Diagnostics) -> Result<T, Reported>,
) -> (Result<T, Reported>, Diagnostics) {
    let work = || {
        let mut diagnostics = Diagnostics::new();
        (work(&mut diagnostics), diagnostics)
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| crashed(rpc, &*panic))
}

/// Runs a call of a function to its answer.
pub(super) fn answer_function(
    name: String,
    call: impl FnOnce() -> Result<pb::DynamicValue, FunctionError>,
) -> Response<pb::call_function::Response> {
    const RPC: &str = "CallFunction";
    let _span = Subject::Function(name).span(RPC).entered();
    let begun = tokio::time::Instant::now();
    let called = catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(FunctionError::of_call(crash(RPC, &*panic))));
    let (result, error) = match called {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    // What is wrong with an argument quotes it: that goes to the user, not into the log.
    if let Some(FunctionError { argument, .. }) = &error {
        tracing::error!(?argument, "function without a result");
    }
    log_end(begun.elapsed(), usize::from(error.is_some()));
    let error = error.map(|FunctionError { text, argument }| pb::FunctionError {
        text,
        function_argument: argument.and_then(|at| i64::try_from(at).ok()),
    });
    Response::new(pb::call_function::Response { result, error })
}

/// Runs work that hands over events one by one, to its end or until nobody listens any more. What
/// is left to tell then, a crash included, is the last event, made by `last`.
pub(super) fn stream<E: Send + 'static, W>(
    (rpc, subject): (&'static str, Subject),
    last: fn(Vec<pb::Diagnostic>) -> E,
    work: impl FnOnce(mpsc::Sender<Result<E, Status>>) -> W,
) -> ReceiverStream<Result<E, Status>>
where
    W: Future<Output = Diagnostics> + Send + 'static,
{
    let span = subject.span(rpc);
    let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
    let work = AssertUnwindSafe(work(sender.clone())).catch_unwind();
    let to_the_end = async move {
        let begun = tokio::time::Instant::now();
        let diagnostics = tokio::select! {
            done = work => done.unwrap_or_else(|panic| crashed::<()>(rpc, &*panic).1),
            () = sender.closed() => return tracing::debug!("nobody listens any more"),
        };
        log(&diagnostics, begun.elapsed());
        if diagnostics.iter().next().is_some() {
            // Nobody may listen any more.
            drop(sender.send(Ok(last(diagnostics_to_proto(&diagnostics)))).await);
        }
    };
    tokio::spawn(to_the_end.instrument(span));
    ReceiverStream::new(receiver)
}

fn crashed<R>(rpc: &str, panic: &(dyn Any + Send)) -> (Result<R, Reported>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let reported = diagnostics.error(Path::root(), "Provider crashed", crash(rpc, panic));
    (Err(reported), diagnostics)
}

fn crash(rpc: &str, panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    format!(
        "{rpc} came to a state that was thought impossible ({message}). This is a bug in the \
         provider; please report it, with the output of a run with TF_LOG=debug. Other resources \
         are not affected."
    )
}

fn log(diagnostics: &Diagnostics, took: Duration) {
    for diagnostic in diagnostics.iter() {
        // Details may quote what the user typed: they go to the user, not into the log.
        let (summary, attribute) = (&diagnostic.summary, diagnostic.path.to_string());
        match diagnostic.severity {
            Severity::Error => tracing::error!(diagnostic_attribute = attribute, "{summary}"),
            Severity::Warning => tracing::warn!(diagnostic_attribute = attribute, "{summary}"),
        }
    }
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    log_end(took, errors);
}

fn log_end(took: Duration, errors: usize) {
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(
        tf_req_duration_ms = milliseconds,
        diagnostic_error_count = errors,
        "call answered"
    );
}
