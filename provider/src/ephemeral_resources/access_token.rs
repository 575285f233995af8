//! `runtimecloud_access_token`: a token that is good while a run lasts.
//!
//! The secret can not change under a run, so renewing moves the token's end and nothing else. It is
//! revoked when it is closed; should the run die, it expires after its lifetime.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use jiff::Timestamp;
use proto::runtimecloud::v1 as api;
use serde::{Deserialize, Serialize};

use crate::{
    client::{Client, Draft},
    framework::{
        Attribute, BoxFuture, Context, Diagnostics, Ephemeral, Opened, Path, Renewed, Reported,
        Schema, Validator, Value, open_timeout,
    },
    resources::{
        ROLE,
        attributes::{self, name_of, parse_time, time_of_api},
        managed::report,
        role_to_api,
    },
};

pub(super) struct AccessToken;

const LIFETIME: Duration = Duration::from_mins(15);
const LIFETIME_MIN: Duration = Duration::from_mins(1);
const LIFETIME_MAX: Duration = Duration::from_hours(24);

/// What renewing and closing need. The secret is not among it.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    id: String,
    name: String,
    /// As the API has it; 0 if it is the service account's.
    role: i32,
    labels: BTreeMap<String, String>,
    lifetime: Duration,
}

impl Ephemeral<Client> for AccessToken {
    fn type_name(&self) -> &'static str {
        "runtimecloud_access_token"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            "A token that is made when a run begins and revoked when it ends. Its end is moved while \
             the run lasts, and should the run die, it expires by itself. It is in no plan and in no \
             state. An administrator makes one of any role or service account; everybody else of \
             their own role or a lower one, which is void as soon as their own token is.",
        )
        .attributes([
            name_of(
                "service_account",
                "Name of the service account that it belongs to, and whose role it has. It stands \
                 alone if left out.",
            ),
            Attribute::string(
                "role",
                "What it is good for, unless it belongs to a service account: `viewer` reads, \
                 `editor` changes all but service accounts and tokens, `admin` does everything. \
                 `viewer` if left out.",
            )
            .check(ROLE),
            attributes::time(
                "lifetime",
                "After how long it expires when nobody renews it, from `1m` to `24h`; it is renewed \
                 after half of that. `15m` if left out.",
            )
            .check(Validator::Custom(check_lifetime)),
            Attribute::string("token", "The token itself, to be sent as a bearer token.")
                .computed()
                .sensitive(),
            Attribute::string("id", "Its id.").computed(),
            Attribute::string("name", "Its name, which the host tells of what is done with it.")
                .computed(),
            Attribute::string(
                "expires_at",
                "When it expires if it is not renewed, as RFC 3339 writes it.",
            )
            .computed(),
            open_timeout(),
        ])
        .check(Validator::Conflicts(&["service_account", "role"]))
    }

    fn open<'a>(
        &'a self,
        context: &'a Context<Client>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened, Reported>> {
        Box::pin(self.make(context, config, diagnostics))
    }

    fn renew<'a>(
        &'a self,
        context: &'a Context<Client>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Reported>> {
        Box::pin(self.move_end(context, private, diagnostics))
    }

    fn close<'a>(
        &'a self,
        context: &'a Context<Client>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(self.revoke(context, private, diagnostics))
    }
}

impl AccessToken {
    async fn make(
        &self,
        context: &Context<Client>,
        config: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Opened, Reported> {
        let client = context.client(diagnostics)?;
        let [secret, name] = [(32, "rct_"), (8, "run-")]
            .map(|(bytes, prefix)| random(bytes).map(|text| format!("{prefix}{text}")));
        let (Ok(secret), Ok(name)) = (secret, name) else {
            return Err(diagnostics.error(
                Path::root(),
                "No random numbers",
                "The operating system gives no random numbers, so no secret can be made. Try again.",
            ));
        };
        let account = config.text("service_account").to_owned();
        let role = match (account.as_str(), config.text("role")) {
            ("", "") => api::Role::Viewer.into(),
            (_, role) => role_to_api(role),
        };
        let lifetime = parse_time(config.get("lifetime")).unwrap_or(LIFETIME);
        let labels = client.default_labels().cloned().unwrap_or_default();
        let expires_at = Some(in_time(lifetime));
        let spec = api::TokenSpec { role, expires_at, secret: secret.clone() };
        let draft = Draft { parent: account, name: name.clone(), labels: labels.clone(), spec };
        let made = client.create::<api::Token>(draft, context).await;
        let made = made.map_err(|error| self.report(&error, diagnostics))?;
        let id = made.metadata.unwrap_or_default().id;
        let result = Value::object([
            ("token", secret.into()),
            ("id", id.as_str().into()),
            ("name", name.as_str().into()),
            ("expires_at", time_of_api(expires_at.as_ref())),
        ]);
        let kept = Kept { id, name, role, labels, lifetime };
        let private = kept.to_bytes(diagnostics)?;
        Ok(Opened { result, renew_after: Some(lifetime / 2), private })
    }

    async fn move_end(
        &self,
        context: &Context<Client>,
        private: &[u8],
        diagnostics: &mut Diagnostics,
    ) -> Result<Renewed, Reported> {
        let client = context.client(diagnostics)?;
        let Kept { id, name, role, labels, lifetime } = Kept::read(private, diagnostics)?;
        let secret = String::new();
        let spec = api::TokenSpec { role, expires_at: Some(in_time(lifetime)), secret };
        let draft = Draft { parent: String::new(), name, labels, spec };
        let moved = client.update::<api::Token>(&id, draft, 0, context).await;
        moved.map_err(|error| self.report(&error, diagnostics))?;
        Ok(Renewed { renew_after: Some(lifetime / 2), private: private.to_vec() })
    }

    async fn revoke(
        &self,
        context: &Context<Client>,
        private: &[u8],
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let client = context.client(diagnostics)?;
        let Kept { id, name, .. } = Kept::read(private, diagnostics)?;
        match client.delete::<api::Token>(&id, &name, context).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(self.report(&error, diagnostics)),
        }
    }

    fn report(&self, error: &crate::client::CallError, diagnostics: &mut Diagnostics) -> Reported {
        report(error, &self.schema().attributes, diagnostics)
    }
}

impl Kept {
    fn to_bytes(&self, diagnostics: &mut Diagnostics) -> Result<Vec<u8>, Reported> {
        serde_json::to_vec(self).map_err(|error| unusable(&error, diagnostics))
    }

    fn read(private: &[u8], diagnostics: &mut Diagnostics) -> Result<Self, Reported> {
        serde_json::from_slice(private).map_err(|error| unusable(&error, diagnostics))
    }
}

fn unusable(error: &serde_json::Error, diagnostics: &mut Diagnostics) -> Reported {
    diagnostics.error(
        Path::root(),
        "Access token not known any more",
        format!(
            "What the provider keeps about the token while the run lasts can not be used ({error}), \
             so the token is neither renewed nor revoked. It expires by itself."
        ),
    )
}

/// So many random bytes in hexadecimal digits.
fn random(bytes: usize) -> Result<String, getrandom::Error> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(random.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can not fail.
        let _always = write!(text, "{byte:02x}");
        text
    }))
}

fn in_time(lifetime: Duration) -> prost_types::Timestamp {
    let end = Timestamp::now().saturating_add(lifetime).unwrap_or(Timestamp::MAX);
    prost_types::Timestamp { seconds: end.as_second(), nanos: 0 }
}

fn check_lifetime(value: &Value) -> Result<(), String> {
    match parse_time(value) {
        Ok(lifetime) if !(LIFETIME_MIN..=LIFETIME_MAX).contains(&lifetime) => {
            Err("must be from `1m` to `24h`".to_owned())
        }
        // What is no length of time is told by another rule.
        Ok(_) | Err(_) => Ok(()),
    }
}
