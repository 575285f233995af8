//! A data source: something read, never changed.

use super::{BoxFuture, Context, Diagnostics, Reported, Schema, Value};

/// A data source, over the client type `C`.
pub trait DataSource<C>: Send + Sync {
    /// The full name, such as `runtimecloud_environment`.
    fn type_name(&self) -> &'static str;

    /// What its block looks like.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Reads it. `config` is wholly known. Attributes left out of the answer keep their
    /// configuration; not finding the object is an error.
    fn read<'a>(
        &'a self,
        context: &'a Context<C>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>>;
}
