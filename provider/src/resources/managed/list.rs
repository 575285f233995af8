//! Finds what the host has of a type, whether or not a configuration has it.

use proto::runtimecloud::v1 as api;

use super::{Kind, Managed, attributes, labels, report};
use crate::{
    client::{Client, Noun, Page},
    framework::{
        BoxFuture, Context, Diagnostics, List, ListRequest, Listed, Reported, Resource, Schema,
        Sink, Value,
    },
};

/// As many as the host puts on a page.
const PAGE: usize = 500;

impl<K: Kind> List<Client> for Managed<K> {
    fn type_name(&self) -> &'static str {
        K::TYPE
    }

    fn schema(&self) -> Schema {
        let parent = K::PARENT.map(|parent| {
            attributes::name_of(parent, "Only those in it, by its name; in any if left out.")
        });
        let labels = attributes::text_map(
            "labels",
            "Only those that carry all these labels, which may be the provider's `default_labels` \
             too; all if left out.",
        );
        Schema::new(
            "Finds what the host has of this type, whether or not a configuration has it. What is \
             being deleted or has ended is left out.",
        )
        .attributes(parent.into_iter().chain([labels]))
    }

    fn list<'a>(
        &'a self,
        context: &'a Context<Client>,
        request: ListRequest<'a>,
        sink: &'a mut dyn Sink,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let mut wanted = api::ListRequest {
                labels: request.config.get("labels").string_map(),
                parent: K::PARENT.map(|it| request.config.text(it)).unwrap_or_default().to_owned(),
                page_size: u32::try_from(request.limit.min(PAGE)).unwrap_or(0),
                page_token: String::new(),
            };
            loop {
                let page: Page<K::Noun> = match client.list(&wanted, context).await {
                    Ok(page) => page,
                    Err(error) => {
                        let (problem, _) = error.problems();
                        return Err(match K::PARENT.filter(|_| error.is_not_found()) {
                            Some(parent) => {
                                diagnostics.error(parent, problem.summary, problem.detail)
                            }
                            None => report(&error, &List::schema(self).attributes, diagnostics),
                        });
                    }
                };
                for noun in page.items {
                    let is_there =
                        noun.metadata().deleting_since.is_none() && self.0.ending(&noun).is_none();
                    if is_there && sink.send(self.listed(&noun, client, request)).await.is_break() {
                        return Ok(());
                    }
                }
                if page.next.is_empty() {
                    return Ok(());
                }
                wanted.page_token = page.next;
            }
        })
    }
}

impl<K: Kind> Managed<K> {
    fn listed(&self, noun: &K::Noun, client: &Client, request: ListRequest<'_>) -> Listed {
        let mut state = self.state(noun);
        // As if it had just been imported: nothing was its own before.
        let own = labels::own(&noun.metadata().labels, &Value::Null, client.default_labels());
        state.set_attribute("labels", own);
        let identity = self.identity().map(|identity| identity.of(&state));
        Listed {
            display_name: Self::key(&state),
            identity: identity.unwrap_or_default(),
            state: request.include_state.then_some(state),
        }
    }
}
