//! `token`: who may call.

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use proto::runtimecloud::v1::{
    self, CreateTokenRequest, DeleteRequest, GetRequest, TokenSpec, UpdateTokenRequest,
};

use crate::{
    cli::{
        Action,
        client::{Filter, write_once},
        commands::{get::show_tokens, pair},
        connection::Connect,
        failure::{Exit, Failure},
        kinds::token::{self, ROLES},
        note,
        output::Output,
        wait::length,
    },
    tokens::secret::Secret,
};

/// Make, list, rotate and revoke tokens
#[derive(Debug, Args)]
pub struct Token {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Create(Create),
    #[command(visible_alias = "ls")]
    List(List),
    Revoke(Revoke),
    Rotate(Rotate),
}

/// Make a token; its secret is shown this once
///
/// Administrators make any token. Everybody else makes short-lived ones of their own role or a lower
/// one, valid for a day at most, and no longer than the token that they are made with.
#[derive(Debug, Args)]
struct Create {
    /// A name for it, such as `ci`
    name: String,

    /// The service account that it belongs to; it has the account's role then
    #[arg(long, value_name = "ACCOUNT", conflicts_with = "role")]
    service_account: Option<String>,

    /// What its holder may do: look (viewer), change all but service accounts and tokens (editor), or
    /// everything (admin); a viewer if left out
    #[arg(long, value_parser = ["viewer", "editor", "admin"])]
    role: Option<String>,

    /// How long it is valid, such as `12h`; for good if left out
    #[arg(long, value_name = "TIME", value_parser = length)]
    expires_in: Option<Duration>,

    /// A label
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = pair)]
    labels: Vec<(String, String)>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Show all tokens, without their secrets
#[derive(Debug, Args)]
struct List {
    /// Only those of this service account
    #[arg(long, value_name = "ACCOUNT")]
    service_account: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// One token, and how to tell of it.
#[derive(Debug, Args)]
struct One {
    /// Its name or id; the name of one of a service account is `ACCOUNT/NAME`
    key: String,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Make a token worthless, at once
#[derive(Debug, Args)]
struct Revoke {
    #[command(flatten)]
    one: One,
}

/// Give a token another secret, shown this once; the one before is worthless, at once
#[derive(Debug, Args)]
struct Rotate {
    #[command(flatten)]
    one: One,
}

impl Action for Token {
    async fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Create(create) => create.run().await,
            What::List(List { service_account, output, connect }) => {
                let parent = service_account.unwrap_or_default();
                let filter = Filter { parent, ..Filter::default() };
                show_tokens(&connect.open().await?, output, (None, &filter)).await
            }
            What::Revoke(revoke) => revoke.run().await,
            What::Rotate(rotate) => rotate.run().await,
        }
    }
}

impl Create {
    async fn run(self) -> Result<(), Failure> {
        let expires_at = self.expires_in.map(from_now).transpose()?;
        let role = match (&self.service_account, &self.role) {
            (Some(_), _) => 0,
            (None, role) => {
                let wanted = role.as_deref().unwrap_or("viewer");
                let role = ROLES.iter().find(|(name, _)| *name == wanted);
                role.map_or(0, |(_, role)| i32::from(*role))
            }
        };
        let request = CreateTokenRequest {
            service_account: self.service_account.unwrap_or_default(),
            name: self.name.clone(),
            labels: self.labels.into_iter().collect(),
            spec: Some(TokenSpec { role, expires_at, secret: String::new() }),
            options: None,
        };
        let session = self.connect.open().await?;
        let failure = session.failure(format!("create token `{}`", self.name));
        let made = session.tokens().create(request).await.map_err(failure)?.into_inner();
        show_secret(self.output, &made.token.unwrap_or_default(), (made.secret, "created"))
    }
}

/// The secret alone goes to standard output, so that it can be kept without being seen.
fn show_secret(
    output: Output,
    token: &v1::Token,
    (secret, done): (String, &str),
) -> Result<(), Failure> {
    let mut object = token::json(token);
    if output.is_json() {
        object["secret"] = secret.into();
        return output.json(&object).map_err(Failure::unheard);
    }
    let (key, role) = (token::key(token), object["role"].as_str().unwrap_or_default());
    note(&format!("token `{key}` ({role}) {done}; its secret is shown this once:"));
    output.line(&secret).map_err(Failure::unheard)
}

fn from_now(length: Duration) -> Result<prost_types::Timestamp, Failure> {
    let until = Timestamp::now().checked_add(length).map_err(|_| {
        Failure::new(Exit::Usage, "the token would be valid for longer than time is counted")
    })?;
    Ok(prost_types::Timestamp { seconds: until.as_second(), nanos: 0 })
}

impl Revoke {
    async fn run(self) -> Result<(), Failure> {
        let One { key, output, connect } = self.one;
        let session = connect.open().await?;
        let failure = session.failure(format!("revoke token `{key}`"));
        let request = DeleteRequest { key, options: Some(write_once(0)) };
        let revoked = session.tokens().delete(request).await.map_err(failure)?.into_inner();
        if output.is_json() {
            return output.json(&token::json(&revoked)).map_err(Failure::unheard);
        }
        output.line(&format!("token `{}` revoked", token::key(&revoked))).map_err(Failure::unheard)
    }
}

impl Rotate {
    async fn run(self) -> Result<(), Failure> {
        let One { key, output, connect } = self.one;
        let session = connect.open().await?;
        let failure = session.failure(format!("rotate token `{key}`"));
        let secret = Secret::generate().map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot make a secret: {error}"))
        })?;
        let secret = secret.reveal().to_owned();
        let request = GetRequest { key };
        let token = session.tokens().get(request).await.map_err(&failure)?.into_inner();
        let metadata = token.metadata.unwrap_or_default();
        let spec = TokenSpec { secret: secret.clone(), ..token.spec.unwrap_or_default() };
        let request = UpdateTokenRequest {
            key: metadata.id,
            labels: metadata.labels,
            spec: Some(spec),
            options: Some(write_once(metadata.revision)),
        };
        let rotated = session.tokens().update(request).await.map_err(failure)?.into_inner();
        show_secret(output, &rotated, (secret, "rotated"))
    }
}
