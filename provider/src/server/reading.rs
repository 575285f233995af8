//! The calls that change nothing: validation, reading, data sources, and states from elsewhere
//! (imported, upgraded, moved).

use super::{Server, Shape, misread};
use crate::{
    framework::{
        Diagnostics, Import, MoveSource, Path, Provider, Read, Reported, Resource, Timeouts, Value,
        generate::generate_config,
        result::{self, Leftover},
        validate::{refuse_write_only, validate},
    },
    wire,
};
use proto::tfplugin6 as pb;

impl<P: Provider> Server<P> {
    pub(super) fn validate_resource(
        &self,
        request: &pb::validate_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_resource_config::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(resource.schema());
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
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        validate(&shape.schema, &config, diagnostics);
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
        let shape = Shape::new(resource.schema());
        let prior = shape.decode(request.current_state.as_ref(), diagnostics)?;
        let mut response =
            pb::read_resource::Response { new_state: request.current_state, ..Default::default() };
        let context = self.context(Timeouts::of(&prior).read).with_private(request.private);
        match resource.read(&context, Read { prior: &prior }, diagnostics).await {
            Ok(Some(read)) => {
                let sides = (&prior, &read);
                let state = result::settle(&shape.schema, sides, Leftover::Report, diagnostics)?;
                response.new_state = shape.encode(&state, diagnostics)?;
            }
            Ok(None) => {
                diagnostics.warning(
                    Path::root(),
                    "Object is gone",
                    format!(
                        "The object of this {} no longer exists, so it is dropped from the state. \
                         The next apply creates it anew, if the configuration still has it.",
                        request.type_name
                    ),
                );
                response.new_state = None;
            }
            // The state stays as it was.
            Err(Reported { .. }) => {}
        }
        response.private = context.private().to_bytes(diagnostics);
        Ok(response)
    }

    pub(super) async fn import(
        &self,
        request: pb::import_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::import_resource_state::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(resource.schema());
        let context = self.context(Timeouts::default().read);
        let import = Import { id: &request.id };
        let returned = resource.import(&context, import, diagnostics).await?;
        let state = result::imported(&shape.schema, &returned, diagnostics)?;
        let imported = pb::import_resource_state::ImportedResource {
            type_name: request.type_name,
            state: shape.encode(&state, diagnostics)?,
            ..Default::default()
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
        let shape = Shape::new(resource.schema());
        let state = shape.decode(request.state.as_ref(), diagnostics)?;
        let config = generate_config(&shape.schema, &state);
        let config = shape.encode(&config, diagnostics)?;
        Ok(pb::generate_resource_config::Response { config, ..Default::default() })
    }

    pub(super) fn upgrade(
        &self,
        request: &pb::upgrade_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::upgrade_resource_state::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(resource.schema());
        let stored = stored_json(request.raw_state.as_ref(), diagnostics)?;
        let state = upgrade_chain(resource, &shape, (request.version, stored), diagnostics)?;
        Ok(pb::upgrade_resource_state::Response {
            upgraded_state: shape.encode(&state, diagnostics)?,
            ..Default::default()
        })
    }

    pub(super) fn move_state(
        &self,
        request: &pb::move_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::move_resource_state::Response, Reported> {
        let resource = self.resource(&request.target_type_name, diagnostics)?;
        let shape = Shape::new(resource.schema());
        let stored = stored_json(request.source_state.as_ref(), diagnostics)?;
        let state =
            wire::untyped_from_json(stored).map_err(|error| misread(&error, diagnostics))?;
        let source = MoveSource {
            provider_address: &request.source_provider_address,
            type_name: &request.source_type_name,
            schema_version: request.source_schema_version,
            state: &state,
        };
        let moved = resource.move_from(source, diagnostics).unwrap_or_else(|| {
            Err(diagnostics.error(
                Path::root(),
                "Move not supported",
                format!(
                    "A {} can't be made of a `{}` of `{}`. Remove the moved block; use a removed \
                     block for the old resource and an import block for the new one.",
                    request.target_type_name,
                    request.source_type_name,
                    request.source_provider_address
                ),
            ))
        })?;
        let state = result::upgraded(&shape.schema, &moved, diagnostics)?;
        Ok(pb::move_resource_state::Response {
            target_state: shape.encode(&state, diagnostics)?,
            target_private: request.source_private.clone(),
            ..Default::default()
        })
    }
}

fn stored_json<'a>(
    stored: Option<&'a pb::RawState>,
    diagnostics: &mut Diagnostics,
) -> Result<&'a [u8], Reported> {
    let json = stored.map(|stored| stored.json.as_slice()).unwrap_or_default();
    if json.is_empty() {
        return Err(diagnostics.error(
            Path::root(),
            "State too old",
            "The stored state is not JSON: it was written by Terraform 0.11 or older. Upgrade it \
             with Terraform 0.12 first.",
        ));
    }
    Ok(json)
}

/// Reads the stored state at its version and walks the links up to the current one.
fn upgrade_chain<C>(
    resource: &dyn Resource<C>,
    shape: &Shape,
    (stored_version, stored): (i64, &[u8]),
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    let current = shape.schema.version;
    if stored_version == current {
        let state = wire::state_from_json(&shape.ty, stored)
            .map_err(|error| misread(&error, diagnostics))?;
        return result::upgraded(&shape.schema, &state, diagnostics);
    }
    let links = resource.upgrades();
    let find = |version| links.iter().find(move |link| link.from == version);
    let Some(first) = find(stored_version) else {
        return Err(diagnostics.error(
            Path::root(),
            "State of an unknown version",
            format!(
                "The stored state has schema version {stored_version}; this version of the \
                 provider reads up to {current}. Use the provider version that wrote it, or newer."
            ),
        ));
    };
    let old = (first.schema)().value_type();
    let mut state =
        wire::state_from_json(&old, stored).map_err(|error| misread(&error, diagnostics))?;
    for version in stored_version..current {
        if let Some(link) = find(version) {
            state = (link.upgrade)(state, diagnostics)?;
        }
        let next = find(version + 1).map_or_else(|| shape.schema.clone(), |link| (link.schema)());
        state = result::upgraded(&next, &state, diagnostics)?;
    }
    Ok(state)
}
