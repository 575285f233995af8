//! The provider's own calls: schemas, its block, its configuration.

use super::{Server, Shape};
use crate::{
    framework::{Configure, Diagnostics, Provider, Reported, validate::validate},
    wire::schema_to_proto,
};
use proto::tfplugin6::{self as pb, ServerCapabilities};
use std::sync::{Arc, PoisonError};

const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: true,
    generate_resource_config: true,
};

impl<P: Provider> Server<P> {
    pub(super) fn metadata(&self) -> pb::get_metadata::Response {
        use pb::get_metadata::{DataSourceMetadata, ResourceMetadata};
        let name = str::to_owned;
        pb::get_metadata::Response {
            server_capabilities: Some(CAPABILITIES),
            resources: (self.provider.resources().iter())
                .map(|r| ResourceMetadata { type_name: name(r.type_name()) })
                .collect(),
            data_sources: (self.provider.data_sources().iter())
                .map(|d| DataSourceMetadata { type_name: name(d.type_name()) })
                .collect(),
            ..Default::default()
        }
    }

    pub(super) fn provider_schema(&self) -> pb::get_provider_schema::Response {
        pb::get_provider_schema::Response {
            provider: Some(schema_to_proto(&self.provider.schema())),
            resource_schemas: (self.provider.resources().iter())
                .map(|r| (r.type_name().to_owned(), schema_to_proto(&r.schema())))
                .collect(),
            data_source_schemas: (self.provider.data_sources().iter())
                .map(|d| (d.type_name().to_owned(), schema_to_proto(&d.schema())))
                .collect(),
            server_capabilities: Some(CAPABILITIES),
            ..Default::default()
        }
    }

    pub(super) fn validate_provider(
        &self,
        request: &pb::validate_provider_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_provider_config::Response, Reported> {
        let shape = Shape::new(self.provider.schema());
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        validate(&shape.schema, &config, diagnostics);
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
        let client = self.provider.configure(configure, diagnostics).await?;
        *self.client.write().unwrap_or_else(PoisonError::into_inner) = client.map(Arc::new);
        Ok(Default::default())
    }
}
