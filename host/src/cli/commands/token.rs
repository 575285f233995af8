//! `token`: who may call.

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use proto::runtimecloud::v1::{CreateTokenRequest, RevokeTokenRequest};

use crate::cli::{
    Action,
    commands::get::show_tokens,
    connection::Connect,
    failure::{Exit, Failure},
    kinds::token::{self, ROLES},
    note,
    output::Output,
    wait::length,
};

/// Make, list and revoke tokens; for administrators
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
}

/// Make a token; its secret is shown this once
#[derive(Debug, Args)]
struct Create {
    /// A name for it, such as `ci`
    name: String,

    /// What its holder may do: look (viewer), change all but tokens (editor), or everything (admin)
    #[arg(long, default_value = "viewer", value_parser = ["viewer", "editor", "admin"])]
    role: String,

    /// How long it is valid, such as `12h`; for good if left out
    #[arg(long, value_name = "TIME", value_parser = length)]
    expires_in: Option<Duration>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Show all tokens, without their secrets
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Make a token worthless, at once
#[derive(Debug, Args)]
struct Revoke {
    /// Its name or id
    key: String,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Token {
    async fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Create(create) => create.run().await,
            What::List(List { output, connect }) => {
                show_tokens(&connect.open().await?, output, None).await
            }
            What::Revoke(revoke) => revoke.run().await,
        }
    }
}

impl Create {
    async fn run(self) -> Result<(), Failure> {
        let expires_at = match self.expires_in {
            Some(expires_in) => Some(from_now(expires_in)?),
            None => None,
        };
        let role = ROLES.iter().find(|(name, _)| *name == self.role);
        let request = CreateTokenRequest {
            name: self.name.clone(),
            role: role.map_or(0, |(_, role)| i32::from(*role)),
            expires_at,
        };
        let session = self.connect.open().await?;
        let failure = session.failure(format!("create token `{}`", self.name));
        let made = session.tokens().create(request).await.map_err(failure)?.into_inner();
        let token = made.token.unwrap_or_default();
        if self.output.is_json() {
            let mut object = token::json(&token);
            object["secret"] = made.secret.into();
            return self.output.json(&object).map_err(Failure::unheard);
        }
        note(&format!(
            "token `{}` ({}) created; its secret is shown this once:",
            token.name, self.role
        ));
        self.output.line(&made.secret).map_err(Failure::unheard)
    }
}

fn from_now(length: Duration) -> Result<prost_types::Timestamp, Failure> {
    let until = Timestamp::now().checked_add(length).map_err(|_| {
        Failure::new(Exit::Usage, "the token would be valid for longer than time is counted")
    })?;
    Ok(prost_types::Timestamp { seconds: until.as_second(), nanos: 0 })
}

impl Revoke {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("revoke token `{}`", self.key));
        let request = RevokeTokenRequest { key: self.key };
        let revoked = session.tokens().revoke(request).await.map_err(failure)?.into_inner();
        if self.output.is_json() {
            return self.output.json(&token::json(&revoked)).map_err(Failure::unheard);
        }
        self.output.line(&format!("token `{}` revoked", revoked.name)).map_err(Failure::unheard)
    }
}
