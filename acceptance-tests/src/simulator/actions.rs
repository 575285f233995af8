//! Actions: validated and planned with what is known, invoked with all known; lines come, and then one
//! end.

use anyhow::{Context, Result, bail, ensure};
use proto::tfplugin6::{self as pb, invoke_action::event::Type as Event};
use provider::{actions::ACTIONS, framework::Value, wire};

use super::{CAPABILITIES, Outcome, Simulator, known};

impl Simulator {
    /// Validates, plans and invokes; of the configuration only this is set. The lines it said.
    pub async fn invoke(&self, ty: &str, given: &[(&str, Value)]) -> Result<Outcome<Vec<String>>> {
        let action = ACTIONS.iter().find(|action| action.type_name() == ty);
        let schema = action.with_context(|| format!("no action `{ty}`"))?.schema();
        let given = given.iter().map(|(name, value)| (*name, value.clone()));
        let config = known::complete(&schema.attributes, &Value::object(given));
        let config = Some(wire::encode(&schema.value_type(), &config)?);
        let request = pb::validate_action_config::Request {
            type_name: ty.to_owned(),
            config: config.clone(),
        };
        let answer = self.client().validate_action_config(request).await?.into_inner();
        let told = self.told("ValidateActionConfig", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let request = pb::plan_action::Request {
            action_type: ty.to_owned(),
            config: config.clone(),
            client_capabilities: Some(CAPABILITIES),
        };
        let answer = self.client().plan_action(request).await?.into_inner();
        let told = self.told("PlanAction", &schema, answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        ensure!(answer.deferred.is_none(), "{ty} was deferred");
        let request = pb::invoke_action::Request {
            action_type: ty.to_owned(),
            config,
            client_capabilities: Some(CAPABILITIES),
        };
        let mut events = self.client().invoke_action(request).await?.into_inner();
        let mut lines = Vec::new();
        let end = loop {
            match events.message().await?.context("an action ended without saying so")?.r#type {
                Some(Event::Progress(progress)) => lines.push(progress.message),
                Some(Event::Completed(end)) => break end,
                None => bail!("an event of {ty} that is none"),
            }
        };
        ensure!(events.message().await?.is_none(), "{ty} goes on after its end");
        ensure!(lines.iter().all(|line| !line.trim().is_empty()), "{ty} says nothing in {lines:?}");
        let told = self.told("InvokeAction", &schema, end.diagnostics)?;
        Ok(if told.is_refusal() { told.refused(None) } else { Outcome::Done(lines) })
    }
}
