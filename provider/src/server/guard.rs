//! Around every call: what it answers when it fails or panics, and its line in the log.

use crate::{
    framework::{Diagnostics, Path, Reported, Severity},
    wire::diagnostics_to_proto,
};
use futures_util::FutureExt;
use proto::tfplugin6 as pb;
use std::{any::Any, panic::AssertUnwindSafe};
use tonic::{Response, Status};
use tracing::Instrument;

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
    configure_provider,
    generate_resource_config,
    get_metadata,
    get_provider_schema,
    import_resource_state,
    move_resource_state,
    plan_resource_change,
    read_data_source,
    read_resource,
    upgrade_resource_state,
    validate_data_resource_config,
    validate_provider_config,
    validate_resource_config,
);

/// Runs a call to its answer.
pub(super) async fn answer<R: Answer>(
    rpc: &'static str,
    type_name: String,
    work: impl Future<Output = (Result<R, Reported>, Diagnostics)> + Send,
) -> Result<Response<R>, Status> {
    let span = tracing::debug_span!("call", tf_rpc = rpc, tf_resource_type = type_name);
    let work = async {
        let begun = tokio::time::Instant::now();
        let (result, diagnostics) = AssertUnwindSafe(work)
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| crashed(rpc, &*panic));
        log(&diagnostics, begun.elapsed());
        let mut response = result.unwrap_or_default();
        response.diagnostics().extend(diagnostics_to_proto(&diagnostics));
        Ok(Response::new(response))
    };
    work.instrument(span).await
}

fn crashed<R>(rpc: &str, panic: &(dyn Any + Send)) -> (Result<R, Reported>, Diagnostics) {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    let mut diagnostics = Diagnostics::new();
    let reported = diagnostics.error(
        Path::root(),
        "Provider crashed",
        format!(
            "{rpc} came to a state that was thought impossible ({message}). This is a bug in the \
             provider; please report it, with the output of a run with TF_LOG=debug. Other \
             resources are not affected."
        ),
    );
    (Err(reported), diagnostics)
}

fn log(diagnostics: &Diagnostics, took: std::time::Duration) {
    for diagnostic in diagnostics.iter() {
        // Details may quote what the user typed: they go to the user, not into the log.
        let (summary, attribute) = (&diagnostic.summary, diagnostic.path.to_string());
        match diagnostic.severity {
            Severity::Error => tracing::error!(diagnostic_attribute = attribute, "{summary}"),
            Severity::Warning => tracing::warn!(diagnostic_attribute = attribute, "{summary}"),
        }
    }
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    tracing::debug!(
        tf_req_duration_ms = milliseconds,
        diagnostic_error_count = errors,
        "call answered"
    );
}
