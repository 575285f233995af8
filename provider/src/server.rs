//! The plugin protocol's service over a [`Provider`]: decode, call, encode. No rule lives here.
//!
//! Holds: every call answers, whether or not any other call came before it; what panics becomes a
//! diagnostic and the process lives on; nothing that a user typed is logged.

mod action;
mod ephemeral;
mod function;
mod guard;
mod identity;
mod list;
mod provider;
mod reading;
mod resource;
mod rpc;
mod upgrade;

use crate::{
    framework::{
        BoxFuture, Context, DataSource, Deferral, Diagnostics, Ephemeral, List, Path, Plan,
        Provider, Reported, Resource, Schema, Type, Value,
        conformance::check_plan,
        result::{self, Leftover},
        validate::validate,
    },
    wire::{self, WireError},
};
use proto::tfplugin6::{
    ClientCapabilities, Deferred, DynamicValue, deferred::Reason, provider_server::ProviderServer,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Messages larger than this are refused, as the CLIs do.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// The service. What calls do hangs on what the last configuration made, and on nothing else that is
/// kept between them.
pub struct Server<P: Provider> {
    provider: P,
    configured: RwLock<Configured<P::Client>>,
    /// Of the resource types asked for so far: a run asks several times for each resource.
    shapes: Mutex<BTreeMap<&'static str, Arc<Shape>>>,
    /// Cancelled when the user interrupts; then a new one serves the calls after.
    stop: Mutex<CancellationToken>,
}

/// What has come of the provider's configuration.
enum Configured<C> {
    NotYet,
    /// It has parts that are not known yet, without which there is no client.
    Unknown,
    With(Arc<C>),
}

impl<P: Provider> Server<P> {
    /// A server that is not configured yet.
    pub fn new(provider: P) -> Self {
        Self {
            provider,
            configured: RwLock::new(Configured::NotYet),
            shapes: Mutex::default(),
            stop: Mutex::new(CancellationToken::new()),
        }
    }

    /// The service with the protocol's limits.
    pub fn into_service(self: Arc<Self>) -> ProviderServer<Self> {
        ProviderServer::from_arc(self)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    fn context(&self, time: Duration) -> Context<P::Client> {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.context_until(Box::pin(stop.cancelled_owned()), time)
    }

    /// A context of what must be done in any case: no interrupt ends it, only its time.
    fn context_to_the_end(&self, time: Duration) -> Context<P::Client> {
        self.context_until(Box::pin(std::future::pending()), time)
    }

    fn context_until(&self, stopped: BoxFuture<'static, ()>, time: Duration) -> Context<P::Client> {
        let client = match &*self.configured.read().unwrap_or_else(PoisonError::into_inner) {
            Configured::With(client) => Some(client.clone()),
            Configured::NotYet | Configured::Unknown => None,
        };
        Context::new(client, stopped, (tokio::time::Instant::now() + time).into_std())
    }

    /// Whether the answer is "not in this run": the provider's configuration is not known, which it
    /// always is in the walk that applies, and the CLI takes that for an answer.
    fn must_defer(&self, capabilities: Option<ClientCapabilities>) -> bool {
        let configured = self.configured.read().unwrap_or_else(PoisonError::into_inner);
        allows_deferral(capabilities) && matches!(*configured, Configured::Unknown)
    }

    /// Cancels what waits now; calls that come later wait anew.
    pub fn stop(&self) {
        tracing::info!("interrupted: what waits is cancelled");
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *stop).cancel();
    }

    fn resource(
        &self,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<&'static dyn Resource<P::Client>, Reported> {
        let found = self.provider.resources().iter().find(|r| r.type_name() == name);
        found.copied().ok_or_else(|| unknown_type(diagnostics, "resource type", name))
    }

    fn shape(&self, resource: &dyn Resource<P::Client>) -> Arc<Shape> {
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(Shape::new(resource.schema()));
        Arc::clone(shapes.entry(resource.type_name()).or_insert_with(make))
    }

    fn list_resource(
        &self,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<&'static dyn List<P::Client>, Reported> {
        let found = self.provider.list_resources().iter().find(|l| l.type_name() == name);
        found.copied().ok_or_else(|| unknown_type(diagnostics, "list resource", name))
    }

    fn data_source(
        &self,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<&'static dyn DataSource<P::Client>, Reported> {
        let found = self.provider.data_sources().iter().find(|d| d.type_name() == name);
        found.copied().ok_or_else(|| unknown_type(diagnostics, "data source", name))
    }

    fn ephemeral_resource(
        &self,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<&'static dyn Ephemeral<P::Client>, Reported> {
        let found = self.provider.ephemeral_resources().iter().find(|e| e.type_name() == name);
        found.copied().ok_or_else(|| unknown_type(diagnostics, "ephemeral resource", name))
    }
}

const PROVIDER_CONFIG_UNKNOWN: Option<Deferred> =
    Some(Deferred { reason: Reason::ProviderConfigUnknown as i32 });

fn allows_deferral(capabilities: Option<ClientCapabilities>) -> bool {
    capabilities.is_some_and(|c| c.deferral_allowed)
}

/// What an operation asked for by [`Context::defer`].
fn deferred<C>(context: &Context<C>) -> Option<Deferred> {
    let reason = match context.deferral()? {
        Deferral::ConfigUnknown => Reason::ResourceConfigUnknown,
        Deferral::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
        Deferral::AbsentPrerequisite => Reason::AbsentPrereq,
    };
    Some(Deferred { reason: reason.into() })
}

fn unknown_type(diagnostics: &mut Diagnostics, what: &str, name: &str) -> Reported {
    diagnostics.error(
        Path::root(),
        format!("Unknown {what}"),
        format!(
            "This version of the provider has no {what} `{name}`. Check the name, or the version \
             constraint of the provider."
        ),
    )
}

/// A schema and its type: what decoding and encoding need.
struct Shape {
    schema: Schema,
    ty: Type,
}

impl Shape {
    fn new(schema: Schema) -> Self {
        let ty = schema.value_type();
        Self { schema, ty }
    }

    /// A configuration, held against the rules of the schema.
    fn decode_config(
        &self,
        config: Option<&DynamicValue>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let config = self.decode(config, diagnostics)?;
        validate(&self.schema, &config, diagnostics);
        Ok(config)
    }

    fn decode(
        &self,
        value: Option<&DynamicValue>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        wire::decode(&self.ty, value).map_err(|error| misread(&error, diagnostics))
    }

    fn encode(
        &self,
        value: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<DynamicValue>, Reported> {
        wire::encode(&self.ty, value).map(Some).map_err(|error| {
            diagnostics.error(
                error.path.clone(),
                "Value of the wrong type",
                format!("The provider produced {error}. This is a bug in the provider; please report it."),
            )
        })
    }

    /// What was read or opened as configured: the configuration with the provider's additions,
    /// wholly known.
    fn encode_found(
        &self,
        (config, returned): (&Value, &Value),
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<DynamicValue>, Reported> {
        let sides = (config, returned);
        let found = result::settle(&self.schema, sides, Leftover::Report, diagnostics)?;
        let request = Plan { prior: &Value::Null, config };
        for violation in check_plan(&self.schema, request, &found) {
            diagnostics.error(
                violation.path.clone(),
                "Result differs from the configuration",
                format!(
                    "The provider's answer is wrong at `{}`: {}. This is a bug in the provider; \
                     please report it.",
                    violation.path, violation.what
                ),
            );
        }
        diagnostics.stop_if_failed()?;
        self.encode(&found, diagnostics)
    }
}

fn misread(error: &WireError, diagnostics: &mut Diagnostics) -> Reported {
    diagnostics.error(
        error.path.clone(),
        "Unreadable value",
        format!(
            "The CLI sent {error}. The provider and the CLI disagree about the schema: run the \
             CLI's init command with -upgrade, and report a bug if that doesn't help."
        ),
    )
}
