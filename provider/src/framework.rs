//! What a resource author reads: how to declare a resource, and what is done for you.
//!
//! # A resource in one look
//!
//! A resource is a static value that implements [`Resource`] for the provider's client type, and
//! one line in the provider's table. It declares its [`Schema`] as data and gives four plain
//! operations; everything else (defaults, "known after apply", replacement, semantic equality,
//! validation, upgrades, the wire) follows from the schema.
//!
//! ```
//! use provider::framework::{
//!     Attribute, BoxFuture, Context, Create, Delete, Diagnostics, Failed, Path, Read, Reported,
//!     Resource, Schema, Update, Validator, Value, timeouts,
//! };
//! # struct Client;
//! # impl Client {
//! #     async fn put(&self, _: &str, _: u32) -> Result<String, std::io::Error> { Ok("n1".into()) }
//! #     async fn get(&self, _: &str) -> Result<Option<u32>, std::io::Error> { Ok(None) }
//! #     async fn remove(&self, _: &str) -> Result<(), std::io::Error> { Ok(()) }
//! # }
//! pub struct Note;
//!
//! impl Resource<Client> for Note {
//!     fn type_name(&self) -> &'static str {
//!         "notes_note"
//!     }
//!
//!     fn schema(&self) -> Schema {
//!         Schema::new("A note.").attributes([
//!             Attribute::string("id", "Chosen by the service.").computed().keep_prior(),
//!             Attribute::string("name", "Unique name.")
//!                 .required()
//!                 .replace()
//!                 .check(Validator::length(1..=63)),
//!             Attribute::number("size", "How large; 1 if left out.").default(1_u32),
//!             timeouts(),
//!         ])
//!     }
//!
//!     fn read<'a>(
//!         &'a self,
//!         context: &'a Context<Client>,
//!         request: Read<'a>,
//!         diagnostics: &'a mut Diagnostics,
//!     ) -> BoxFuture<'a, Result<Option<Value>, Reported>> {
//!         Box::pin(async move {
//!             let id = request.prior.text("id");
//!             match context.client(diagnostics)?.get(id).await {
//!                 Ok(size) => Ok(size.map(|size| Value::object([("size", size.into())]))),
//!                 Err(e) => Err(diagnostics.error(Path::root(), "Note not read", e.to_string())),
//!             }
//!         })
//!     }
//!
//!     fn create<'a>(
//!         &'a self,
//!         context: &'a Context<Client>,
//!         request: Create<'a>,
//!         diagnostics: &'a mut Diagnostics,
//!     ) -> BoxFuture<'a, Result<Value, Failed>> {
//!         Box::pin(async move {
//!             let name = request.planned.text("name");
//!             let size = request.planned.get("size").as_u32().unwrap_or(1);
//!             match context.client(diagnostics)?.put(name, size).await {
//!                 Ok(id) => Ok(Value::object([("id", id.into())])),
//!                 Err(e) => Err(diagnostics
//!                     .error(Path::attribute("name"), "Note not created", e.to_string())
//!                     .into()),
//!             }
//!         })
//!     }
//!
//!     fn update<'a>(
//!         &'a self,
//!         _context: &'a Context<Client>,
//!         request: Update<'a>,
//!         _diagnostics: &'a mut Diagnostics,
//!     ) -> BoxFuture<'a, Result<Value, Failed>> {
//!         Box::pin(async move { Ok(request.planned.clone()) })
//!     }
//!
//!     fn delete<'a>(
//!         &'a self,
//!         context: &'a Context<Client>,
//!         request: Delete<'a>,
//!         diagnostics: &'a mut Diagnostics,
//!     ) -> BoxFuture<'a, Result<(), Reported>> {
//!         Box::pin(async move {
//!             match context.client(diagnostics)?.remove(request.prior.text("id")).await {
//!                 Ok(()) => Ok(()),
//!                 Err(e) => Err(diagnostics.error(Path::root(), "Note not deleted", e.to_string())),
//!             }
//!         })
//!     }
//! }
//! ```
//!
//! # What you may leave out
//!
//! * An operation returns an object with the attributes it knows. What you leave out keeps its
//!   planned value (after create and update), its prior value (after read) or its default (after
//!   import), in nested objects too. So a resource returns what the remote end said, and no more.
//! * Where the schema gives an [`equal`](Attribute::equal) rule, return the remote spelling: when it
//!   means the same, the user's spelling is kept, in the plan, after apply and on read.
//! * Null or empty: if the remote end has an empty string or collection where the user wrote null (or
//!   the other way round), the user's form is kept.
//! * Null elements of lists, sets and maps are refused when the configuration is validated: an
//!   operation never sees one.
//! * Write-only values are always removed from what you return.
//! * A value still unknown after create or update is an error that names the attribute.
//!
//! # How a plan is made
//!
//! Terraform proposes a state: configuration first, prior values for computed attributes. On that
//! the framework sets defaults, keeps prior spellings that mean the same, and compares with the
//! prior state. Nothing differs: the plan is the prior state, byte for byte. Something differs:
//! computed attributes that the configuration doesn't set become unknown, except those marked
//! [`keep_prior`](Attribute::keep_prior) (or
//! [`keep_prior_unless_null`](Attribute::keep_prior_unless_null)); changed attributes marked
//! [`replace`](Attribute::replace), [`replace_if`](Attribute::replace_if) or
//! [`replace_if_configured`](Attribute::replace_if_configured) ask for replacement. Then [`Resource::plan`] may look at the whole and add to it.
//!
//! # Shapes
//!
//! Group what belongs together in nested attributes ([`Attribute::object`], [`Attribute::nested`]):
//! they can be null, computed and defaulted, which blocks can't. Sets have no keys, so errors and
//! replacement are told at the set, not at its element; prefer maps where there is a name. A nested
//! attribute that is optional and computed must have only computed children.
//!
//! # Older states
//!
//! A change of the stored form raises [`Schema::version`] and adds an [`Upgrade`] that starts at the
//! version before; states walk the chain link by link. What a schema no longer has is dropped on
//! reading, so taking an attribute away needs no link. [`Resource::move_from`] takes over the state
//! of another type.
//!
//! # Identity
//!
//! [`Resource::identity`] names the few values that tell an object from all others for good. The
//! framework takes them from the state, gives them to Terraform at each step, and reports a change
//! of them as an error. Users import by them, and a [`List`] of the same type finds objects by
//! them. Their stored form has a version and links of its own.
//!
//! # Putting off
//!
//! Some CLIs take "not in this run" for an answer. While a part of the provider's configuration is
//! unknown, that is the framework's answer wherever it is allowed; [`Context::defer`] is for what
//! else a plan or a read can't know yet.
//!
//! # Secrets
//!
//! A value that the remote end needs only once is [`write_only`](Attribute::write_only): read it from
//! `request.config`, and let an ordinary attribute (`token_version`, say) tell when it changed;
//! [`write_only_with`](Attribute::write_only_with) declares both. Mark what must be stored as
//! [`sensitive`](Attribute::sensitive). Never log or quote either.
//!
//! # Tests
//!
//! [`conformance`] restates Terraform's rules. A resource's test plans what
//! [`conformance::proposed_new_state`] proposes, holds the plan against [`conformance::check_plan`] and
//! the result against [`conformance::check_apply`], and then expects the next plan to be the state.
//!
//! # What nobody else sees
//!
//! [`Context::private`] is a small map that is stored with the object and shown to nobody: what an
//! operation has to remember for the next one. What a plan writes there reaches its apply; what an
//! apply or a read writes there is kept even if it fails with a state.
//!
//! # Failing
//!
//! A function that can fail takes `&mut Diagnostics` last and returns `Result<_, Reported>`. Only
//! [`Diagnostics::error`] makes a [`Reported`], so a failure without a message can't be written.
//! When an object exists but the operation failed, say so with [`Reported::keeping`]: its state, id
//! included, is saved.
//!
//! # Time and interruption
//!
//! [`Context::deadline`] is when the operation's time (the `timeouts` attribute, else 20 minutes) is
//! up; [`Context::stopped`] ends when the user interrupts. Wait for both in every loop, and return
//! what holds by then. An import can not find the times of a configuration: they alone are no change of
//! what was imported.

mod action;
pub mod conformance;
mod context;
mod data_source;
mod diagnostics;
mod ephemeral;
mod function;
pub mod generate;
mod identity;
mod list;
mod number;
mod path;
pub mod plan;
mod private;
mod provider;
mod resource;
pub mod result;
mod schema;
mod timeouts;
pub mod validate;
mod validator;
mod value;
mod walk;

pub use self::{
    action::{Action, Progress},
    context::{Context, Deferral},
    data_source::DataSource,
    diagnostics::{Diagnostic, Diagnostics, Reported, Severity},
    ephemeral::{Ephemeral, Opened, Renewed},
    function::{Function, FunctionError, Parameter, Signature, evaluate},
    identity::{IdentityAttribute, IdentitySchema, IdentityUpgrade},
    list::{List, ListRequest, Listed, Sink},
    number::{Number, ParseNumberError},
    path::{Path, Step},
    private::{PRIVATE_BYTES_MAX, Private},
    provider::{Configure, Provider},
    resource::{
        BoxFuture, Create, Delete, Failed, Import, MoveSource, Plan, Planned, Read, Resource,
        Update, Upgrade,
    },
    schema::{Attribute, Equal, KeepPrior, Kind, Mode, Nesting, OnChange, Schema, Type},
    timeouts::{Timeouts, open_timeout, parse_duration, timeouts},
    validator::Validator,
    value::{Bound, Refinement, Value},
};
