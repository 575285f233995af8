//! The calls that plan and change a managed resource.

use super::{
    PROVIDER_CONFIG_UNKNOWN, Server, Shape, allows_deferral, deferred, identity::Identities,
};
use crate::{
    framework::{
        Context, Create, Delete, Diagnostics, Failed, Path, Plan, Provider, Reported, Resource,
        Timeouts, Update, Value, conformance,
        plan::{self, plan},
        result::{self, Leftover},
    },
    wire::path_to_proto,
};
use proto::tfplugin6 as pb;
use std::time::Duration;

impl<P: Provider> Server<P> {
    pub(super) async fn plan(
        &self,
        request: pb::plan_resource_change::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::plan_resource_change::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let prior = shape.decode(request.prior_state.as_ref(), diagnostics)?;
        let proposed = shape.decode(request.proposed_new_state.as_ref(), diagnostics)?;
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        let identities = Identities::of(resource);
        let identity = identities.decode(request.prior_identity.as_ref(), diagnostics)?;
        // What an earlier plan of the same change decided, where the CLI hands it back.
        let private = Some(request.planned_private).filter(|planned| !planned.is_empty());
        let private = private.unwrap_or(request.prior_private);
        let sides = Plan { prior: &prior, config: &config };
        let shared = plan(&shape.schema, sides, &proposed);

        let mut context = self.context(Timeouts::of(&prior).read).with_private(private);
        // In the walk that applies, the CLI allows what it then doesn't take; but there everything
        // is known.
        if allows_deferral(request.client_capabilities) && !config.is_wholly_known() {
            context = context.deferrable();
        }
        let mut planned = shared.clone();
        let mut deferral = PROVIDER_CONFIG_UNKNOWN;
        if !self.must_defer(request.client_capabilities) {
            resource.plan(&context, sides, &mut planned, diagnostics).await?;
            planned = plan::after_hook(&shape.schema, sides, &shared, planned);
            deferral = deferred(&context);
        }
        let identity = identities.planned(&identity, (&prior, &planned), diagnostics)?;
        let mut requires_replace: Vec<_> = planned.replace.iter().map(path_to_proto).collect();
        requires_replace.dedup();
        Ok(pb::plan_resource_change::Response {
            planned_state: shape.encode(&planned.state, diagnostics)?,
            requires_replace,
            planned_private: context.private().to_bytes(diagnostics),
            planned_identity: identities.encode(&identity, diagnostics)?,
            deferred: deferral,
            ..Default::default()
        })
    }

    pub(super) async fn apply(
        &self,
        request: pb::apply_resource_change::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::apply_resource_change::Response, Reported> {
        let resource = self.resource(&request.type_name, diagnostics)?;
        let shape = self.shape(resource);
        let prior = shape.decode(request.prior_state.as_ref(), diagnostics)?;
        let planned = shape.decode(request.planned_state.as_ref(), diagnostics)?;
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        let identities = Identities::of(resource);
        let before = identities.decode(request.planned_identity.as_ref(), diagnostics)?;
        let change = Change { prior: &prior, planned: &planned, config: &config };
        let context = self.context(change.time()).with_private(request.planned_private);
        let state = carry_out(resource, &shape, (change, &context), diagnostics).await;
        let identity = if state.is_null() {
            Value::Null
        } else if diagnostics.has_errors() {
            identities.kept(&before, &state)
        } else {
            identities.settled(&before, &state, diagnostics)
        };
        Ok(pb::apply_resource_change::Response {
            new_state: shape.encode(&state, diagnostics)?,
            private: context.private().to_bytes(diagnostics),
            new_identity: identities.encode(&identity, diagnostics)?,
            ..Default::default()
        })
    }
}

#[derive(Clone, Copy)]
struct Change<'a> {
    prior: &'a Value,
    planned: &'a Value,
    config: &'a Value,
}

impl Change<'_> {
    /// How long it may take.
    fn time(self) -> Duration {
        match (self.prior.is_null(), self.planned.is_null()) {
            (_, true) => Timeouts::of(self.prior).delete,
            (true, false) => Timeouts::of(self.planned).create,
            (false, false) => Timeouts::of(self.planned).update,
        }
    }
}

/// Carries out a change and gives the state that holds after it, whatever happened.
async fn carry_out<C>(
    resource: &dyn Resource<C>,
    shape: &Shape,
    (change, context): (Change<'_>, &Context<C>),
    diagnostics: &mut Diagnostics,
) -> Value {
    let Change { prior, planned, config } = change;
    if planned.is_null() {
        return match resource.delete(context, Delete { prior }, diagnostics).await {
            Ok(()) => Value::Null,
            Err(Reported { .. }) => prior.clone(),
        };
    }
    let result = if prior.is_null() {
        resource.create(context, Create { planned, config }, diagnostics).await
    } else {
        resource.update(context, Update { prior, planned, config }, diagnostics).await
    };
    match result {
        Ok(returned) => applied(shape, planned, &returned, diagnostics),
        Err(Failed { state: None, .. }) => prior.clone(),
        Err(Failed { state: Some(state), .. }) => {
            // What a failed update leaves out is as it was; after a failed create, as planned.
            let reference = if prior.is_null() { planned } else { prior };
            result::settle(&shape.schema, (reference, &state), Leftover::Null, diagnostics)
                .unwrap_or_else(|Reported { .. }| prior.clone())
        }
    }
}

/// The state after a success: complete, or with an error that says what is missing or differs.
fn applied(
    shape: &Shape,
    planned: &Value,
    returned: &Value,
    diagnostics: &mut Diagnostics,
) -> Value {
    let schema = &shape.schema;
    let sides = (planned, returned);
    let state = match result::settle(schema, sides, Leftover::Report, diagnostics) {
        Ok(state) => state,
        // It exists all the same: store what is known of it.
        Err(Reported { .. }) => {
            return result::settle(schema, sides, Leftover::Null, &mut Diagnostics::new())
                .unwrap_or(Value::Null);
        }
    };
    for violation in conformance::check_apply(schema, planned, &state) {
        let path: &Path = &violation.path;
        diagnostics.error(
            path.clone(),
            "Result differs from the plan",
            format!(
                "After apply, `{path}` is not what was planned: {}. Plan again to see how it \
                 stands now; if the difference comes back, please report a bug in the provider.",
                violation.what
            ),
        );
    }
    state
}
