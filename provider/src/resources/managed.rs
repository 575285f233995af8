//! What every resource of the host does alike: planning, creating, reading, changing, deleting.
//!
//! - A resource that exists on the host is never forgotten: once it is created, every failure
//!   returns its state, id included.
//! - Nothing that someone else changed is overwritten unseen: an update happens only while the
//!   host's intent is still what the plan was made from.
//! - A quota without room is told when planning, if that is certain: not while something else in
//!   the same run may make room, and not when a resource of the name exists that may be replaced.

use super::{attributes, field::attribute_path, labels};
use crate::{
    client::{CallError, Client, Draft, Noun, noun::key},
    framework::{
        Attribute, BoxFuture, Context, Create, Delete, Diagnostics, Failed, IdentityAttribute,
        IdentitySchema, Import, Plan, Planned, Read, Reported, Resource, Schema, Update, Value,
        timeouts,
    },
};

mod import;
pub(crate) mod lifecycle;
mod list;

/// A resource of the host, as declared by `K`.
pub(crate) struct Managed<K>(pub K);

/// What a type of resource declares.
pub(crate) trait Kind: Send + Sync + 'static {
    type Noun: Noun;

    /// The full name, such as `runtimecloud_environment`.
    const TYPE: &'static str;
    const DESCRIPTION: &'static str;
    /// The attribute that holds the parent's name, for kinds with a parent.
    const PARENT: Option<&'static str> = None;
    /// The attribute that says whether what was last waited for came about, for kinds that wait. While
    /// it is false, a plan wants it true, so that the next apply waits again.
    const SEEN_THROUGH: Option<&'static str> = None;
    /// Whether it can be protected from deletion.
    const PROTECTED: bool = true;

    /// Its own attributes, the name included.
    fn attributes(&self) -> Vec<Attribute>;

    /// Rules that the schema can't say.
    fn validate(&self, _config: &Value, _diagnostics: &mut Diagnostics) {}

    /// The host's specification of known values. A write-only value is among them when it shall be
    /// sent: to create the resource, and when its companion changes, named as it and `_version`.
    fn spec(&self, values: &Value) -> <Self::Noun as Noun>::Spec;

    /// The values of a specification: its own attributes but name and parent, and
    /// `deletion_protection`.
    fn values(&self, spec: &<Self::Noun as Noun>::Spec) -> Vec<(&'static str, Value)>;

    /// Values of its own attributes that are not asked for but given by the host, once and for all.
    fn given(&self, _noun: &Self::Noun) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Of what the host only keeps to be looked at: how it ended, in a sentence. It counts as gone.
    fn ending(&self, _noun: &Self::Noun) -> Option<String> {
        None
    }

    /// Whether a change (to null: a deletion) may leave more room under a quota.
    fn frees_room(&self, _prior: &Value, _planned: &Value) -> bool {
        false
    }

    /// Whether a change (from null: a creation) may need more room under a quota.
    fn takes_room(&self, _prior: &Value, _planned: &Value) -> bool {
        false
    }

    /// Whether these values ask to wait; none: not known yet.
    fn waits(&self, _values: &Value) -> Option<bool> {
        Some(false)
    }

    /// Waits until what was asked for has come about, where these values ask for it and it is not
    /// there anyway. `change` is from what (null: nothing) to what. `asked` becomes what it is then.
    fn settle<'a>(
        &'a self,
        _context: &'a Context<Client>,
        _asked: &'a mut Self::Noun,
        _change: (&'a Value, &'a Value),
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Settled, Reported>> {
        Box::pin(std::future::ready(Ok(Settled::AtOnce)))
    }
}

/// How it ended to wait for what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// There was nothing to wait for.
    AtOnce,
    Awaited,
    /// It did not come about, and that is no failure.
    GivenUp,
}

impl<K: Kind> Managed<K> {
    /// What the host is asked for.
    fn draft(&self, planned: &Value, client: &Client) -> Draft<<K::Noun as Noun>::Spec> {
        let all = match planned.get("labels_all") {
            all if all.is_wholly_known() && !all.is_null() => all.clone(),
            _ => labels::all(planned.get("labels"), client.default_labels()),
        };
        Draft {
            parent: K::PARENT.map(|parent| planned.text(parent)).unwrap_or_default().to_owned(),
            name: planned.text("name").to_owned(),
            labels: all.string_map(),
            spec: self.0.spec(planned),
        }
    }

    /// What is planned, and write-only values of the configuration that shall be sent.
    fn with_secrets(&self, prior: &Value, planned: &Value, config: &Value) -> Value {
        let mut values = planned.clone();
        for attribute in self.0.attributes().iter().filter(|attribute| attribute.write_only) {
            let version = format!("{}_version", attribute.name);
            if prior.is_null() || prior.get(&version) != planned.get(&version) {
                values.set_attribute(attribute.name, config.get(attribute.name).clone());
            }
        }
        values
    }

    /// The host's intent as values; `labels` are the caller's business.
    fn state(&self, noun: &K::Noun) -> Value {
        let metadata = noun.metadata();
        let own = self.0.values(&noun.spec()).into_iter().chain(self.0.given(noun));
        let mut state = Value::object(own);
        state.set_attribute("id", metadata.id);
        state.set_attribute("name", metadata.name);
        state.set_attribute("labels_all", metadata.labels);
        if let Some(parent) = K::PARENT {
            state.set_attribute(parent, noun.parent());
        }
        state
    }

    fn report(&self, error: &CallError, diagnostics: &mut Diagnostics) -> Reported {
        report(error, &self.schema().attributes, diagnostics)
    }

    /// How people call it.
    fn key(values: &Value) -> String {
        let parent = K::PARENT.map(|parent| values.text(parent)).unwrap_or_default();
        key(parent, values.text("name"))
    }
}

/// What counts against a quota, in each type.
const COUNTED: [&str; 4] = ["size", "amounts", "quota", "parent"];

/// Tells the user of a failed call, each problem at its attribute.
pub(crate) fn report(
    error: &CallError,
    attributes: &[Attribute],
    diagnostics: &mut Diagnostics,
) -> Reported {
    let (first, others) = error.problems();
    let mut tell = |problem: crate::client::problem::Problem| {
        let fields = [&*problem.field].into_iter();
        let fields =
            fields.chain(error.is_quota_exceeded().then_some(COUNTED).into_iter().flatten());
        let mut paths = fields.map(|field| attribute_path(attributes, field));
        let path = paths.find(|path| !path.is_root()).unwrap_or_default();
        diagnostics.error(path, problem.summary, problem.detail)
    };
    let reported = tell(first);
    for problem in others {
        tell(problem);
    }
    reported
}

impl<K: Kind> Resource<Client> for Managed<K> {
    fn type_name(&self) -> &'static str {
        K::TYPE
    }

    fn schema(&self) -> Schema {
        let head = [attributes::id()];
        let tail = [
            Some(attributes::labels()),
            Some(attributes::labels_all()),
            K::PROTECTED.then(attributes::deletion_protection),
            Some(timeouts()),
        ];
        Schema::new(K::DESCRIPTION).attributes(
            head.into_iter().chain(self.0.attributes()).chain(tail.into_iter().flatten()),
        )
    }

    /// The id alone: the host never changes it nor uses it again, and it tells the object from all
    /// others whatever else may once be changeable, a name included.
    fn identity(&self) -> Option<IdentitySchema> {
        Some(IdentitySchema::new([IdentityAttribute::required(
            "id",
            "Id, chosen by the host. It never changes.",
        )]))
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        self.0.validate(config, diagnostics);
    }

    fn plan<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Plan<'a>,
        planned: &'a mut Planned,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let is_going = request.config.is_null() || !planned.replace.is_empty();
            if is_going && request.prior.get("deletion_protection").as_bool() == Some(true) {
                return Err(protected::<K>(request.prior, diagnostics));
            }
            let client = context.client_if_configured();
            if !request.config.is_null() {
                let defaults = client.and_then(Client::default_labels);
                let all = labels::all(planned.state.get("labels"), defaults);
                planned.state.set_attribute("labels_all", all);
                self.plan_to_wait(request.prior, &mut planned.state);
            }
            let Some(client) = client else { return Ok(()) };
            let planned = if is_going { &Value::Null } else { &planned.state };
            let mut checked = Ok(());
            if self.0.takes_room(request.prior, planned) {
                checked = self.check_room(context, request.prior, planned, diagnostics).await;
            }
            if self.0.frees_room(request.prior, planned) {
                client.note_that_room_may_grow();
            }
            checked
        })
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Read<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Value>, Reported>> {
        Box::pin(self.read_state(context, request.prior, diagnostics))
    }

    fn create<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Create<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(self.create_new(context, request, diagnostics))
    }

    fn update<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Update<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Failed>> {
        Box::pin(self.update_in_place(context, request, diagnostics))
    }

    fn delete<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Delete<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(self.delete_and_wait(context, request.prior, diagnostics))
    }

    fn import<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: Import<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(self.find_to_import(context, request, diagnostics))
    }
}

fn protected<K: Kind>(prior: &Value, diagnostics: &mut Diagnostics) -> Reported {
    let (kind, key) = (K::Noun::KIND, Managed::<K>::key(prior));
    diagnostics.error(
        "deletion_protection",
        "Protected from deletion",
        format!(
            "The plan deletes (or replaces) the {kind} `{key}`, which is protected. If that is \
             meant, set `deletion_protection = false`, apply that first, and then plan again. If it \
             is to be replaced only because it is tainted (its creation failed half-way), run \
             `terraform untaint ADDRESS` instead, where ADDRESS is this resource's in the \
             configuration."
        ),
    )
}
