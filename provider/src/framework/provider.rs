//! The provider: its block, its client, and the tables of what it offers.

use super::{
    Action, BoxFuture, DataSource, Diagnostics, Ephemeral, Function, List, Reported, Resource,
    Schema, Value,
};

/// What [`Provider::configure`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Configure<'a> {
    /// The provider block; may hold unknowns while planning.
    pub config: &'a Value,
    /// The version of the CLI that calls.
    pub terraform_version: &'a str,
}

/// A provider.
pub trait Provider: Send + Sync + 'static {
    /// What resources and data sources call.
    type Client: Send + Sync + 'static;

    /// The source address with its host name, such as `registry.terraform.io/example/notes`.
    fn address(&self) -> &'static str;

    /// What the provider block looks like.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Makes the client. `None` when what it needs is not known yet; operations that can't do
    /// without then say so. May be called several times, and must not touch the network.
    fn configure<'a>(
        &'a self,
        request: Configure<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Self::Client>, Reported>>;

    /// The managed resources, sorted by name.
    fn resources(&self) -> &'static [&'static dyn Resource<Self::Client>];

    /// The data sources, sorted by name.
    fn data_sources(&self) -> &'static [&'static dyn DataSource<Self::Client>];

    /// The ephemeral resources, sorted by name.
    fn ephemeral_resources(&self) -> &'static [&'static dyn Ephemeral<Self::Client>] {
        &[]
    }

    /// The list resources, sorted by name.
    fn list_resources(&self) -> &'static [&'static dyn List<Self::Client>] {
        &[]
    }

    /// The actions, sorted by name.
    fn actions(&self) -> &'static [&'static dyn Action<Self::Client>] {
        &[]
    }

    /// The functions, sorted by name.
    fn functions(&self) -> &'static [&'static dyn Function] {
        &[]
    }
}
