//! Ephemeral resources: opened with a configuration that is known, renewed with what was given last,
//! closed with what opening gave, and once more, which is no error.

use anyhow::{Context, Result, ensure};
use proto::tfplugin6 as pb;
use provider::{
    ephemeral_resources::EPHEMERAL_RESOURCES,
    framework::{Plan, Schema, Value, conformance::check_plan},
    wire,
};

use super::{Outcome, Simulator, known, rules};

/// What was opened and is not closed yet.
#[derive(Debug)]
pub struct Opened {
    type_name: &'static str,
    pub result: Value,
    /// Seconds since 1970, when there is anything to renew.
    pub renew_at: Option<i64>,
    /// What closing is given.
    private: Option<Vec<u8>>,
    /// What the next renewal is given.
    renewed: Option<Vec<u8>>,
}

fn declared(type_name: &str) -> Result<(&'static str, Schema)> {
    let found = EPHEMERAL_RESOURCES.iter().find(|it| it.type_name() == type_name);
    let found = found.with_context(|| format!("no ephemeral resource `{type_name}`"))?;
    Ok((found.type_name(), found.schema()))
}

impl Simulator {
    /// Validates and opens; of the configuration only this is set.
    pub async fn open(&self, ty: &str, given: &[(&str, Value)]) -> Result<Outcome<Opened>> {
        let (type_name, schema) = declared(ty)?;
        let given = given.iter().map(|(name, value)| (*name, value.clone()));
        let config = known::complete(&schema.attributes, &Value::object(given));
        let encoded = Some(wire::encode(&schema.value_type(), &config)?);
        let request = pb::validate_ephemeral_resource_config::Request {
            type_name: type_name.to_owned(),
            config: encoded.clone(),
        };
        let answer = self.client().validate_ephemeral_resource_config(request).await?.into_inner();
        let told = self.told("ValidateEphemeralResourceConfig", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let request = pb::open_ephemeral_resource::Request {
            type_name: type_name.to_owned(),
            config: encoded,
            // Terraform leaves all of them out here.
            client_capabilities: Some(pb::ClientCapabilities::default()),
        };
        let answer = self.client().open_ephemeral_resource(request).await?.into_inner();
        let told = self.told("OpenEphemeralResource", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        ensure!(answer.deferred.is_none(), "an opening of {type_name} was deferred");
        let result = wire::decode(&schema.value_type(), answer.result.as_ref())?;
        let request = Plan { prior: &Value::Null, config: &config };
        rules::clean("what was opened", &check_plan(&schema, request, &result))?;
        ensure!(result.is_wholly_known(), "what was opened of {type_name} is not known");
        let renew_at = answer.renew_at.map(|at| at.seconds);
        let (private, renewed) = (answer.private.clone(), answer.private);
        Ok(Outcome::Done(Opened { type_name, result, renew_at, private, renewed }))
    }

    pub async fn renew(&self, opened: &mut Opened) -> Result<Outcome<()>> {
        let (_, schema) = declared(opened.type_name)?;
        let request = pb::renew_ephemeral_resource::Request {
            type_name: opened.type_name.to_owned(),
            private: opened.renewed.clone(),
        };
        let answer = self.client().renew_ephemeral_resource(request).await?.into_inner();
        let told = self.told("RenewEphemeralResource", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        opened.renew_at = answer.renew_at.map(|at| at.seconds);
        opened.renewed = answer.private;
        Ok(Outcome::Done(()))
    }

    /// Closes it twice.
    pub async fn release(&self, opened: Opened) -> Result<Outcome<()>> {
        let (_, schema) = declared(opened.type_name)?;
        for _ in 0..2 {
            let request = pb::close_ephemeral_resource::Request {
                type_name: opened.type_name.to_owned(),
                private: opened.private.clone(),
            };
            let answer = self.client().close_ephemeral_resource(request).await?.into_inner();
            let told = self.told("CloseEphemeralResource", &schema, answer.diagnostics)?;
            if told.is_refusal() {
                return Ok(told.refused(None));
            }
        }
        Ok(Outcome::Done(()))
    }
}
