//! An event subscription, and the rules it must keep.
//!
//! Its secret is here only as it is sealed; who may open it is none of the model's business.

use std::time::Duration;

use core::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    admission::{Answer, Context, Decision, Declared, Refusal, declare},
    conditions::{self, Condition},
    events::{ConditionNow, Event, EventSubscriptionStateChanged, LoggedEvent, Verb},
    ids::{EventSubscriptionId, IdSource},
    records::{Change, Record, Records},
    resource::{Kind, Meta, is_name, quoted},
    violations::Violations,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSubscription {
    pub id: EventSubscriptionId,
    pub meta: Meta,
    pub spec: EventSubscriptionSpec,
    /// Grows whenever somebody asks it to go on.
    pub resumed: u64,
    pub secret: Sealed,
    pub secret_changed_at: Timestamp,
    /// The one before, and until when it signs as well.
    pub secret_before: Option<(Sealed, Timestamp)>,
}

/// A secret that only the host's key opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed(pub String);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSubscriptionSpec {
    pub url: String,
    /// Empty: all.
    pub types: Vec<String>,
    pub subject_ids: Vec<String>,
    pub environments: Vec<String>,
    pub description: String,
    pub suspended: bool,
    pub timeout: Duration,
    pub max_attempts: u32,
    pub retry_min: Duration,
    pub retry_max: Duration,
    pub deletion_protection: bool,
    /// A new one; it moves to the subscription.
    #[serde(skip)]
    pub secret: Option<Sealed>,
}

const BOTH_SECRETS: SignedDuration = SignedDuration::from_hours(24);
const DESCRIPTION_LENGTH_MAX: usize = 4096;
const URL_LENGTH_MAX: usize = 2048;
const FILTER_MAX: usize = 100;
const SUBSCRIPTIONS_MAX: usize = 1_000;
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
pub const ATTEMPTS_DEFAULT: u32 = 12;
pub const RETRY_MIN_DEFAULT: Duration = Duration::from_secs(1);
pub const RETRY_MAX_DEFAULT: Duration = Duration::from_secs(600);
/// No pause is longer, whatever the other side asks for.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl EventSubscriptionSpec {
    /// Whether an event is to be sent.
    pub fn wants(&self, event: &LoggedEvent) -> bool {
        let in_environment = |name: &String| match event.subject_name.split_once('/') {
            Some((environment, _)) => environment == name && event.subject_kind != "token",
            None => event.subject_kind == "environment" && event.subject_name == *name,
        };
        (self.types.is_empty() || self.types.contains(&event.type_name))
            && (self.subject_ids.is_empty() || self.subject_ids.contains(&event.subject_id))
            && (self.environments.is_empty() || self.environments.iter().any(in_environment))
    }

    fn check(&self, found: &mut Violations) {
        check_url("spec.url", &self.url, found);
        if self.description.len() > DESCRIPTION_LENGTH_MAX {
            let why = format!("it is longer than {DESCRIPTION_LENGTH_MAX} bytes: shorten it");
            found.add("spec.description", why);
        }
        for (field, filter) in [
            ("spec.types", &self.types),
            ("spec.subject_ids", &self.subject_ids),
            ("spec.environments", &self.environments),
        ] {
            if filter.len() > FILTER_MAX || filter.iter().any(|it| it.is_empty() || it.len() > 128)
            {
                let why = format!("give at most {FILTER_MAX}, each of 1 to 128 bytes");
                found.add(field, why);
            }
        }
        if let Some(unknown) = self.types.iter().find(|it| !Event::NAMES.contains(&it.as_str())) {
            let known = Event::NAMES.join(", ");
            found.add(
                "spec.types",
                format!("{} is not an event: use some of {known}", quoted(unknown)),
            );
        }
        if let Some(wrong) = self.environments.iter().find(|it| !is_name(it)) {
            found.add("spec.environments", format!("{} is not a name", quoted(wrong)));
        }
        let mut range = |field: &str, value: Duration, (from, to): (Duration, Duration)| {
            if !(from..=to).contains(&value) {
                let (from, to) = (proto::duration::print(from), proto::duration::print(to));
                found.add(field, format!("it must be {from} to {to}"));
            }
        };
        let ms = Duration::from_millis;
        range("spec.timeout", self.timeout, (ms(100), ms(60_000)));
        range("spec.retry_min", self.retry_min, (ms(10), ms(3_600_000)));
        range("spec.retry_max", self.retry_max, (self.retry_min, DAY));
        if !(1..=100).contains(&self.max_attempts) {
            found.add("spec.max_attempts", "it must be 1 to 100");
        }
    }
}

fn check_url(field: &str, text: &str, found: &mut Violations) {
    let why = |why: &str| format!("{} {why}", quoted(text));
    if text.len() > URL_LENGTH_MAX {
        found.add(field, format!("it is longer than {URL_LENGTH_MAX} bytes"));
        return;
    }
    let Ok(url) = text.parse::<http::Uri>() else {
        found.add(field, why("is not a URL: write for example `https://example.com/hooks`"));
        return;
    };
    if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
        found.add(field, why("is not an address of `http` or `https`"));
    }
    if url.authority().is_some_and(|it| it.as_str().contains('@')) {
        found.add(field, "it must not contain a user or a password".to_owned());
    }
    if text.contains('#') {
        found.add(field, why("has a fragment, which is sent to nobody: leave it out"));
    }
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    if host.parse().is_ok_and(|address| !may_be_called(address)) {
        found.add(field, why("is an address of no machine, or local to a link: use another"));
    }
}

/// Addresses that are local to a link are those of a cloud's own services, and hand out its secrets.
pub fn may_be_called(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            !it.is_link_local() && !it.is_unspecified() && !it.is_multicast() && !it.is_broadcast()
        }
        IpAddr::V6(it) => match it.to_ipv4_mapped() {
            Some(inner) => may_be_called(IpAddr::V4(inner)),
            None => !it.is_unicast_link_local() && !it.is_unspecified() && !it.is_multicast(),
        },
    }
}

impl Declared for EventSubscription {
    type Spec = EventSubscriptionSpec;
    type Parent = ();
    const KIND: Kind = Kind::EventSubscription;

    fn find<'a>(records: &'a Records, key: &str) -> Option<&'a Self> {
        records.event_subscription(key)
    }

    fn new(ids: &dyn IdSource, (): (), meta: Meta, mut spec: EventSubscriptionSpec) -> Self {
        Self {
            id: EventSubscriptionId::new(ids),
            resumed: 0,
            // `check` has seen to it that there is one.
            secret: spec.secret.take().unwrap_or(Sealed(String::new())),
            secret_changed_at: meta.created_at,
            secret_before: None,
            meta,
            spec,
        }
    }

    fn with(&self, meta: Meta, mut spec: EventSubscriptionSpec) -> Self {
        let mut after = Self { meta, ..self.clone() };
        if let Some(secret) = spec.secret.take() {
            let until = after.meta.updated_at.saturating_add(BOTH_SECRETS);
            let before = std::mem::replace(&mut after.secret, secret);
            after.secret_before = Some((before, until.unwrap_or(Timestamp::MAX)));
            after.secret_changed_at = after.meta.updated_at;
        }
        after.spec = spec;
        after
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn spec(&self) -> &EventSubscriptionSpec {
        &self.spec
    }

    fn is_protected(spec: &EventSubscriptionSpec) -> bool {
        spec.deletion_protection
    }

    fn parent(_: &Records, _: &str, _: &mut Violations) -> Option<()> {
        Some(())
    }

    fn check(
        records: &Records,
        before: Option<&Self>,
        spec: &EventSubscriptionSpec,
        found: &mut Violations,
    ) {
        spec.check(found);
        if before.is_none() && spec.secret.is_none() {
            let why = "it is missing: give `whsec_` and 24 to 64 random bytes in base64";
            found.add("spec.secret", why);
        }
        if before.is_none() && records.event_subscriptions.len() >= SUBSCRIPTIONS_MAX {
            let why = format!("there are {SUBSCRIPTIONS_MAX} subscriptions, and more are not made");
            found.add("name", why);
        }
    }

    fn users(&self, _: &Records) -> Vec<String> {
        Vec::new()
    }

    fn record(self) -> Record {
        Record::EventSubscription(self.into())
    }
}

/// Somebody asks it to go on.
#[derive(Debug, Clone)]
pub struct Resume {
    pub key: String,
    pub revision: u64,
}

pub(crate) fn resume(
    cx: &Context<'_>,
    it: &Resume,
    found: Violations,
) -> Result<Decision, Refusal> {
    if !found.is_empty() {
        return Err(Refusal::Invalid(found.into_vec()));
    }
    let mut after = declare::find::<EventSubscription>(cx, &it.key, it.revision)?.clone();
    after.resumed += 1;
    after.meta.revision += 1;
    after.meta.updated_at = cx.now;
    let event = (declare::subject(cx.records, &after), Event::declared(Verb::Resumed));
    let after = std::sync::Arc::new(after);
    Ok(Decision {
        changes: vec![Change::Put(Record::EventSubscription(after.clone()))],
        events: vec![event],
        answer: Answer::EventSubscription(after),
    })
}

/// Records how deliveries stand, and tells of it when that is new.
pub(crate) fn report(cx: &Context<'_>, id: EventSubscriptionId, said: &[Condition]) -> Decision {
    let mut decision = Decision::unchanged(Answer::Done);
    let Some(it) = cx.records.event_subscriptions.get(&id) else { return decision };
    let key = id.to_string();
    let before = cx.records.conditions.get(&key);
    let Some(recorded) = conditions::record(before, cx.now, said) else { return decision };
    decision.changes.push(Change::Put(Record::Conditions(key, recorded)));
    let conditions = said.iter().map(ConditionNow::entry).collect();
    let event = Event::EventSubscriptionStateChanged(EventSubscriptionStateChanged { conditions });
    decision.events.push((declare::subject(cx.records, &**it), event));
    decision
}
