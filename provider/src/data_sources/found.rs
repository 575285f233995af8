//! What data sources of one resource do alike: they find it by id or by name.

use proto::runtimecloud::v1 as api;

use super::observed;
use crate::{
    client::{CallError, Client, Noun, noun::key},
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Path, Reported, Schema, Validator,
        Value,
    },
    resources::{
        attributes::{self, observed as as_observed},
        managed::{Kind, report},
    },
};

/// What only Terraform has: nothing to look at.
const NOT_SHOWN: [&str; 4] = ["rolled_out", "secret_wo", "secret_wo_version", "wait_for_ready"];

/// A resource of the host, found as declared by `L`.
pub(super) struct Found<L>(pub(super) L);

/// What a data source declares of a resource.
pub(super) trait Look: Send + Sync + 'static {
    /// The resource that it shows.
    type Kind: Kind;
    const KIND: Self::Kind;
    const DESCRIPTION: &'static str;

    /// What is observed, besides conditions.
    fn attributes(&self) -> Vec<Attribute>;

    fn conditions<'a>(&self, noun: &'a NounOf<Self>) -> &'a [api::Condition];

    /// The values of its own attributes.
    fn values(&self, noun: &NounOf<Self>) -> Vec<(&'static str, Value)>;

    /// What is shown only where one resource is looked at, because it takes more calls of the host.
    fn attributes_of_one(&self) -> Vec<Attribute> {
        Vec::new()
    }

    /// The values of [`Look::attributes_of_one`].
    fn values_of_one<'a>(
        &'a self,
        _context: &'a Context<Client>,
        _noun: &'a NounOf<Self>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Vec<(&'static str, Value)>, Reported>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

pub(super) type NounOf<L> = <<L as Look>::Kind as Kind>::Noun;

impl<L: Look> Found<L> {
    async fn find(
        &self,
        context: &Context<Client>,
        config: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let client = context.client(diagnostics)?;
        let of_parent = parent::<L>().map(|parent| config.text(parent)).unwrap_or_default();
        let (argument, wanted) = match config.text("id") {
            "" => ("name", key(of_parent, config.text("name"))),
            id => ("id", id.to_owned()),
        };
        let noun = client.get::<NounOf<L>>(&wanted, context).await;
        let noun = noun.map_err(|error| report_at(&error, argument, diagnostics))?;
        let mut found = value(&self.0, &noun);
        for (name, value) in self.0.values_of_one(context, &noun, diagnostics).await? {
            found.set_attribute(name, value);
        }
        if let Some(parent) = parent::<L>().filter(|parent| config.get(parent).is_set()) {
            // It may have been given by its id.
            found.set_attribute(parent, config.get(parent).clone());
        }
        Ok(found)
    }
}

/// What is shown of a resource wherever it is looked at, all computed.
pub(super) fn attributes<L: Look>(look: &L) -> Vec<Attribute> {
    let is_shown = |attribute: &Attribute| !NOT_SHOWN.contains(&attribute.name);
    let declared = L::KIND.attributes().into_iter().filter(is_shown);
    [Attribute::string("id", "Its id.")]
        .into_iter()
        .chain(declared)
        .chain(L::Kind::PROTECTED.then(attributes::deletion_protection))
        .map(as_observed)
        .chain(observed::common())
        .chain(look.attributes())
        .collect()
}

/// The value of [`attributes()`].
pub(super) fn value<L: Look>(look: &L, noun: &NounOf<L>) -> Value {
    let metadata = noun.metadata();
    let own = L::KIND.values(&noun.spec()).into_iter().chain(L::KIND.given(noun));
    let mut found = Value::object(own);
    found.set_attribute("id", metadata.id.as_str());
    found.set_attribute("name", metadata.name.as_str());
    if let Some(parent) = parent::<L>() {
        found.set_attribute(parent, noun.parent());
    }
    let common = observed::common_values(&metadata, look.conditions(noun));
    for (name, value) in common.into_iter().chain(look.values(noun)) {
        found.set_attribute(name, value);
    }
    found
}

/// The argument that names a resource's parent, if it has one.
pub(super) fn parent<L: Look>() -> Option<&'static str> {
    <L::Kind as Kind>::PARENT
}

/// Tells of a look-up that failed. What is not there is told at the argument that names it.
pub(super) fn report_at(
    error: &CallError,
    argument: &'static str,
    diagnostics: &mut Diagnostics,
) -> Reported {
    if error.is_not_found() {
        let (problem, _) = error.problems();
        diagnostics.error(argument, problem.summary, problem.detail)
    } else {
        report(error, &[], diagnostics)
    }
}

impl<L: Look> DataSource<Client> for Found<L> {
    fn type_name(&self) -> &'static str {
        <L::Kind as Kind>::TYPE
    }

    fn schema(&self) -> Schema {
        let shown = attributes(&self.0).into_iter().map(|attribute| {
            let is_key =
                ["id", "name"].contains(&attribute.name) || Some(attribute.name) == parent::<L>();
            if is_key { looked_up_by(attribute) } else { attribute }
        });
        Schema::new(L::DESCRIPTION).attributes(shown.chain(self.0.attributes_of_one()))
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        let names: Vec<&str> = parent::<L>().into_iter().chain(["name"]).collect();
        let unknown = |name: &&str| config.get(name).is_unknown();
        if config.get("id").is_unknown() || names.iter().any(unknown) {
            return;
        }
        let by_id = config.get("id").is_set();
        let given = names.iter().filter(|name| config.get(name).is_set()).count();
        if by_id && given == 0 || !by_id && given == names.len() {
            return;
        }
        diagnostics.error(
            Path::root(),
            "Which one?",
            format!("Give either `id` or `{}`, not both.", names.join("` and `")),
        );
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(self.find(context, config, diagnostics))
    }
}

/// The id, or a part of the name that may be given instead of it.
fn looked_up_by(attribute: Attribute) -> Attribute {
    let description = match attribute.name {
        "id" => "Its id. Give this or its name.",
        "name" => "Its name. Give this or `id`.",
        "service_account" => "Name of the service account that it belongs to, to go with `name`.",
        _ => "Name of the environment that it is in, to go with `name`.",
    };
    Attribute { description, ..attribute }.optional_computed().check(Validator::length(1..=128))
}
