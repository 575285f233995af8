//! A command line in our own hands: it starts the real provider as a process, and plays with it what
//! Terraform plays, also what an installed one does not call.
//!
//! - What Terraform holds an answer against, the simulator does, with each call; so a test that only
//!   uses it already checks most rules. A broken rule is an error, which names call, type and place.
//! - A refusal (an error for the user) is no broken rule: it is an [`Outcome`], which the caller
//!   expects or not.
//! - The rules of plans and states stand once, in `provider::framework::conformance`; here are those
//!   of the wire, of messages, and of what happens from call to call.
//! - A simulator may be shared: calls may be under way side by side, as in Terraform.

mod actions;
pub mod configurations;
mod ephemeral;
mod functions;
pub mod known;
mod lists;
pub mod plugin;
mod resource;
mod rules;

pub use self::{
    ephemeral::Opened,
    lists::{Found, Listing},
    resource::{Action, Planned, Resource, Rules, Stored},
    rules::{Outcome, Refusal},
};

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use proto::tfplugin6::{self as pb, provider_client::ProviderClient};
use provider::{
    actions::ACTIONS,
    data_sources::DATA_SOURCES,
    ephemeral_resources::EPHEMERAL_RESOURCES,
    framework::{Provider as _, Schema, Type, Value},
    list_resources::LIST_RESOURCES,
    provider::RuntimeCloud,
    resources::RESOURCES,
    wire,
};
use tempfile::TempDir;
use tonic::transport::Channel;

use self::{
    plugin::{Identity, Plugin},
    rules::Told,
};
use crate::host::Host;

/// A provider that is started and configured.
pub struct Simulator {
    client: ProviderClient<Channel>,
    channel: Channel,
    plugin: Plugin,
    /// The types of the identities of those types of resources that have one.
    identities: BTreeMap<String, Type>,
    /// What no message may hold.
    secrets: Vec<String>,
    /// Of the plugin's socket.
    _folder: TempDir,
}

/// What Terraform 1.16 can do, when it plans.
const CAPABILITIES: pb::ClientCapabilities = pb::ClientCapabilities {
    deferral_allowed: false,
    write_only_attributes_allowed: true,
    store_planned_private: true,
    computed_blocks_allowed: true,
};

/// A provider block that leads to the host; `more` are further arguments.
pub fn block(host: &Host, more: &[(&str, Value)]) -> Result<Value> {
    let schema = RuntimeCloud::new(|_| None).schema();
    let mut block = Value::object(schema.attributes.iter().map(|a| (a.name, Value::Null)));
    block.set_attribute("endpoint", host.endpoint());
    block.set_attribute("token", host.token()?);
    for (name, value) in more {
        block.set_attribute(name, value.clone());
    }
    Ok(block)
}

impl Simulator {
    /// Starts a provider with mutual TLS and configures it.
    pub async fn start(block: &Value) -> Result<Self> {
        // Short: the path of the socket in it may have 107 bytes.
        let folder = tempfile::Builder::new().prefix("rc-").tempdir()?;
        let identity = Identity::new()?;
        let mut command = plugin::plugin_command(folder.path(), Some(&identity))?;
        // Nobody reads along, and a full pipe would hold the provider up.
        command.stderr(std::process::Stdio::null());
        let plugin = Plugin::start(command).await?;
        let channel = plugin.channel(Some(&identity)).await?;
        let secrets = block.get("token").as_str().map(str::to_owned).into_iter().collect();
        let mut simulator = Self {
            client: plugin::client(channel.clone()),
            channel,
            plugin,
            identities: BTreeMap::new(),
            secrets,
            _folder: folder,
        };
        simulator.check_schemas().await?;
        simulator.identities = simulator.identity_types().await?;
        simulator.configure(block).await?;
        Ok(simulator)
    }

    /// The provider's own client, for calls that the simulator does not play.
    pub fn client(&self) -> ProviderClient<Channel> {
        self.client.clone()
    }

    /// A type of managed resources.
    pub fn resource(&self, type_name: &str) -> Result<Resource<'_>> {
        let resource = RESOURCES.iter().find(|resource| resource.type_name() == type_name);
        Ok(Resource::new(self, *resource.with_context(|| format!("no resource `{type_name}`"))?))
    }

    /// Validates and sets the provider block; a refusal is an error here.
    pub async fn configure(&self, block: &Value) -> Result<()> {
        let schema = RuntimeCloud::new(|_| None).schema();
        let config = Some(wire::encode(&schema.value_type(), block)?);
        let request = pb::validate_provider_config::Request { config: config.clone() };
        let answer = self.client().validate_provider_config(request).await?.into_inner();
        self.told("ValidateProviderConfig", &schema, answer.diagnostics)?.nothing_wrong()?;
        let request = pb::configure_provider::Request {
            config,
            terraform_version: "1.16.0".to_owned(),
            client_capabilities: Some(CAPABILITIES),
        };
        let answer = self.client().configure_provider(request).await?.into_inner();
        self.told("ConfigureProvider", &schema, answer.diagnostics)?.nothing_wrong()
    }

    /// Reads a data source: what it finds has its configuration in it, and is wholly known.
    pub async fn read_data_source(
        &self,
        type_name: &str,
        config: &Value,
    ) -> Result<Outcome<Value>> {
        let source = DATA_SOURCES.iter().find(|source| source.type_name() == type_name);
        let schema = source.with_context(|| format!("no data source `{type_name}`"))?.schema();
        let ty = schema.value_type();
        let encoded = Some(wire::encode(&ty, config)?);
        let type_name = type_name.to_owned();
        let request = pb::validate_data_resource_config::Request {
            type_name: type_name.clone(),
            config: encoded.clone(),
        };
        let answer = self.client().validate_data_resource_config(request).await?.into_inner();
        let told = self.told("ValidateDataResourceConfig", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let request = pb::read_data_source::Request {
            type_name,
            config: encoded,
            client_capabilities: Some(CAPABILITIES),
            ..Default::default()
        };
        let answer = self.client().read_data_source(request).await?.into_inner();
        let told = self.told("ReadDataSource", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        ensure!(answer.deferred.is_none(), "a data source was deferred");
        let state = wire::decode(&ty, answer.state.as_ref())?;
        rules::data_source(&schema, config, &state)?;
        Ok(Outcome::Done(state))
    }

    /// Ends the provider as Terraform does, and checks what it leaves behind.
    pub async fn close(self) -> Result<()> {
        let socket = self.plugin.socket();
        let (status, rest) = self.plugin.shut_down(self.channel).await?;
        ensure!(status.success(), "the provider ended with {status}");
        ensure!(rest.stdout.is_empty(), "the provider wrote to standard output: {}", rest.stdout);
        ensure!(!socket.exists(), "the provider left its socket behind");
        Ok(())
    }

    /// The messages of an answer, checked.
    fn told(
        &self,
        call: &'static str,
        schema: &Schema,
        diagnostics: Vec<pb::Diagnostic>,
    ) -> Result<Told> {
        rules::messages(schema, &diagnostics, &self.secrets)
            .with_context(|| format!("{call} answers with messages that are none"))?;
        Ok(Told { call, diagnostics })
    }

    /// What the process serves is what its library declares; so tests may look at the latter.
    async fn check_schemas(&self) -> Result<()> {
        let request = pb::get_provider_schema::Request {};
        let served = self.client().get_provider_schema(request).await?.into_inner();
        let none: Vec<pb::Diagnostic> = Vec::new();
        ensure!(served.diagnostics == none, "a schema with problems: {:?}", served.diagnostics);
        type Schemas = BTreeMap<String, pb::Schema>;
        let all = |schemas: Vec<(&str, Schema)>| -> Schemas {
            let proto =
                |(name, schema): (&str, Schema)| (name.to_owned(), wire::schema_to_proto(&schema));
            schemas.into_iter().map(proto).collect()
        };
        let declared = [
            all(vec![("", RuntimeCloud::new(|_| None).schema())]),
            all(RESOURCES.iter().map(|it| (it.type_name(), it.schema())).collect()),
            all(DATA_SOURCES.iter().map(|it| (it.type_name(), it.schema())).collect()),
            all(EPHEMERAL_RESOURCES.iter().map(|it| (it.type_name(), it.schema())).collect()),
            all(LIST_RESOURCES.iter().map(|it| (it.type_name(), it.schema())).collect()),
            all(ACTIONS.iter().map(|it| (it.type_name(), it.schema())).collect()),
        ];
        let block = |action: pb::ActionSchema| action.schema.unwrap_or_default();
        let served: [Schemas; 6] = [
            served.provider.into_iter().map(|block| (String::new(), block)).collect(),
            served.resource_schemas.into_iter().collect(),
            served.data_source_schemas.into_iter().collect(),
            served.ephemeral_resource_schemas.into_iter().collect(),
            served.list_resource_schemas.into_iter().collect(),
            served.action_schemas.into_iter().map(|(name, it)| (name, block(it))).collect(),
        ];
        ensure!(
            served == declared,
            "the process serves other schemas than this test was built with"
        );
        Ok(())
    }

    async fn identity_types(&self) -> Result<BTreeMap<String, Type>> {
        let request = pb::get_resource_identity_schemas::Request {};
        let answer = self.client().get_resource_identity_schemas(request).await?.into_inner();
        let mut types = BTreeMap::new();
        for (type_name, schema) in answer.identity_schemas {
            let attribute = |it: pb::resource_identity_schema::IdentityAttribute| {
                let ty = wire::parse_type(&it.r#type).map_err(anyhow::Error::msg)?;
                Ok((it.name, ty))
            };
            let attributes = schema.identity_attributes.into_iter().map(attribute);
            types.insert(type_name, Type::Object(attributes.collect::<Result<_>>()?));
        }
        Ok(types)
    }
}
