//! The provider's own calls: schemas, its block, its configuration.

use super::{Configured, Server, Shape};
use crate::{
    framework::{Configure, Diagnostics, Provider, Reported, Schema},
    wire::{function_to_proto, identity_schema_to_proto, schema_to_proto},
};
use proto::tfplugin6::{self as pb, ServerCapabilities};
use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: true,
    generate_resource_config: true,
};

impl<P: Provider> Server<P> {
    pub(super) fn metadata(&self) -> pb::get_metadata::Response {
        use pb::get_metadata::{
            ActionMetadata, DataSourceMetadata, EphemeralMetadata, FunctionMetadata,
            ListResourceMetadata, ResourceMetadata,
        };
        let name = str::to_owned;
        let provider = &self.provider;
        pb::get_metadata::Response {
            server_capabilities: Some(CAPABILITIES),
            resources: (provider.resources().iter())
                .map(|r| ResourceMetadata { type_name: name(r.type_name()) })
                .collect(),
            data_sources: (provider.data_sources().iter())
                .map(|d| DataSourceMetadata { type_name: name(d.type_name()) })
                .collect(),
            ephemeral_resources: (provider.ephemeral_resources().iter())
                .map(|e| EphemeralMetadata { type_name: name(e.type_name()) })
                .collect(),
            list_resources: (provider.list_resources().iter())
                .map(|l| ListResourceMetadata { type_name: name(l.type_name()) })
                .collect(),
            actions: (provider.actions().iter())
                .map(|a| ActionMetadata { type_name: name(a.type_name()) })
                .collect(),
            functions: (provider.functions().iter())
                .map(|f| FunctionMetadata { name: name(f.name()) })
                .collect(),
            ..Default::default()
        }
    }

    pub(super) fn provider_schema(&self) -> pb::get_provider_schema::Response {
        let provider = &self.provider;
        let entry = |name: &str, schema: &Schema| (name.to_owned(), schema_to_proto(schema));
        pb::get_provider_schema::Response {
            provider: Some(schema_to_proto(&provider.schema())),
            resource_schemas: (provider.resources().iter())
                .map(|r| entry(r.type_name(), &r.schema()))
                .collect(),
            data_source_schemas: (provider.data_sources().iter())
                .map(|d| entry(d.type_name(), &d.schema()))
                .collect(),
            ephemeral_resource_schemas: (provider.ephemeral_resources().iter())
                .map(|e| entry(e.type_name(), &e.schema()))
                .collect(),
            list_resource_schemas: (provider.list_resources().iter())
                .map(|l| entry(l.type_name(), &l.schema()))
                .collect(),
            action_schemas: (provider.actions().iter())
                .map(|a| {
                    let schema = Some(schema_to_proto(&a.schema()));
                    (a.type_name().to_owned(), pb::ActionSchema { schema })
                })
                .collect(),
            functions: self.functions(),
            server_capabilities: Some(CAPABILITIES),
            ..Default::default()
        }
    }

    pub(super) fn functions(&self) -> BTreeMap<String, pb::Function> {
        let functions = self.provider.functions().iter();
        functions.map(|f| (f.name().to_owned(), function_to_proto(&f.signature()))).collect()
    }

    pub(super) fn identity_schemas(&self) -> pb::get_resource_identity_schemas::Response {
        let identities = self.provider.resources().iter().filter_map(|resource| {
            let identity = resource.identity()?;
            Some((resource.type_name().to_owned(), identity_schema_to_proto(&identity)))
        });
        pb::get_resource_identity_schemas::Response {
            identity_schemas: identities.collect(),
            ..Default::default()
        }
    }

    pub(super) fn validate_provider(
        &self,
        request: &pb::validate_provider_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_provider_config::Response, Reported> {
        let shape = Shape::new(self.provider.schema());
        let config = shape.decode_config(request.config.as_ref(), diagnostics)?;
        self.provider.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) async fn configure(
        &self,
        request: pb::configure_provider::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::configure_provider::Response, Reported> {
        let shape = Shape::new(self.provider.schema());
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        let terraform_version = &request.terraform_version;
        let configure = Configure { config: &config, terraform_version };
        let configured = match self.provider.configure(configure, diagnostics).await? {
            Some(client) => Configured::With(Arc::new(client)),
            None if config.is_wholly_known() => Configured::NotYet,
            None => Configured::Unknown,
        };
        *self.configured.write().unwrap_or_else(PoisonError::into_inner) = configured;
        Ok(Default::default())
    }
}
