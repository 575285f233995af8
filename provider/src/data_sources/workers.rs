//! `runtimecloud_workers`: workers of one pool or of all, those in some state or each.

use proto::runtimecloud::v1 as api;

use super::{found::report_at, worker};
use crate::{
    client::Client,
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Nesting, Reported, Schema, Type,
        Validator, Value,
    },
    resources::phase,
};

pub(super) struct Workers;

impl DataSource<Client> for Workers {
    fn type_name(&self) -> &'static str {
        "runtimecloud_workers"
    }

    fn schema(&self) -> Schema {
        let workers = worker::attributes();
        Schema::new(
            "Workers as they are now, of one worker pool or of all. With `limit` a large fleet is \
             not read to its end.",
        )
        .attributes([
            Attribute::string(
                "worker_pool",
                "Only those of this worker pool: its id, or `ENVIRONMENT/NAME`.",
            )
            .check(Validator::length(1..=192)),
            Attribute::string("capacity_target", "Only those on the target of this name."),
            Attribute::value("phases", Type::set(Type::String), "Only those in these phases.")
                .check(Validator::each(Validator::one_of(&worker::PHASES))),
            Attribute::bool("ready", "Only those that are ready, or only those that are not."),
            Attribute::number("limit", "At most so many, the first by id; all if left out.")
                .check(Validator::Integer)
                .check(Validator::range(1_u32..=1_000_000)),
            Attribute::nested("workers", Nesting::List, "What was found, by id.", workers)
                .computed(),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let most = config.get("limit").as_u32().map_or(usize::MAX, |limit| limit as usize);
            let parent = config.text("worker_pool").to_owned();
            let mut request = api::ListRequest { parent, ..Default::default() };
            let mut found = Vec::new();
            loop {
                let page = client.list_workers(&request, context).await;
                let page = page.map_err(|error| report_at(&error, "worker_pool", diagnostics))?;
                // The host lists by id.
                let wanted = page.items.iter().filter(|worker| is_wanted(config, worker));
                found.extend(wanted.take(most - found.len()).map(worker::value));
                if page.next.is_empty() || found.len() == most {
                    return Ok(Value::object([("workers", found.into())]));
                }
                request.page_token = page.next;
            }
        })
    }
}

fn is_wanted(config: &Value, worker: &api::Worker) -> bool {
    let target = config.get("capacity_target").as_str();
    let phases = config.get("phases").elements();
    target.is_none_or(|target| target == worker.capacity_target)
        && config.get("ready").as_bool().is_none_or(|ready| ready == worker.ready)
        && (phases.is_empty() || phases.iter().any(|it| it.as_str() == Some(&*phase(worker))))
}
