//! What every operation is given: the client, how long it may go on, and what was kept with the
//! object.

use super::{BoxFuture, Diagnostics, Path, Private, Reported};
use futures_util::{FutureExt, future::Shared};
use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

/// Why something is put off to a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// The resource's own configuration is not known far enough.
    ConfigUnknown,
    /// The provider's configuration is not known. The framework says this by itself.
    ProviderConfigUnknown,
    /// Something is not there yet that the object needs.
    AbsentPrerequisite,
}

/// What every operation is given: the client, how long it may go on, and what was kept with the
/// object.
pub struct Context<C> {
    client: Option<Arc<C>>,
    stopped: Shared<BoxFuture<'static, ()>>,
    private: Private,
    may_defer: bool,
    deferral: OnceLock<Deferral>,
    /// When the operation's time is up.
    pub deadline: Instant,
}

impl<C> Context<C> {
    /// A context; `stopped` ends when the user interrupts.
    pub fn new(client: Option<Arc<C>>, stopped: BoxFuture<'static, ()>, deadline: Instant) -> Self {
        Self {
            client,
            stopped: stopped.shared(),
            private: Private::default(),
            may_defer: false,
            deferral: OnceLock::new(),
            deadline,
        }
    }

    /// With the CLI's leave to put the operation off.
    #[must_use]
    pub fn deferrable(self) -> Self {
        Self { may_defer: true, ..self }
    }

    /// With what was kept with the object.
    #[must_use]
    pub fn with_private(self, stored: Vec<u8>) -> Self {
        Self { private: Private::new(stored), ..self }
    }

    /// The client, when the provider is configured. In plans its configuration may still be unknown:
    /// do without what needs it.
    pub fn client_if_configured(&self) -> Option<&C> {
        self.client.as_deref()
    }

    /// The client; an error says that the provider's configuration is not known yet.
    pub fn client(&self, diagnostics: &mut Diagnostics) -> Result<&C, Reported> {
        self.client.as_deref().ok_or_else(|| {
            diagnostics.error(
                Path::root(),
                "Provider not configured",
                "This operation needs the provider's configuration, and a part of it is not known \
                 yet. Give the provider block values that are known before apply, or apply first \
                 what they come from, with -target.",
            )
        })
    }

    /// What is kept with the object for the provider alone. Read and write it in any operation of a
    /// resource; what is not touched stays.
    pub const fn private(&self) -> &Private {
        &self.private
    }

    /// Puts the operation off to a later run, if the CLI takes that for an answer now: then return
    /// what is known of the object. `false`: it does not, and what stands in the way is an error as
    /// ever.
    #[must_use]
    pub fn defer(&self, why: Deferral) -> bool {
        if self.may_defer {
            self.deferral.get_or_init(|| why);
        }
        self.may_defer
    }

    /// Why the operation was put off, if it was.
    pub fn deferral(&self) -> Option<Deferral> {
        self.deferral.get().copied()
    }

    /// Ends when the user interrupts: return what holds by then.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + use<C> {
        self.stopped.clone()
    }

    /// Whether the user has interrupted.
    pub fn is_stopped(&self) -> bool {
        self.stopped.clone().now_or_never().is_some()
    }
}
