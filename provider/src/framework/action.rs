//! An action: something done on demand, that leaves no state.

use super::{BoxFuture, Context, Diagnostics, Reported, Schema, Value, timeouts};
use std::time::Duration;

/// Takes lines that tell the user how far an action is.
pub trait Progress: Send + Sync {
    /// Shows a line.
    fn say(&self, message: String);
}

/// An action, over the client type `C`.
pub trait Action<C>: Send + Sync {
    /// The full name, such as `runtimecloud_drain_workers`.
    fn type_name(&self) -> &'static str;

    /// What is within its `config` block.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// How long it may take; 20 minutes, if it does not say otherwise.
    fn time(&self, _config: &Value) -> Duration {
        timeouts::DEFAULT
    }

    /// Says at plan what would fail at apply. `config` may hold unknowns.
    fn plan<'a>(
        &'a self,
        _context: &'a Context<C>,
        _config: &'a Value,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Does it. `config` is wholly known. Waits also for the context's deadline and for
    /// [`Context::stopped`], and then reports how things stand; soon after either it is ended.
    fn invoke<'a>(
        &'a self,
        context: &'a Context<C>,
        config: &'a Value,
        progress: &'a dyn Progress,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>>;
}
