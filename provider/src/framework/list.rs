//! A list resource: the objects of a managed type, whether or not a configuration has them.

use super::{BoxFuture, Context, Diagnostics, Reported, Schema, Value};
use std::ops::ControlFlow;

/// What [`List::list`] is given.
#[derive(Clone, Copy, Debug)]
pub struct ListRequest<'a> {
    /// The configuration of the list, wholly known.
    pub config: &'a Value,
    /// Whether the states are wanted, and not only the identities.
    pub include_state: bool,
    /// How many are wanted at most.
    pub limit: usize,
}

/// One object found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What people call it.
    pub display_name: String,
    /// Its identity, by the identity schema of the managed type.
    pub identity: Value,
    /// Its state, by the schema of the managed type, as after an import and a read. Only when
    /// wanted.
    pub state: Option<Value>,
}

/// Takes what is found.
pub trait Sink: Send {
    /// Hands one over. [`ControlFlow::Break`]: no more are wanted.
    fn send(&mut self, listed: Listed) -> BoxFuture<'_, ControlFlow<()>>;
}

/// A list resource, over the client type `C`. The managed type of the same name has an identity.
pub trait List<C>: Send + Sync {
    /// The full name of the managed type.
    fn type_name(&self) -> &'static str;

    /// What is within the `config` block of the list: filters.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Sends what is found, in an order that stays the same. Warnings don't end it.
    fn list<'a>(
        &'a self,
        context: &'a Context<C>,
        request: ListRequest<'a>,
        sink: &'a mut dyn Sink,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>>;
}
