//! What every data source does alike: it finds one resource by id or by name.

use proto::runtimecloud::v1 as api;

use super::observed;
use crate::{
    client::{Client, Noun, noun::key},
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Path, Reported, Schema, Value,
    },
    resources::{
        attributes::{self, observed as as_observed},
        managed::{Kind, report},
    },
};

/// What only says how Terraform acts: nothing to look at.
const NOT_SHOWN: [&str; 2] = ["rolled_out", "wait_for_ready"];

/// A resource of the host, found as declared by `L`.
pub(super) struct Found<L>(pub(super) L);

/// What a data source declares.
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

    /// Values that take more calls of the host.
    fn more<'a>(
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
        let wanted = match config.text("id") {
            "" => key(of_parent, config.text("name")),
            id => id.to_owned(),
        };
        let noun = match client.get::<NounOf<L>>(&wanted, context).await {
            Ok(noun) => noun,
            Err(error) => {
                return Err(report(&error, &self.schema().attributes, diagnostics));
            }
        };
        let metadata = noun.metadata();
        let mut found = Value::object(L::KIND.values(&noun.spec()));
        found.set_attribute("id", metadata.id.as_str());
        found.set_attribute("name", metadata.name.as_str());
        if let Some(parent) = parent::<L>() {
            found.set_attribute(parent, noun.parent());
        }
        let common = observed::common_values(&metadata, self.0.conditions(&noun));
        let more = self.0.more(context, &noun, diagnostics).await?;
        for (name, value) in common.into_iter().chain(self.0.values(&noun)).chain(more) {
            found.set_attribute(name, value);
        }
        Ok(found)
    }
}

fn parent<L: Look>() -> Option<&'static str> {
    <L::Kind as Kind>::PARENT
}

impl<L: Look> DataSource<Client> for Found<L> {
    fn type_name(&self) -> &'static str {
        <L::Kind as Kind>::TYPE
    }

    fn schema(&self) -> Schema {
        let id = Attribute::string("id", "Its id. Give this or its name.").optional_computed();
        let is_key = |attribute: &Attribute| {
            attribute.name == "name" || Some(attribute.name) == parent::<L>()
        };
        let is_shown = |attribute: &Attribute| !NOT_SHOWN.contains(&attribute.name);
        let shown = L::KIND.attributes().into_iter().filter(is_shown).map(|attribute| {
            if is_key(&attribute) { looked_up_by(attribute) } else { as_observed(attribute) }
        });
        let protection = as_observed(attributes::deletion_protection());
        Schema::new(L::DESCRIPTION).attributes(
            [id].into_iter()
                .chain(shown)
                .chain([protection])
                .chain(observed::common())
                .chain(self.0.attributes()),
        )
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

/// A part of the name, which may be given instead of the id.
fn looked_up_by(attribute: Attribute) -> Attribute {
    let description = match attribute.name {
        "name" => "Its name. Give this or `id`.",
        _ => "Name of the environment that it is in, to go with `name`.",
    };
    let validators = attribute.validators.clone();
    Attribute { description, validators, ..as_observed(attribute) }.optional_computed()
}
