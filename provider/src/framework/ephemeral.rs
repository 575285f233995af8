//! An ephemeral resource: something that is there while a run lasts, and never stored.

use super::{BoxFuture, Context, Diagnostics, Reported, Schema, Value};
use std::time::SystemTime;

/// What [`Ephemeral::open`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The attributes. What is left out keeps its configuration.
    pub result: Value,
    /// When to renew it; `None`: it lasts for as long as it is needed.
    pub renew_at: Option<SystemTime>,
    /// What renewing and closing are given: enough to find it again. Not stored.
    pub private: Vec<u8>,
}

/// What [`Ephemeral::renew`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// When to renew it next; `None`: it needs no more of it.
    pub renew_at: Option<SystemTime>,
    /// What the next renewal is given. Closing may be given what opening gave.
    pub private: Vec<u8>,
}

/// An ephemeral resource, over the client type `C`.
pub trait Ephemeral<C>: Send + Sync {
    /// The full name, such as `runtimecloud_access_token`.
    fn type_name(&self) -> &'static str;

    /// What its block looks like.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Opens it. `config` is wholly known. A run opens it several times: while planning and while
    /// applying. Should the run die, nothing closes it: let it end by itself.
    fn open<'a>(
        &'a self,
        context: &'a Context<C>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened, Reported>>;

    /// Makes it last longer. An error ends the renewals, not the run.
    fn renew<'a>(
        &'a self,
        _context: &'a Context<C>,
        private: &'a [u8],
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Reported>> {
        let renewed = Renewed { renew_at: None, private: private.to_vec() };
        Box::pin(std::future::ready(Ok(renewed)))
    }

    /// Ends it. What has already ended is closed.
    fn close<'a>(
        &'a self,
        _context: &'a Context<C>,
        _private: &'a [u8],
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
