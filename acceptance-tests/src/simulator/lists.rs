//! Lists of the objects of a type: each with its identity, its state only where that is asked for, and
//! no more than wanted.

use anyhow::{Context, Result, ensure};
use proto::tfplugin6::{self as pb, diagnostic::Severity};
use provider::{
    framework::{Value, conformance::check_state},
    list_resources::LIST_RESOURCES,
    resources::RESOURCES,
    wire,
};

use super::{Outcome, Simulator, known, rules, rules::Told};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// Of the configuration only this is set.
    pub given: &'a [(&'a str, Value)],
    pub limit: i64,
    /// Whether the states are wanted.
    pub with_states: bool,
}

/// An object that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub display_name: String,
    pub identity: Value,
    /// Null when it was not asked for.
    pub state: Value,
}

impl Simulator {
    pub async fn list(&self, type_name: &str, listing: Listing<'_>) -> Result<Outcome<Vec<Found>>> {
        let list = LIST_RESOURCES.iter().find(|it| it.type_name() == type_name);
        let schema = list.with_context(|| format!("no list resource `{type_name}`"))?.schema();
        let given = listing.given.iter().map(|(name, value)| (*name, value.clone()));
        let config = known::complete(&schema.attributes, &Value::object(given));
        let config = Some(wire::encode(&schema.value_type(), &config)?);
        let request = pb::validate_list_resource_config::Request {
            type_name: type_name.to_owned(),
            config: config.clone(),
            ..Default::default()
        };
        let answer = self.client().validate_list_resource_config(request).await?.into_inner();
        let told = self.told("ValidateListResourceConfig", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let request = pb::list_resource::Request {
            type_name: type_name.to_owned(),
            config,
            include_resource_object: listing.with_states,
            limit: listing.limit,
        };
        let mut events = self.client().list_resource(request).await?.into_inner();
        let mut found = Vec::new();
        while let Some(mut event) = events.message().await? {
            let said = std::mem::take(&mut event.diagnostic);
            let is_message = said.iter().all(|it| it.severity() == Severity::Warning);
            let is_message = is_message && !said.is_empty() && event.identity.is_none();
            let told: Told = self.told("ListResource", &schema, said)?;
            if told.is_refusal() {
                let after = events.message().await?;
                ensure!(after.is_none(), "a list of {type_name} goes on after an error");
                return Ok(told.refused(None));
            }
            if !is_message {
                found.push(self.found(type_name, &event, listing)?);
            }
        }
        let count = i64::try_from(found.len())?;
        ensure!(count <= listing.limit, "{count} of {type_name}, where fewer were wanted");
        Ok(Outcome::Done(found))
    }

    fn found(
        &self,
        type_name: &str,
        event: &pb::list_resource::Event,
        listing: Listing<'_>,
    ) -> Result<Found> {
        let ty = self.identities.get(type_name);
        let ty = ty.with_context(|| format!("{type_name} is listed, and has no identity"))?;
        let sent = event.identity.as_ref().context("an object without an identity")?;
        let identity = wire::decode(ty, sent.identity_data.as_ref())?;
        ensure!(!identity.is_null() && identity.is_wholly_known(), "an identity that is not known");
        ensure!(!event.display_name.is_empty(), "an object of {type_name} without a name");
        ensure!(
            event.resource_object.is_some() == listing.with_states,
            "a state of {type_name} that was not asked for, or none that was"
        );
        let resource = RESOURCES.iter().find(|it| it.type_name() == type_name);
        let schema = resource.with_context(|| format!("no resource `{type_name}`"))?.schema();
        let state = wire::decode(&schema.value_type(), event.resource_object.as_ref())?;
        if listing.with_states {
            rules::clean("a listed state", &check_state(&schema, &state))?;
        }
        Ok(Found { display_name: event.display_name.clone(), identity, state })
    }
}
