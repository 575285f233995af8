//! An ephemeral resource: something that is there while a run lasts, and never stored.

use super::{BoxFuture, Context, Diagnostics, Reported, Schema, Value};
use std::time::Duration;

/// What [`Ephemeral::open`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The attributes. What is left out keeps its configuration; what is configured can't be changed.
    pub result: Value,
    /// How long from now to renew it, with time to spare before it ends; `None`: it lasts for as long as it is
    /// needed.
    pub renew_after: Option<Duration>,
    /// What renewing and closing are given: enough to find it again. It is stored nowhere.
    pub private: Vec<u8>,
}

/// What [`Ephemeral::renew`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// How long from now to renew it next; `None`: it needs no more of it.
    pub renew_after: Option<Duration>,
    /// What the next renewal is given. Closing is given what opening gave.
    pub private: Vec<u8>,
}

/// An ephemeral resource, over the client type `C`.
///
/// A run opens it whenever it needs it: while planning, and again while applying. It renews it as
/// asked, and closes it. Should the run die, or the answer of an opening get lost, nothing closes it:
/// let it end by itself.
pub trait Ephemeral<C>: Send + Sync {
    /// The full name, such as `runtimecloud_access_token`.
    fn type_name(&self) -> &'static str;

    /// What its block looks like.
    fn schema(&self) -> Schema;

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Opens it, within the `open` time of its [`open_timeout`](super::open_timeout) attribute, else
    /// 20 minutes. `config` is wholly known. When an error is reported, what was opened is yours to
    /// close; when the answer breaks a rule of the schema, it is closed for you.
    fn open<'a>(
        &'a self,
        context: &'a Context<C>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened, Reported>>;

    /// Makes it last longer, within a minute. An error ends the renewals; the run goes on with what
    /// it has, and shows the error at its end. No interrupt ends the context of this call.
    fn renew<'a>(
        &'a self,
        _context: &'a Context<C>,
        private: &'a [u8],
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Reported>> {
        let renewed = Renewed { renew_after: None, private: private.to_vec() };
        Box::pin(std::future::ready(Ok(renewed)))
    }

    /// Ends it, within a minute. `private` is what opening gave. No interrupt ends the context of this
    /// call. What has already ended is closed: that is no error.
    fn close<'a>(
        &'a self,
        _context: &'a Context<C>,
        _private: &'a [u8],
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
