//! The calls that change nothing: validation, reading, data sources, and imports.

use super::{PROVIDER_CONFIG_UNKNOWN, Server, Shape, deferred, identity::Identities};
use crate::framework::{
    Diagnostics, Import, Path, Plan, Provider, Read, Reported, Timeouts, Value,
    generate::generate_config,
    plan::plan,
    result::{self, Leftover},
    validate::{refuse_write_only, validate},
};
use proto::tfplugin6 as pb;

impl<P: Provider> Server<P> {
    pub(super) fn validate_resource(
        &self,
        request: &pb::validate_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_resource_config::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        if !request.client_capabilities.is_some_and(|c| c.write_only_attributes_allowed) {
            refuse_write_only(&shape.schema, &config, diagnostics);
        }
        validate(&shape.schema, &config, diagnostics);
        resource.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) fn validate_data_source(
        &self,
        request: &pb::validate_data_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_data_resource_config::Response, Reported> {
        let data_source = self.data_source(&request.type_name, diagnostics)?;
        let shape = Shape::new(data_source.schema());
        let config = shape.decode_config(request.config.as_ref(), diagnostics)?;
        data_source.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) async fn read_data_source(
        &self,
        request: pb::read_data_source::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::read_data_source::Response, Reported> {
        let data_source = self.data_source(&request.type_name, diagnostics)?;
        let shape = Shape::new(data_source.schema());
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        if self.must_defer(request.client_capabilities) {
            let request = Plan { prior: &Value::Null, config: &config };
            let state = plan(&shape.schema, request, &config).state;
            return Ok(pb::read_data_source::Response {
                state: shape.encode(&state, diagnostics)?,
                deferred: PROVIDER_CONFIG_UNKNOWN,
                ..Default::default()
            });
        }
        let context = self.context(Timeouts::of(&config).read);
        let read = data_source.read(&context, &config, diagnostics).await?;
        let state = shape.encode_found((&config, &read), diagnostics)?;
        Ok(pb::read_data_source::Response { state, ..Default::default() })
    }

    pub(super) async fn read(
        &self,
        request: pb::read_resource::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::read_resource::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let prior = shape.decode(request.current_state.as_ref(), diagnostics)?;
        let identities = Identities::of(resource);
        let identity = identities.decode(request.current_identity.as_ref(), diagnostics)?;
        let mut response = pb::read_resource::Response {
            new_state: request.current_state,
            new_identity: request.current_identity,
            ..Default::default()
        };
        if self.must_defer(request.client_capabilities) {
            response.private = request.private;
            response.deferred = PROVIDER_CONFIG_UNKNOWN;
            return Ok(response);
        }
        let mut context = self.context(Timeouts::of(&prior).read).with_private(request.private);
        if request.client_capabilities.is_some_and(|c| c.deferral_allowed) {
            context = context.deferrable();
        }
        match resource.read(&context, Read { prior: &prior }, diagnostics).await {
            Ok(Some(read)) => {
                let sides = (&prior, &read);
                let state = result::settle(&shape.schema, sides, Leftover::Report, diagnostics)?;
                let identity = identities.settled(&identity, &state, diagnostics);
                response.new_state = shape.encode(&state, diagnostics)?;
                response.new_identity = identities.encode(&identity, diagnostics)?;
            }
            Ok(None) => {
                // A resource may know more of it, and has told so.
                if diagnostics.iter().next().is_none() {
                    gone(&request.type_name, diagnostics);
                }
                response.new_state = None;
                response.new_identity = None;
            }
            // The state stays as it was.
            Err(Reported { .. }) => {}
        }
        response.private = context.private().to_bytes(diagnostics);
        response.deferred = deferred(&context);
        Ok(response)
    }

    pub(super) async fn import(
        &self,
        request: pb::import_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::import_resource_state::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        if self.must_defer(request.client_capabilities) {
            let deferred = PROVIDER_CONFIG_UNKNOWN;
            return Ok(pb::import_resource_state::Response { deferred, ..Default::default() });
        }
        let shape = self.shape(resource);
        let identities = Identities::of(resource);
        let given = identities.decode(request.identity.as_ref(), diagnostics)?;
        let import = if request.identity.is_some() {
            identities.check_import(&given, diagnostics)?;
            Import::Identity(&given)
        } else {
            Import::Id(&request.id)
        };
        let context = self.context(Timeouts::default().read);
        let returned = resource.import(&context, import, diagnostics).await?;
        let state = result::imported(&shape.schema, &returned, diagnostics)?;
        let identity = identities.imported(&given, &state, diagnostics)?;
        let imported = pb::import_resource_state::ImportedResource {
            type_name: request.type_name,
            state: shape.encode(&state, diagnostics)?,
            private: context.private().to_bytes(diagnostics),
            identity: identities.encode(&identity, diagnostics)?,
        };
        Ok(pb::import_resource_state::Response {
            imported_resources: vec![imported],
            ..Default::default()
        })
    }

    pub(super) fn generate(
        &self,
        request: &pb::generate_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::generate_resource_config::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let state = shape.decode(request.state.as_ref(), diagnostics)?;
        let config = generate_config(&shape.schema, &state);
        let config = shape.encode(&config, diagnostics)?;
        Ok(pb::generate_resource_config::Response { config, ..Default::default() })
    }
}

fn gone(type_name: &str, diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        Path::root(),
        "Object is gone",
        format!(
            "The object of this {type_name} no longer exists, so it is dropped from the state. The \
             next apply creates it anew, if the configuration still has it."
        ),
    );
}
