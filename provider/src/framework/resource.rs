//! A managed resource: the trait, and what its operations are given.
//!
//! This file names futures, because operations talk to a remote end, but awaits nothing.

use super::{
    Context, Diagnostics, IdentitySchema, IdentityUpgrade, Path, Reported, Schema, Value,
    identity::given,
};
use std::pin::Pin;

/// A future of an operation.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An operation failed. `state` is what exists now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What exists now. None: nothing after a create, the prior state after an update.
    pub state: Option<Value>,
    /// The report.
    pub reported: Reported,
}

impl From<Reported> for Failed {
    fn from(reported: Reported) -> Self {
        Self { state: None, reported }
    }
}

/// What [`Resource::plan`] looks at.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The state before; null when it is to be created.
    pub prior: &'a Value,
    /// The configuration; may hold unknowns, null when it is to be destroyed.
    pub config: &'a Value,
}

/// What [`Resource::plan`] may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The state after; null when it is to be destroyed. Only computed attributes without
    /// configuration may be changed.
    pub state: Value,
    /// Paths whose change needs a new object.
    pub replace: Vec<Path>,
}

impl Planned {
    /// Asks for a new object because of `path`.
    pub fn require_replace(&mut self, path: impl Into<Path>) {
        self.replace.push(path.into());
    }
}

/// What [`Resource::read`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a> {
    /// The state before.
    pub prior: &'a Value,
}

/// What [`Resource::create`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Create<'a> {
    /// What to create; computed attributes may be unknown.
    pub planned: &'a Value,
    /// The configuration, wholly known; has write-only values.
    pub config: &'a Value,
}

/// What [`Resource::update`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The state before.
    pub prior: &'a Value,
    /// What to make of it; computed attributes may be unknown.
    pub planned: &'a Value,
    /// The configuration, wholly known; has write-only values.
    pub config: &'a Value,
}

/// What [`Resource::delete`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Delete<'a> {
    /// The state before.
    pub prior: &'a Value,
}

/// What [`Resource::import`] is given: one of the two ways to say which object is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import<'a> {
    /// What the user typed.
    Id(&'a str),
    /// An identity, by the resource's identity schema: known, and what an import must give is there.
    Identity(&'a Value),
}

/// Where a moved resource comes from.
#[derive(Clone, Copy, Debug)]
pub struct MoveSource<'a> {
    /// The source provider's address, with its host name.
    pub provider_address: &'a str,
    /// The source's resource type.
    pub type_name: &'a str,
    /// The version of the source's schema.
    pub schema_version: i64,
    /// The source's state. Its schema is not known here: arrays are lists, objects are objects.
    pub state: &'a Value,
}

/// One link of the chain from an old form of the state (or of the identity: [`IdentityUpgrade`]) to
/// the newest.
pub struct Upgrade<S = Schema> {
    /// The version it starts at; it gives the version after.
    pub from: i64,
    /// The schema of that version, to read what is stored with.
    pub schema: fn() -> S,
    /// Makes the next version's value of it. What is left out becomes null.
    pub upgrade: fn(Value, &mut Diagnostics) -> Result<Value, Reported>,
}

/// A managed resource, over the client type `C`. See [the tutorial](super).
pub trait Resource<C>: Send + Sync {
    /// The full name, such as `runtimecloud_environment`.
    fn type_name(&self) -> &'static str;

    /// What its block looks like.
    fn schema(&self) -> Schema;

    /// Links from each older version of the schema, sorted by `from`.
    fn upgrades(&self) -> &'static [Upgrade] {
        &[]
    }

    /// What tells one object from all others, for good. Needed for a list resource.
    fn identity(&self) -> Option<IdentitySchema> {
        None
    }

    /// The identity of an object in this state, by [`Resource::identity`]. Unless overridden, the
    /// attributes of the same names. What the state doesn't tell yet stays null or unknown.
    fn identify(&self, identity: &IdentitySchema, state: &Value) -> Value {
        identity.of(state)
    }

    /// Links from each older version of the identity, sorted by `from`.
    fn identity_upgrades(&self) -> &'static [IdentityUpgrade] {
        &[]
    }

    /// Rules that the schema can't say. Unknown values are not wrong.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// Looks at a plan as a whole, after the shared rules: checks, and computed values that can be
    /// told before apply. The same question must get the same answer when it is asked again.
    fn plan<'a>(
        &'a self,
        _context: &'a Context<C>,
        _request: Plan<'a>,
        _planned: &'a mut Planned,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The state as it is now; `None` when the object is gone, which the framework warns of unless
    /// something has been told of it.
    fn read<'a>(
        &'a self,
        context: &'a Context<C>,
        request: Read<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Value>, Reported>>;

    /// Creates it. Once it exists, fail only with its state: [`Reported::keeping`].
    fn create<'a>(
        &'a self,
        context: &'a Context<C>,
        request: Create<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>>;

    /// Updates it in place. After a partial update, fail with the state that holds.
    fn update<'a>(
        &'a self,
        context: &'a Context<C>,
        request: Update<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>>;

    /// Deletes it. What is already gone is deleted.
    fn delete<'a>(
        &'a self,
        context: &'a Context<C>,
        request: Delete<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>>;

    /// The least state that [`Resource::read`] needs to find the object. Unless overridden, the
    /// user's text is its `id`, and what an identity gives are attributes of the same names.
    fn import<'a>(
        &'a self,
        _context: &'a Context<C>,
        request: Import<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        let state = match request {
            Import::Id(id) => Value::object([("id", id.into())]),
            Import::Identity(identity) => given(identity),
        };
        Box::pin(std::future::ready(Ok(state)))
    }

    /// The state of this type made from another type's, for `moved` blocks; `None` when it can't
    /// come from there. Works without a configured provider.
    fn move_from(
        &self,
        _source: MoveSource<'_>,
        _diagnostics: &mut Diagnostics,
    ) -> Option<Result<Value, Reported>> {
        None
    }
}
