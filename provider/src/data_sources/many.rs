//! What data sources of many resources do alike: they show all of a type, or those with some labels
//! or in one environment, sorted by name.
//!
//! What takes calls of the host for each resource is not shown, so that a list costs one call for
//! every few hundred.

use proto::runtimecloud::v1 as api;

use super::found::{self, Look, NounOf, parent, report_at};
use crate::{
    client::{Client, Noun, noun::key},
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Nesting, Reported, Schema, Type,
        Validator, Value,
    },
};

/// The resources that a look shows one of, with the data source's type (such as
/// `runtimecloud_quotas`, of which `quotas` is the attribute with what was found) and description.
pub(super) struct Many<L>(pub(super) L, pub(super) &'static str, pub(super) &'static str);

impl<L: Look> Many<L> {
    /// The attribute with what was found.
    fn found(&self) -> &'static str {
        self.1.split_once('_').map_or(self.1, |(_, name)| name)
    }

    async fn find(
        &self,
        context: &Context<Client>,
        config: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let client = context.client(diagnostics)?;
        let mut request = api::ListRequest {
            labels: config.get("labels").string_map(),
            parent: parent::<L>().map(|parent| config.text(parent)).unwrap_or_default().to_owned(),
            ..Default::default()
        };
        let mut found = Vec::new();
        loop {
            let page = client.list::<NounOf<L>>(&request, context).await;
            let argument = parent::<L>().unwrap_or("labels");
            let page = page.map_err(|error| report_at(&error, argument, diagnostics))?;
            found.extend(page.items.iter().map(|noun| {
                let key = key(&noun.parent(), &noun.metadata().name);
                (key, found::value(&self.0, noun))
            }));
            if page.next.is_empty() {
                break;
            }
            request.page_token = page.next;
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        let found: Vec<Value> = found.into_iter().map(|(_, value)| value).collect();
        Ok(Value::object([(self.found(), found.into())]))
    }
}

impl<L: Look> DataSource<Client> for Many<L> {
    fn type_name(&self) -> &'static str {
        self.1
    }

    fn schema(&self) -> Schema {
        let labels = Attribute::value(
            "labels",
            Type::map(Type::String),
            "Only those that carry all these labels; all if left out.",
        );
        let of_parent = parent::<L>().map(|parent| {
            Attribute::string(parent, "Only those in this environment: its name or id.")
                .check(Validator::length(1..=128))
        });
        let found = Attribute::nested(
            self.found(),
            Nesting::List,
            "What was found, sorted by name.",
            found::attributes(&self.0),
        );
        let filters = of_parent.into_iter().chain([labels]);
        Schema::new(self.2).attributes(filters.chain([found.computed()]))
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
