//! The calls on a managed resource, in the order in which Terraform makes them, each answer checked.
//!
//! What always holds: a plan is asked for twice and is the same, byte for byte; bytes of the provider's
//! own come back as they were given; a state is stored as JSON and upgraded before it is read.

use anyhow::{Context, Result, ensure};
use proto::tfplugin6::{self as pb, DynamicValue};
use provider::{
    client::Client,
    framework::{
        Diagnostics, Plan, Resource as Declared, Schema, Type, Value,
        conformance::{check_apply, check_final_plan, check_plan, check_state, proposed_new_state},
        validate,
    },
    wire,
};

use super::{CAPABILITIES, Outcome, Simulator, rules, rules::Told};

/// What Terraform stores of an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stored {
    /// Null when there is no object.
    pub state: Value,
    /// The provider's own bytes.
    pub private: Vec<u8>,
    /// Null for types without.
    pub identity: Value,
}

/// What a plan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Create,
    Delete,
    NoOp,
    Replace,
    Update,
}

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub action: Action,
    pub prior: Stored,
    /// The state after; null when it is to be deleted.
    pub state: Value,
    /// Where a new object is needed.
    pub replace: Vec<pb::AttributePath>,
    private: Vec<u8>,
    identity: Value,
}

/// A type of managed resources at a provider.
pub struct Resource<'a> {
    simulator: &'a Simulator,
    declared: &'static dyn Declared<Client>,
    /// As the provider declares it.
    pub schema: Schema,
    ty: Type,
}

/// What a type of resources asks of configurations; can be held against them without a process.
#[derive(Clone)]
pub struct Rules {
    declared: &'static dyn Declared<Client>,
    schema: Schema,
}

impl Rules {
    pub fn allow(&self, config: &Value) -> bool {
        let mut diagnostics = Diagnostics::new();
        validate::validate(&self.schema, config, &mut diagnostics);
        self.declared.validate(config, &mut diagnostics);
        !diagnostics.has_errors()
    }
}

/// What was done; a refusal is the caller's refusal too.
macro_rules! or_refuse {
    ($outcome:expr) => {
        match $outcome {
            Outcome::Done(done) => done,
            Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
        }
    };
}

/// In which walk a plan is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk<'a> {
    Plan,
    /// With the provider's own bytes of the first plan.
    Apply(&'a [u8]),
}

impl Stored {
    /// With bytes among the provider's own that another version of it may have kept.
    #[must_use]
    pub fn marked(mut self) -> Self {
        if self.private.is_empty() {
            self.private = rules::MARKED.to_vec();
        }
        self
    }
}

impl<'a> Resource<'a> {
    pub(super) fn new(simulator: &'a Simulator, declared: &'static dyn Declared<Client>) -> Self {
        let schema = declared.schema();
        let ty = schema.value_type();
        Self { simulator, declared, schema, ty }
    }

    pub fn type_name(&self) -> &'static str {
        self.declared.type_name()
    }

    /// A configuration of which only this is set.
    pub fn config(&self, given: &[(&str, Value)]) -> Value {
        let given = given.iter().map(|(name, value)| (*name, value.clone()));
        super::known::complete(&self.schema.attributes, &Value::object(given))
    }

    /// The declared rules.
    pub fn rules(&self) -> Rules {
        Rules { declared: self.declared, schema: self.schema.clone() }
    }

    pub async fn validate(&self, config: &Value) -> Result<Outcome<()>> {
        let request = pb::validate_resource_config::Request {
            type_name: self.type_name().to_owned(),
            config: self.encode(config)?,
            client_capabilities: Some(CAPABILITIES),
        };
        let answer = self.simulator.client().validate_resource_config(request).await?;
        let told = self.told("ValidateResourceConfig", answer.into_inner().diagnostics)?;
        Ok(if told.is_refusal() { told.refused(None) } else { Outcome::Done(()) })
    }

    /// Validates a configuration (null: none, so delete) and plans the way to it.
    pub async fn plan(&self, prior: &Stored, config: &Value) -> Result<Outcome<Planned>> {
        self.plan_in(Walk::Plan, prior, config).await
    }

    async fn plan_in(
        &self,
        walk: Walk<'_>,
        prior: &Stored,
        config: &Value,
    ) -> Result<Outcome<Planned>> {
        if !config.is_null() {
            or_refuse!(self.validate(config).await?);
        }
        let mut planned = or_refuse!(self.plan_change(walk, prior, config).await?);
        if planned.replace.is_empty() {
            return Ok(Outcome::Done(planned));
        }
        // A new object in place of the old one is planned once more, from nothing.
        let from = Stored { private: planned.private.clone(), ..Stored::default() };
        let anew = or_refuse!(self.plan_change(walk, &from, config).await?);
        planned.action = Action::Replace;
        Ok(Outcome::Done(Planned { state: anew.state, private: anew.private, ..planned }))
    }

    /// One PlanResourceChange, asked twice.
    async fn plan_change(
        &self,
        walk: Walk<'_>,
        prior: &Stored,
        config: &Value,
    ) -> Result<Outcome<Planned>> {
        let proposed = proposed_new_state(&self.schema, &prior.state, config);
        let request = pb::plan_resource_change::Request {
            type_name: self.type_name().to_owned(),
            prior_state: self.encode(&prior.state)?,
            proposed_new_state: self.encode(&proposed)?,
            config: self.encode(config)?,
            prior_private: prior.private.clone(),
            client_capabilities: Some(pb::ClientCapabilities {
                deferral_allowed: walk != Walk::Plan,
                ..CAPABILITIES
            }),
            prior_identity: self.encode_identity(&prior.identity)?,
            planned_private: match walk {
                Walk::Plan => Vec::new(),
                Walk::Apply(planned) => planned.to_vec(),
            },
            ..Default::default()
        };
        let mut client = self.simulator.client();
        let answer = client.plan_resource_change(request.clone()).await?.into_inner();
        let again = client.plan_resource_change(request).await?.into_inner();
        let told = self.told("PlanResourceChange", answer.diagnostics.clone())?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        ensure!(answer == again, "{}: the same question got two plans", self.type_name());
        ensure!(answer.deferred.is_none(), "{}: a plan was deferred", self.type_name());
        ensure!(!answer.legacy_type_system, "{}: a plan asks for leniency", self.type_name());
        rules::private("a plan", &prior.private, &answer.planned_private)?;
        let planned = self.checked_plan(prior, config, answer)?;
        Ok(Outcome::Done(planned))
    }

    fn checked_plan(
        &self,
        prior: &Stored,
        config: &Value,
        answer: pb::plan_resource_change::Response,
    ) -> Result<Planned> {
        let what = || format!("the plan of {}", self.type_name());
        let state = self.decode(answer.planned_state.as_ref())?;
        let request = Plan { prior: &prior.state, config };
        rules::clean(&what(), &check_plan(&self.schema, request, &state))?;
        rules::replacement(&self.schema, &answer.requires_replace, (&prior.state, &state))
            .with_context(what)?;
        let action = match (&prior.state, &state) {
            (Value::Null, _) => Action::Create,
            (_, Value::Null) => Action::Delete,
            (prior, planned) if prior == planned => Action::NoOp,
            _ => Action::Update,
        };
        if action == Action::NoOp {
            let before = self.encode(&prior.state)?;
            ensure!(answer.planned_state == before, "{}: nothing to do in other bytes", what());
        }
        let identity = self.decode_identity(answer.planned_identity.as_ref())?;
        let kept = matches!(action, Action::NoOp | Action::Update);
        ensure!(!kept || identity == prior.identity, "{}: another identity", what());
        Ok(Planned {
            action,
            prior: prior.clone(),
            state,
            replace: answer.requires_replace,
            private: answer.planned_private,
            identity,
        })
    }

    /// Carries out a plan. `config` is what it was made of, with all of it known by now.
    pub async fn apply(&self, planned: &Planned, config: &Value) -> Result<Outcome<Stored>> {
        let mut prior = planned.prior.clone();
        match planned.action {
            Action::NoOp => return Ok(Outcome::Done(prior)),
            Action::Delete => return self.delete(&prior).await,
            Action::Replace => {
                prior = or_refuse!(self.delete(&prior).await?);
            }
            Action::Create | Action::Update => {}
        }
        let plan = or_refuse!(self.plan_in(Walk::Apply(&planned.private), &prior, config).await?);
        let violations = check_final_plan(&self.schema, &planned.state, &plan.state);
        rules::clean(&format!("the final plan of {}", self.type_name()), &violations)?;
        let may = match planned.action {
            Action::Update => [Action::Update, Action::NoOp],
            _ => [Action::Create; 2],
        };
        ensure!(may.contains(&plan.action), "planned {planned:?}, and in the end {plan:?}");
        if plan.action == Action::NoOp {
            return Ok(Outcome::Done(prior));
        }
        self.apply_change(&plan, config).await
    }

    async fn apply_change(&self, plan: &Planned, config: &Value) -> Result<Outcome<Stored>> {
        let request = pb::apply_resource_change::Request {
            type_name: self.type_name().to_owned(),
            prior_state: self.encode(&plan.prior.state)?,
            planned_state: self.encode(&plan.state)?,
            config: self.encode(config)?,
            planned_private: plan.private.clone(),
            planned_identity: self.encode_identity(&plan.identity)?,
            ..Default::default()
        };
        let answer = self.simulator.client().apply_resource_change(request).await?.into_inner();
        let told = self.told("ApplyResourceChange", answer.diagnostics)?;
        ensure!(!answer.legacy_type_system, "{}: a result asks for leniency", self.type_name());
        rules::private("a result", &plan.private, &answer.private)?;
        let state = self.decode(answer.new_state.as_ref())?;
        let identity = self.decode_identity(answer.new_identity.as_ref())?;
        let stored = Stored { state, private: answer.private, identity };
        let what = format!("the result of {}", self.type_name());
        if told.is_refusal() {
            let left = (!stored.state.is_null()).then_some(stored);
            if let Some(left) = &left {
                rules::clean(&what, &check_state(&self.schema, &left.state))?;
            }
            return Ok(told.refused(left));
        }
        rules::clean(&what, &check_apply(&self.schema, &plan.state, &stored.state))?;
        ensure!(stored.state.is_null() == plan.state.is_null(), "{what}: there and not there");
        if !stored.state.is_null() {
            self.check_identity(&what, &plan.identity, &stored.identity)?;
        }
        Ok(Outcome::Done(stored))
    }

    /// Plans a deletion and carries it out.
    async fn delete(&self, prior: &Stored) -> Result<Outcome<Stored>> {
        let plan = or_refuse!(self.plan_in(Walk::Apply(&[]), prior, &Value::Null).await?);
        or_refuse!(self.apply_change(&plan, &Value::Null).await?);
        Ok(Outcome::Done(Stored::default()))
    }

    /// Reads a stored state back, and then the object. Null when it is gone.
    pub async fn refresh(&self, stored: &Stored) -> Result<Outcome<Stored>> {
        let upgraded = or_refuse!(self.upgrade(&stored.state).await?);
        ensure!(upgraded == stored.state, "{}: a state is read back changed", self.type_name());
        self.read(stored).await
    }

    /// The upgrade of a state of the present version.
    pub async fn upgrade(&self, state: &Value) -> Result<Outcome<Value>> {
        let json = wire::to_json(&self.ty, state)?;
        let request = pb::upgrade_resource_state::Request {
            type_name: self.type_name().to_owned(),
            version: self.schema.version,
            raw_state: Some(pb::RawState { json, ..Default::default() }),
        };
        let answer = self.simulator.client().upgrade_resource_state(request).await?.into_inner();
        let told = self.told("UpgradeResourceState", answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let upgraded = self.decode(answer.upgraded_state.as_ref())?;
        rules::clean("an upgraded state", &check_state(&self.schema, &upgraded))?;
        Ok(Outcome::Done(upgraded))
    }

    async fn read(&self, stored: &Stored) -> Result<Outcome<Stored>> {
        let request = pb::read_resource::Request {
            type_name: self.type_name().to_owned(),
            current_state: self.encode(&stored.state)?,
            private: stored.private.clone(),
            client_capabilities: Some(CAPABILITIES),
            current_identity: self.encode_identity(&stored.identity)?,
            ..Default::default()
        };
        let answer = self.simulator.client().read_resource(request).await?.into_inner();
        let told = self.told("ReadResource", answer.diagnostics)?;
        ensure!(answer.deferred.is_none(), "{}: a reading was deferred", self.type_name());
        rules::private("a reading", &stored.private, &answer.private)?;
        let state = self.decode(answer.new_state.as_ref())?;
        if told.is_refusal() {
            ensure!(state == stored.state, "a reading that failed changed the state");
            return Ok(told.refused(Some(stored.clone())));
        }
        if state.is_null() {
            ensure!(!told.diagnostics.is_empty(), "an object is gone, and nobody is warned");
            return Ok(Outcome::Done(Stored::default()));
        }
        let what = format!("the state read of {}", self.type_name());
        rules::clean(&what, &check_state(&self.schema, &state))?;
        let identity = self.decode_identity(answer.new_identity.as_ref())?;
        self.check_identity(&what, &stored.identity, &identity)?;
        Ok(Outcome::Done(Stored { state, private: answer.private, identity }))
    }

    /// Imports by what a user types, and reads.
    pub async fn import(&self, id: &str) -> Result<Outcome<Stored>> {
        self.import_with(pb::import_resource_state::Request {
            id: id.to_owned(),
            ..Default::default()
        })
        .await
    }

    /// Imports by identity, and reads.
    pub async fn import_by_identity(&self, identity: &Value) -> Result<Outcome<Stored>> {
        let identity = self.encode_identity(identity)?;
        ensure!(identity.is_some(), "{} has no identity", self.type_name());
        self.import_with(pb::import_resource_state::Request { identity, ..Default::default() })
            .await
    }

    async fn import_with(
        &self,
        request: pb::import_resource_state::Request,
    ) -> Result<Outcome<Stored>> {
        let by_identity = request.identity.is_some();
        let request = pb::import_resource_state::Request {
            type_name: self.type_name().to_owned(),
            client_capabilities: Some(CAPABILITIES),
            ..request
        };
        let answer = self.simulator.client().import_resource_state(request).await?.into_inner();
        let told = self.told("ImportResourceState", answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        ensure!(answer.deferred.is_none(), "{}: an import was deferred", self.type_name());
        let [imported] = answer.imported_resources.as_slice() else {
            anyhow::bail!("an import brought {} objects", answer.imported_resources.len());
        };
        ensure!(imported.type_name == self.type_name(), "an import brought {}", imported.type_name);
        let state = self.decode(imported.state.as_ref())?;
        ensure!(!state.is_null(), "an import brought null");
        rules::clean("an imported state", &check_state(&self.schema, &state))?;
        let identity = self.decode_identity(imported.identity.as_ref())?;
        ensure!(!by_identity || !identity.is_null(), "an import by identity brought none");
        self.read(&Stored { state, private: imported.private.clone(), identity }).await
    }

    /// A configuration that leads to the state.
    pub async fn generate(&self, stored: &Stored) -> Result<Outcome<Value>> {
        let request = pb::generate_resource_config::Request {
            type_name: self.type_name().to_owned(),
            state: self.encode(&stored.state)?,
        };
        let answer = self.simulator.client().generate_resource_config(request).await?.into_inner();
        let told = self.told("GenerateResourceConfig", answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        Ok(Outcome::Done(self.decode(answer.config.as_ref())?))
    }

    /// Takes over the state of another type; `state` is its JSON.
    pub async fn move_from(&self, provider: &str, ty: &str, state: &str) -> Result<Outcome<Value>> {
        let json = state.as_bytes().to_vec();
        let request = pb::move_resource_state::Request {
            source_provider_address: provider.to_owned(),
            source_type_name: ty.to_owned(),
            source_state: Some(pb::RawState { json, ..Default::default() }),
            target_type_name: self.type_name().to_owned(),
            ..Default::default()
        };
        let answer = self.simulator.client().move_resource_state(request).await?.into_inner();
        let told = self.told("MoveResourceState", answer.diagnostics)?;
        if told.is_refusal() {
            return Ok(told.refused(None));
        }
        let state = self.decode(answer.target_state.as_ref())?;
        rules::clean("a moved state", &check_state(&self.schema, &state))?;
        Ok(Outcome::Done(state))
    }

    fn told(&self, call: &'static str, diagnostics: Vec<pb::Diagnostic>) -> Result<Told> {
        self.simulator.told(call, &self.schema, diagnostics).context(self.type_name())
    }

    fn encode(&self, value: &Value) -> Result<Option<DynamicValue>> {
        Ok(Some(wire::encode(&self.ty, value)?))
    }

    fn decode(&self, value: Option<&DynamicValue>) -> Result<Value> {
        let answers_json = value.is_some_and(|it| it.msgpack.is_empty() && !it.json.is_empty());
        ensure!(!answers_json, "{}: an answer in JSON", self.type_name());
        wire::decode(&self.ty, value).with_context(|| format!("an answer on {}", self.type_name()))
    }

    fn identity_type(&self) -> Option<&Type> {
        self.simulator.identities.get(self.type_name())
    }

    fn encode_identity(&self, identity: &Value) -> Result<Option<pb::ResourceIdentityData>> {
        let Some(ty) = self.identity_type().filter(|_| !identity.is_null()) else {
            return Ok(None);
        };
        let identity_data = Some(wire::encode(ty, identity)?);
        Ok(Some(pb::ResourceIdentityData { identity_data }))
    }

    fn decode_identity(&self, identity: Option<&pb::ResourceIdentityData>) -> Result<Value> {
        let Some(identity) = identity else { return Ok(Value::Null) };
        let ty = self.identity_type();
        let ty =
            ty.with_context(|| format!("{} has no identity, but sends one", self.type_name()))?;
        Ok(wire::decode(ty, identity.identity_data.as_ref())?)
    }

    /// An object of a type with identities has one, wholly known, that never changes.
    fn check_identity(&self, what: &str, before: &Value, now: &Value) -> Result<()> {
        if self.identity_type().is_none() {
            return Ok(());
        }
        ensure!(!now.is_null() && now.is_wholly_known(), "{what}: no identity, or not known");
        let same = before.is_null()
            || before.entries().all(|(name, value)| value.is_unknown() || now.get(name) == value)
            || before.is_unknown();
        ensure!(same, "{what}: another identity than before");
        Ok(())
    }
}
