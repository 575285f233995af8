//! The operations of [`Managed`] that talk to the host.

use std::time::Duration;

use tokio::time::{self, Instant};

use super::{Kind, Managed, Settled, labels, report};
use crate::{
    client::{CallError, Client, Draft, Noun, noun::key},
    framework::{
        Context, Create, Diagnostics, Failed, Mode, Path, Reported, Resource as _, Update, Value,
    },
};

/// How often a write is tried that was made from a revision that is no longer the last.
const CONFLICTS_MAX: u32 = 5;
/// What follows from a creation that fails though its object exists.
pub(crate) const TAINTED: &str = "\n\nTerraform takes it for tainted, and the next apply replaces \
    it. To change it in place instead (as you must if it is protected from deletion), first run \
    `terraform untaint ADDRESS`, where ADDRESS is this resource's in the configuration.";
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LOOK_AGAIN_MAX: Duration = Duration::from_secs(1);

type Asked<K> = Draft<<<K as Kind>::Noun as Noun>::Spec>;

/// An update.
struct Rewrite<'a, K: Kind> {
    id: &'a str,
    before: &'a Asked<K>,
    draft: Asked<K>,
    /// Nobody can tell whether the host has it already.
    sends_secret: bool,
}

impl<K: Kind> Managed<K> {
    pub(super) async fn read_state(
        &self,
        context: &Context<Client>,
        prior: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Value>, Reported> {
        let client = context.client(diagnostics)?;
        let noun = match client.get::<K::Noun>(prior.text("id"), context).await {
            Ok(noun) => noun,
            Err(error) if error.is_not_found() => {
                gone::<K>(prior, "no longer exists", diagnostics);
                return Ok(None);
            }
            Err(error) => return Err(self.report(&error, diagnostics)),
        };
        if let Some(how) = self.0.ending(&noun) {
            gone::<K>(prior, &format!("has ended ({how})"), diagnostics);
            return Ok(None);
        }
        if noun.metadata().deleting_since.is_some() {
            is_going(&noun, diagnostics);
        }
        let mut state = self.state(&noun);
        let own = labels::own(&noun.metadata().labels, prior, client.default_labels());
        state.set_attribute("labels", own);
        Ok(Some(state))
    }

    pub(super) async fn create_new(
        &self,
        context: &Context<Client>,
        Create { planned, config }: Create<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Failed> {
        let client = context.client(diagnostics)?;
        let draft = self.draft(&self.with_secrets(&Value::Null, planned, config), client);
        let mut created = match client.create::<K::Noun>(draft.clone(), context).await {
            Ok(created) => created,
            Err(error) => {
                let reported = self.report(&error, diagnostics);
                if !error.may_be_done {
                    return Err(reported.into());
                }
                let left = self.left_behind(context, &draft, diagnostics).await;
                return Err(Failed { state: left, reported });
            }
        };
        let change = (&Value::Null, planned);
        let settled = self.0.settle(context, &mut created, change, diagnostics).await;
        seen_through::<K>(self.state(&created), change, settled)
    }

    /// What was given up waiting for is planned to be waited for again.
    pub(super) fn plan_to_wait(&self, prior: &Value, planned: &mut Value) {
        let Some(name) = K::SEEN_THROUGH else { return };
        if prior.get(name).as_bool() == Some(false) {
            match self.0.waits(planned) {
                Some(true) => planned.set_attribute(name, true),
                Some(false) => {}
                None => planned.set_attribute(name, Value::UNKNOWN),
            }
        }
    }

    /// Looks for what a creation left behind whose answer got lost. Its state, if it is there.
    async fn left_behind(
        &self,
        context: &Context<Client>,
        draft: &Asked<K>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let client = context.client_if_configured()?;
        let (kind, key) = (K::Noun::KIND, draft.key());
        match client.glance_at_last::<K::Noun>(&key, context).await {
            Ok(noun) if self.0.ending(&noun).is_some() => None,
            Ok(noun) if self.differences(&noun, draft).is_empty() => {
                diagnostics.warning(
                    Path::root(),
                    "Created all the same",
                    format!(
                        "The {kind} `{key}` is on the host, as planned, and is kept in the \
                         state.{TAINTED}"
                    ),
                );
                Some(self.state(&noun))
            }
            Err(error) if error.is_not_found() => None,
            Ok(_) | Err(_) => {
                diagnostics.warning(
                    Path::root(),
                    "It may exist all the same",
                    format!(
                        "Whether the host has created the {kind} `{key}` is not known, and it is not \
                         in the state. If the next apply finds its name taken, bring it under \
                         management: `terraform import ADDRESS {key}`, where ADDRESS is this \
                         resource's in the configuration."
                    ),
                );
                None
            }
        }
    }

    /// Names of what the host has otherwise than asked for.
    fn differences(&self, noun: &K::Noun, asked: &Asked<K>) -> Vec<&'static str> {
        let asked_values = Value::object(self.0.values(&asked.spec));
        let now = self.0.values(&noun.spec()).into_iter();
        let mut names: Vec<_> = now
            .filter(|(name, value)| asked_values.get(name) != value)
            .map(|(name, _)| name)
            .collect();
        if noun.metadata().labels != asked.labels {
            names.push("labels");
        }
        names
    }

    pub(super) async fn update_in_place(
        &self,
        context: &Context<Client>,
        request: Update<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Failed> {
        let client = context.client(diagnostics)?;
        let id = request.prior.text("id");
        let before = self.draft(request.prior, client);
        let draft = self.draft(request.planned, client);
        let with_secrets = self.with_secrets(request.prior, request.planned, request.config);
        let wanted = self.draft(&with_secrets, client);
        let rewrite = Rewrite { id, before: &before, sends_secret: wanted != draft, draft: wanted };
        let change = (request.prior, request.planned);
        let mut updated = if *rewrite.before != rewrite.draft {
            self.write(context, rewrite, diagnostics).await?
        } else if K::SEEN_THROUGH.is_some_and(|name| change.0.get(name) != change.1.get(name)) {
            match client.get::<K::Noun>(id, context).await {
                Ok(noun) => noun,
                Err(error) => return Err(self.report(&error, diagnostics).into()),
            }
        } else {
            return Ok(request.planned.clone());
        };
        let settled = self.0.settle(context, &mut updated, change, diagnostics).await;
        seen_through::<K>(self.state(&updated), change, settled)
    }

    /// Writes an update, if the host's intent still is `before`; if it already is what is wanted,
    /// another run was first, and nothing is left to write.
    async fn write(
        &self,
        context: &Context<Client>,
        Rewrite { id, before, draft, sends_secret }: Rewrite<'_, K>,
        diagnostics: &mut Diagnostics,
    ) -> Result<K::Noun, Reported> {
        let client = context.client(diagnostics)?;
        let mut tries = 0;
        loop {
            let noun = match client.get::<K::Noun>(id, context).await {
                Ok(noun) => noun,
                Err(error) => return Err(self.report(&error, diagnostics)),
            };
            if !sends_secret && self.differences(&noun, &draft).is_empty() {
                return Ok(noun);
            }
            self.expect_unchanged(&noun, before, diagnostics)?;
            let revision = noun.metadata().revision;
            tries += 1;
            match client.update::<K::Noun>(id, draft.clone(), revision, context).await {
                Ok(updated) => return Ok(updated),
                // What changed may be none of our business: look again.
                Err(error) if error.is_conflict() && tries < CONFLICTS_MAX => {}
                Err(error) => return Err(self.report(&error, diagnostics)),
            }
        }
    }

    /// Reports where the host's intent is no longer what the plan was made from.
    fn expect_unchanged(
        &self,
        noun: &K::Noun,
        before: &Asked<K>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let changed = self.differences(noun, before);
        if changed.is_empty() {
            return Ok(());
        }
        let (kind, key, changed) = (K::Noun::KIND, before.key(), changed.join("`, `"));
        Err(diagnostics.error(
            Path::root(),
            "Changed by someone else since the plan",
            format!(
                "The {kind} `{key}` is not what this plan was made from; changed: `{changed}`. \
                 Nothing was overwritten. Plan again, and look at what changed before you apply."
            ),
        ))
    }

    pub(super) async fn delete_and_wait(
        &self,
        context: &Context<Client>,
        prior: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let client = context.client(diagnostics)?;
        let (id, key) = (prior.text("id"), Self::key(prior));
        match client.delete::<K::Noun>(id, &key, context).await {
            Ok(_) => {}
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(self.report(&error, diagnostics)),
        }
        let mut delay = LOOK_AGAIN;
        loop {
            match client.get::<K::Noun>(id, context).await {
                Ok(noun) if self.0.ending(&noun).is_some() => return Ok(()),
                Ok(_) => {}
                Err(error) if error.is_not_found() => return Ok(()),
                // Why it is waited no longer is told below.
                Err(error) if error.ended_early() => {}
                Err(error) => return Err(self.report(&error, diagnostics)),
            }
            if let Some(why) = pause(context, &mut delay).await {
                let kind = K::Noun::KIND;
                let (summary, cause) = why.words("Deletion");
                return Err(diagnostics.error(
                    Path::root(),
                    summary,
                    format!(
                        "The host is still deleting the {kind} `{key}`; {cause}. It stays in the \
                         state; run again to go on waiting."
                    ),
                ));
            }
        }
    }

    /// Asks the host whether a quota has room for what is planned. Only a definite no is told.
    pub(super) async fn check_room(
        &self,
        context: &Context<Client>,
        prior: &Value,
        planned: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let Some(client) = context.client_if_configured() else { return Ok(()) };
        let schema = self.schema();
        let is_given = |name| schema.attribute(name).is_some_and(|it| it.mode == Mode::Computed);
        let is_known = |name, value: &Value| {
            is_given(name) || Some(name) == K::SEEN_THROUGH || value.is_wholly_known()
        };
        if client.room_may_grow() || !planned.entries().all(|(name, it)| is_known(name, it)) {
            return Ok(());
        }
        let draft = self.draft(planned, client);
        let key = draft.key();
        let answer = if prior.is_null() {
            client.try_create::<K::Noun>(draft, context).await
        } else {
            client.try_update::<K::Noun>(prior.text("id"), draft, context).await
        };
        let Err(error) = answer else { return Ok(()) };
        let may_be_replaced = |found: Result<K::Noun, CallError>| match found {
            Ok(noun) => self.0.ending(&noun).is_none(),
            Err(error) => !error.is_not_found(),
        };
        if !error.is_quota_exceeded()
            || (prior.is_null() && may_be_replaced(client.glance(&key, context).await))
        {
            return Ok(());
        }
        Err(report(&error, &schema.attributes, diagnostics))
    }
}

/// The state after a change that was `settled` so.
fn seen_through<K: Kind>(
    mut state: Value,
    (prior, planned): (&Value, &Value),
    settled: Result<Settled, Reported>,
) -> Result<Value, Failed> {
    if let Some(name) = K::SEEN_THROUGH {
        let seen: Value = match &settled {
            // What is planned already is left at that.
            Ok(_) if !planned.get(name).is_unknown() => planned.get(name).clone(),
            Ok(Settled::AtOnce) => prior.get(name).clone(),
            Ok(Settled::Awaited) => true.into(),
            Ok(Settled::GivenUp) | Err(_) => false.into(),
        };
        state.set_attribute(name, seen);
    }
    match settled {
        Ok(_) => Ok(state),
        Err(reported) => Err(reported.keeping(state)),
    }
}

/// It stays in the state until it is gone, so that deleting it again waits on.
fn is_going<N: Noun>(noun: &N, diagnostics: &mut Diagnostics) {
    let (kind, key) = (N::KIND, key(&noun.parent(), &noun.metadata().name));
    diagnostics.warning(
        Path::root(),
        "Being deleted",
        format!(
            "The host is still deleting the {kind} `{key}`. Once it is gone, a plan creates it again \
             if the configuration has it; until then it can not be changed."
        ),
    );
}

/// `how` goes with its name: "no longer exists".
fn gone<K: Kind>(prior: &Value, how: &str, diagnostics: &mut Diagnostics) {
    let kind = K::Noun::KIND;
    let key = match prior.text("name") {
        "" => prior.text("id").to_owned(),
        _ => Managed::<K>::key(prior),
    };
    diagnostics.warning(
        Path::root(),
        "Gone from the host",
        format!("The {kind} `{key}` {how}; it leaves the state, and a plan creates it again."),
    );
}

/// Why waiting ended without what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GaveUp {
    TimeIsUp,
    Interrupted,
}

impl GaveUp {
    /// A summary, and a cause to follow a semicolon.
    pub(crate) fn words(self, what: &str) -> (String, &'static str) {
        match self {
            Self::TimeIsUp => {
                (format!("{what} took too long"), "the time that `timeouts` gives for it is up")
            }
            Self::Interrupted => {
                (format!("{what} interrupted"), "Terraform asked the provider to stop waiting")
            }
        }
    }
}

/// Waits a little, longer each time; tells when there is no more waiting.
pub(crate) async fn pause(context: &Context<Client>, delay: &mut Duration) -> Option<GaveUp> {
    let again = Instant::now() + *delay;
    *delay = delay.mul_f32(1.4).min(LOOK_AGAIN_MAX);
    tokio::select! {
        () = context.stopped() => Some(GaveUp::Interrupted),
        () = time::sleep_until(Instant::from_std(context.deadline)) => Some(GaveUp::TimeIsUp),
        () = time::sleep_until(again) => None,
    }
}
