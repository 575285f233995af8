//! Identities on their way through a call: read, made of states, held against what they were, and
//! written.
//!
//! Holds: a resource without identities has none to give; one with them gives a complete one with
//! every state that an operation finished, and the one before with a state that it didn't.

use super::misread;
use crate::{
    framework::{Diagnostics, IdentitySchema, Path, Planned, Reported, Resource, Value},
    wire,
};
use proto::tfplugin6 as pb;

/// The identities of a resource type. Null stands for none.
pub(super) struct Identities<'a, C> {
    resource: &'a dyn Resource<C>,
    schema: Option<IdentitySchema>,
}

impl<'a, C> Identities<'a, C> {
    pub(super) fn of(resource: &'a dyn Resource<C>) -> Self {
        Self { resource, schema: resource.identity() }
    }

    pub(super) fn decode(
        &self,
        data: Option<&pb::ResourceIdentityData>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let Some(schema) = &self.schema else { return Ok(Value::Null) };
        let data = data.and_then(|data| data.identity_data.as_ref());
        wire::decode(&schema.value_type(), data).map_err(|error| misread(&error, diagnostics))
    }

    pub(super) fn encode(
        &self,
        identity: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<pb::ResourceIdentityData>, Reported> {
        match &self.schema {
            Some(schema) if !identity.is_null() => encode(schema, identity, diagnostics).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// Of what is planned: none where a new object is made whose identity is not known yet. Terraform
    /// takes unknown values here, and then can not show the plan as JSON.
    pub(super) fn planned(
        &self,
        before: &Value,
        (prior, planned): (&Value, &Planned),
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let Some(schema) = &self.schema else { return Ok(Value::Null) };
        if planned.state.is_null() {
            return Ok(self.kept(before, prior));
        }
        let after = self.resource.identify(schema, &planned.state);
        if prior.is_null() || !planned.replace.is_empty() {
            return Ok(if after.is_wholly_known() { after } else { Value::Null });
        }
        let before = self.kept(before, prior);
        refuse_changes(&schema.changes(&before, &after), diagnostics)?;
        let completed = schema.completed(&before, &after);
        Ok(if completed.is_wholly_known() { completed } else { before })
    }

    /// Of a state that an operation finished; `before` is what it was or was planned to be.
    pub(super) fn settled(
        &self,
        before: &Value,
        state: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let Some(schema) = &self.schema else { return Value::Null };
        let now = self.resource.identify(schema, state);
        if schema.is_complete(&now) {
            // Told; and what is told doesn't change what is stored.
            let _told = refuse_changes(&schema.changes(before, &now), diagnostics);
        } else {
            incomplete(diagnostics);
        }
        self.kept(before, state)
    }

    /// Of a state that holds after a failure: as before, if it had one.
    pub(super) fn kept(&self, before: &Value, state: &Value) -> Value {
        let Some(schema) = &self.schema else { return Value::Null };
        let now = self.resource.identify(schema, state);
        match (schema.is_complete(before), schema.is_complete(&now)) {
            (true, true) => schema.completed(before, &now),
            (true, false) => before.clone(),
            (false, true) => now,
            (false, false) => Value::Null,
        }
    }

    /// Checks an identity that a user gave to find an object by.
    pub(super) fn check_import(
        &self,
        identity: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        match &self.schema {
            Some(schema) => schema.check_import(identity, diagnostics),
            None => Err(diagnostics.error(
                Path::root(),
                "No import by identity",
                format!(
                    "A {} has no identity. Write `id = \"...\"` in the import block instead.",
                    self.resource.type_name()
                ),
            )),
        }
    }

    /// Of an imported state, found by what was given (null: by an id). None if only reading tells.
    pub(super) fn imported(
        &self,
        given: &Value,
        state: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let Some(schema) = &self.schema else { return Ok(Value::Null) };
        let found = self.resource.identify(schema, state);
        refuse_changes(&schema.changes(given, &found), diagnostics)?;
        let identity = schema.completed(&found, given);
        Ok(if schema.is_complete(&identity) { identity } else { Value::Null })
    }
}

pub(super) fn encode(
    schema: &IdentitySchema,
    identity: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<pb::ResourceIdentityData, Reported> {
    let data = wire::encode(&schema.value_type(), identity).map_err(|error| {
        diagnostics.error(
            Path::root(),
            "Identity of the wrong type",
            format!(
                "The provider produced {error}. This is a bug in the provider; please report it."
            ),
        )
    })?;
    Ok(pb::ResourceIdentityData { identity_data: Some(data) })
}

pub(super) fn incomplete(diagnostics: &mut Diagnostics) -> Reported {
    diagnostics.error(
        Path::root(),
        "Identity missing",
        "The provider did not tell which object this is: its identity is not complete. This is a \
         bug in the provider; please report it.",
    )
}

fn refuse_changes(names: &[&str], diagnostics: &mut Diagnostics) -> Result<(), Reported> {
    let [first, ..] = names else { return Ok(()) };
    Err(diagnostics.error(
        *first,
        "Identity changed",
        format!(
            "The identity of an object never changes, and this one's does, in `{}`: it is another \
             object than before. Look what became of the one in the state; to manage the other \
             one, take this one out of the state and import the other.",
            names.join("`, `")
        ),
    ))
}
