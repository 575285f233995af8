//! States and identities that were stored by another version, or for another type.

use super::{Server, identity::Identities, misread};
use crate::{
    framework::{
        Diagnostics, IdentitySchema, MoveSource, Path, Provider, Reported, Schema, Type, Upgrade,
        Value, result,
    },
    wire,
};
use proto::tfplugin6 as pb;

impl<P: Provider> Server<P> {
    pub(super) fn upgrade(
        &self,
        request: &pb::upgrade_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::upgrade_resource_state::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let json = stored_json(request.raw_state.as_ref(), diagnostics)?;
        let stored = (request.version, json);
        let state = climb(&shape.schema, resource.upgrades(), stored, diagnostics)?;
        Ok(pb::upgrade_resource_state::Response {
            upgraded_state: shape.encode(&state, diagnostics)?,
            ..Default::default()
        })
    }

    pub(super) fn upgrade_identity(
        &self,
        request: &pb::upgrade_resource_identity::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::upgrade_resource_identity::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let schema = resource.identity().ok_or_else(|| {
            diagnostics.error(
                Path::root(),
                "Identity of no use",
                format!(
                    "This version of the provider gives a {} no identity; the state was written by \
                     another version. Use that one, or newer.",
                    request.type_name
                ),
            )
        })?;
        let json = stored_json(request.raw_identity.as_ref(), diagnostics)?;
        let stored = (request.version, json);
        let identity = climb(&schema, resource.identity_upgrades(), stored, diagnostics)?;
        Ok(pb::upgrade_resource_identity::Response {
            upgraded_identity: Identities::of(resource).encode(&identity, diagnostics)?,
            ..Default::default()
        })
    }

    pub(super) fn move_state(
        &self,
        request: &pb::move_resource_state::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::move_resource_state::Response, Reported> {
        let resource = self.resource(&request.target_type_name, diagnostics)?;
        let shape = self.shape(resource);
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
        let identities = Identities::of(resource);
        let identity = identities.kept(&Value::Null, &state);
        Ok(pb::move_resource_state::Response {
            target_state: shape.encode(&state, diagnostics)?,
            target_private: request.source_private.clone(),
            target_identity: identities.encode(&identity, diagnostics)?,
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

/// The schema of something stored.
trait Form {
    /// What is stored, for people.
    const WHAT: &'static str;

    fn version(&self) -> i64;
    fn value_type(&self) -> Type;
    fn complete(&self, value: &Value, diagnostics: &mut Diagnostics) -> Result<Value, Reported>;
}

impl Form for Schema {
    const WHAT: &'static str = "state";

    fn version(&self) -> i64 {
        self.version
    }

    fn value_type(&self) -> Type {
        self.value_type()
    }

    fn complete(&self, value: &Value, diagnostics: &mut Diagnostics) -> Result<Value, Reported> {
        result::upgraded(self, value, diagnostics)
    }
}

impl Form for IdentitySchema {
    const WHAT: &'static str = "identity";

    fn version(&self) -> i64 {
        self.version
    }

    fn value_type(&self) -> Type {
        self.value_type()
    }

    fn complete(&self, value: &Value, diagnostics: &mut Diagnostics) -> Result<Value, Reported> {
        self.upgraded(value, diagnostics)
    }
}

/// Reads what is stored at its version and walks the links up to the current one.
fn climb<S: Form>(
    current: &S,
    links: &[Upgrade<S>],
    (stored_version, json): (i64, &[u8]),
    diagnostics: &mut Diagnostics,
) -> Result<Value, Reported> {
    let mut read = |form: &S| {
        wire::state_from_json(&form.value_type(), json)
            .map_err(|error| misread(&error, diagnostics))
    };
    let newest = current.version();
    if stored_version == newest {
        let value = read(current)?;
        return current.complete(&value, diagnostics);
    }
    let find = |version| links.iter().find(move |link| link.from == version);
    let Some(first) = find(stored_version) else {
        let what = S::WHAT;
        return Err(diagnostics.error(
            Path::root(),
            format!("Unknown version of the {what}"),
            format!(
                "The stored {what} has schema version {stored_version}; this version of the \
                 provider reads up to {newest}. Use the provider version that wrote it, or newer."
            ),
        ));
    };
    let mut value = read(&(first.schema)())?;
    for version in stored_version..newest {
        if let Some(link) = find(version) {
            value = (link.upgrade)(value, diagnostics)?;
        }
        value = match find(version + 1) {
            Some(next) => (next.schema)().complete(&value, diagnostics)?,
            None => current.complete(&value, diagnostics)?,
        };
    }
    Ok(value)
}
