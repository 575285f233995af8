//! `runtimecloud_host`: which host the provider talks to, and what it can do.

use proto::runtimecloud::v1::{GetInfoRequest, host_client::HostClient};

use crate::{
    client::Client,
    framework::{
        Attribute, BoxFuture, Context, DataSource, Diagnostics, Reported, Schema, Type, Value,
    },
    resources::managed::report,
};

pub(super) struct Host;

impl DataSource<Client> for Host {
    fn type_name(&self) -> &'static str {
        "runtimecloud_host"
    }

    fn schema(&self) -> Schema {
        let names = Type::list(Type::String);
        Schema::new("The host that the provider talks to, and what it can do.").attributes([
            Attribute::string("id", "Its id; the same for the life of its data folder.").computed(),
            Attribute::string("version", "Its program's version, `MAJOR.MINOR.PATCH`.").computed(),
            Attribute::value("drivers", names.clone(), "Drivers that it can run, sorted.")
                .computed(),
            Attribute::value(
                "capabilities",
                names,
                "What its API has, sorted, such as `worker_pools`.",
            )
            .computed(),
            Attribute::number(
                "last_event_position",
                "The position of the last event in its log, 0 when there is none.",
            )
            .computed(),
        ])
    }

    fn read<'a>(
        &'a self,
        context: &'a Context<Client>,
        _config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Value, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let info = client
                .ask("ask the host what it is", context, GetInfoRequest {}, |channel, request| {
                    Box::pin(async move { HostClient::new(channel).get_info(request).await })
                })
                .await
                .map_err(|error| report(&error, &[], diagnostics))?;
            Ok(Value::object([
                ("id", info.host_id.into()),
                ("version", info.version.into()),
                ("drivers", info.drivers.into()),
                ("capabilities", info.capabilities.into()),
                ("last_event_position", info.last_event_position.into()),
            ]))
        })
    }
}
