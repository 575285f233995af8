//! `runtimecloud_capacity_lease`: an amount of a quota, held while a run needs it.
//!
//! It has a time to live that is renewed as long as the run goes on, so that a run that dies holds it
//! no longer than that.

use std::time::Duration;

use jiff::Timestamp;
use proto::runtimecloud::v1 as api;

use crate::{
    client::{Client, Draft, Noun as _},
    framework::{
        Attribute, BoxFuture, Context, Diagnostics, Ephemeral, Opened, Path, Renewed, Reported,
        Schema, Timeouts, Validator, Value, open_timeout,
    },
    resources::{
        attributes::{self, time_of_api},
        capacity_lease::{self as lease, wait_until_granted},
        managed::report,
    },
};

pub(super) struct CapacityLease;

const TTL: &str = "2m";

impl Ephemeral<Client> for CapacityLease {
    fn type_name(&self) -> &'static str {
        "runtimecloud_capacity_lease"
    }

    fn schema(&self) -> Schema {
        let name = attributes::name_of(
            "name",
            "Name, unique among the environment's leases that have not ended. A new one for each \
             run if left out, so that runs do not stand in each other's way.",
        );
        let head = [
            name.optional_computed(),
            Attribute::string(
                "environment",
                "Name or id of the environment whose quota is used. Its id is not known before it \
                 exists: give that where the same run may create it.",
            )
            .required()
            .check(Validator::pattern("the name of an environment, or its id", is_environment)),
        ];
        let asked_for = lease::asked_for().into_iter().map(|attribute| match attribute.name {
            "ttl" => Attribute {
                description: "How long it is held after a run that dies, `1s` to 366 days. As long as \
                    the run goes on it is renewed. `2m` if left out.",
                ..attribute
            },
            _ => Attribute { default: None, ..attribute },
        });
        let id = Attribute::string("id", "Id, chosen by the host.").computed();
        let given = [id].into_iter().chain(lease::given());
        Schema::new(
            "An amount of an environment's quota, held while the run needs it: granted when the run \
             opens it, renewed while what refers to it is at work, and released then. It is never \
             stored. A run that dies holds it for `ttl` at most.",
        )
        .attributes(head.into_iter().chain(asked_for).chain(given).chain([open_timeout()]))
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        lease::check(config, ("open", Timeouts::of(config).open), diagnostics);
    }

    fn open<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let draft = draft(config, client);
            let key = draft.key();
            let made = match client.create::<api::CapacityLease>(draft, context).await {
                Ok(made) => made,
                Err(error) => {
                    // Only this run knows a name of its own making: what has it was made by it.
                    if error.may_be_done && config.get("name").is_null() {
                        forget(client, context, &key).await;
                    }
                    return Err(self.report(&error, diagnostics));
                }
            };
            match wait_until_granted(client, context, &made).await {
                Ok(lease) => Ok(opened(&lease)),
                Err(why) => {
                    let id = made.metadata().id;
                    let taken = client.delete_at_last::<api::CapacityLease>(&id, &key, context);
                    let left = match taken.await {
                        Ok(_) => "It was taken out of the line.",
                        Err(_) => "It could not be taken out of the line; `wait` and `ttl` end it.",
                    };
                    Err(why.report(left, diagnostics))
                }
            }
        })
    }

    fn renew<'a>(
        &'a self,
        context: &'a Context<Client>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let (id, fencing_token) = held(private, diagnostics)?;
            match client.renew_lease(id, fencing_token, context).await {
                Ok(lease) => {
                    Ok(Renewed { renew_after: renew_after(&lease), private: private.to_vec() })
                }
                Err(error) => Err(self.report(&error, diagnostics)),
            }
        })
    }

    fn close<'a>(
        &'a self,
        context: &'a Context<Client>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let client = context.client(diagnostics)?;
            let (id, _) = held(private, diagnostics)?;
            match client.delete::<api::CapacityLease>(id, id, context).await {
                Ok(_) => Ok(()),
                // It has ended so long ago that it is no longer kept.
                Err(error) if error.is_not_found() => Ok(()),
                Err(error) => Err(self.report(&error, diagnostics)),
            }
        })
    }
}

impl CapacityLease {
    fn report(&self, error: &crate::client::CallError, diagnostics: &mut Diagnostics) -> Reported {
        report(error, &self.schema().attributes, diagnostics)
    }
}

/// Ends a lease that may have been made; if that fails too, its `ttl` does.
async fn forget(client: &Client, context: &Context<Client>, key: &str) {
    if let Ok(made) = client.glance_at_last::<api::CapacityLease>(key, context).await {
        let id = made.metadata().id;
        let ended = client.delete_at_last::<api::CapacityLease>(&id, key, context).await;
        tracing::debug!(ended = ended.is_ok(), "a lease was made whose answer got lost");
    }
}

fn is_environment(text: &str) -> bool {
    let is_id = text.strip_prefix("env_").is_some_and(|uuid| {
        uuid.len() == 36 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    });
    is_id || attributes::is_name(text)
}

/// What the host is asked for.
fn draft(config: &Value, client: &Client) -> Draft<api::CapacityLeaseSpec> {
    let name = match config.text("name") {
        "" => format!("run-{}", uuid::Uuid::now_v7().simple()),
        name => name.to_owned(),
    };
    let mut spec = lease::spec(config);
    if spec.ttl.is_none() {
        spec.ttl = attributes::time_to_api(&TTL.into());
    }
    Draft {
        parent: config.text("environment").to_owned(),
        name,
        labels: client.default_labels().cloned().unwrap_or_default(),
        spec,
    }
}

fn opened(lease: &api::CapacityLease) -> Opened {
    let metadata = lease.metadata();
    let observed = lease.observed.clone().unwrap_or_default();
    let result = Value::object([
        ("id", metadata.id.as_str().into()),
        ("name", metadata.name.as_str().into()),
        ("fencing_token", observed.fencing_token.into()),
        ("granted_at", time_of_api(observed.granted_at.as_ref())),
    ]);
    let private = format!("{} {}", metadata.id, observed.fencing_token.unwrap_or_default());
    Opened { result, renew_after: renew_after(lease), private: private.into_bytes() }
}

/// The id and the fencing token of what was opened.
fn held<'a>(private: &'a [u8], diagnostics: &mut Diagnostics) -> Result<(&'a str, u64), Reported> {
    let text = std::str::from_utf8(private).ok();
    let parts = text.and_then(|text| text.split_once(' '));
    let held = parts.and_then(|(id, token)| Some((id, token.parse().ok()?)));
    held.ok_or_else(|| {
        diagnostics.error(
            Path::root(),
            "Not what was opened",
            "Terraform names a capacity lease that this provider did not open. It ends by itself.",
        )
    })
}

/// Half the time that is left, as the host counts it; `None` when a renewal would not prolong it.
fn renew_after(lease: &api::CapacityLease) -> Option<Duration> {
    let observed = lease.observed.as_ref()?;
    let time = |time: Option<&prost_types::Timestamp>| {
        time.and_then(|time| Timestamp::new(time.seconds, time.nanos).ok())
    };
    let expires = time(observed.expires_at.as_ref())?;
    let now = time(observed.observed_at.as_ref())?;
    let granted = time(observed.granted_at.as_ref())?;
    let life = lease.spec().max_life.and_then(|life| Duration::try_from(life).ok());
    let ends = life.and_then(|life| granted.checked_add(life).ok());
    if ends.is_some_and(|ends| ends <= expires) {
        return None;
    }
    Duration::try_from(expires.duration_since(now)).ok().map(|left| left / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Option<prost_types::Timestamp> {
        Some(prost_types::Timestamp { seconds, nanos: 0 })
    }

    fn lease(expires: i64, max_life: Option<i64>) -> api::CapacityLease {
        let length = |seconds| prost_types::Duration { seconds, nanos: 0 };
        api::CapacityLease {
            spec: Some(api::CapacityLeaseSpec {
                max_life: max_life.map(length),
                ..Default::default()
            }),
            observed: Some(api::CapacityLeaseObserved {
                granted_at: at(100),
                observed_at: at(110),
                expires_at: at(expires),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn it_is_renewed_with_half_its_time_to_spare_and_not_in_vain() {
        for (lease, expected) in [
            (lease(170, None), Some(30)),
            (lease(170, Some(600)), Some(30)),
            (lease(160, Some(60)), None),
            (lease(105, None), None),
            (api::CapacityLease::default(), None),
        ] {
            assert_eq!(renew_after(&lease), expected.map(Duration::from_secs), "{lease:?}");
        }
    }

    #[test]
    fn what_others_kept_is_not_taken_for_ours() {
        let mut diagnostics = Diagnostics::default();
        assert_eq!(held(b"lease_1 7", &mut diagnostics).ok(), Some(("lease_1", 7)));
        for private in [&b""[..], b"lease_1", b"lease_1 x", b"\xff 1"] {
            assert!(held(private, &mut diagnostics).is_err());
        }
    }
}
