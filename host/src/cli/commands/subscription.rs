//! `subscription`: what can be done with an event subscription besides declaring it.

use base64::{Engine, engine::general_purpose::STANDARD};
use clap::{Args, Subcommand};
use proto::runtimecloud::v1::{
    DeadLetter, DeadLettersRequest, GetRequest, ListDeadLettersRequest,
    ResumeEventSubscriptionRequest, UpdateEventSubscriptionRequest,
};
use serde_json::{Value, json};

use crate::cli::{
    Action,
    client::write_once,
    connection::{Connect, Session},
    failure::Failure,
    kinds::Resource,
    note,
    output::Output,
    text,
};

/// Resume event subscriptions, rotate their secrets, and handle what was given up
#[derive(Debug, Args)]
pub struct Subscription {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show events that were given up, oldest first
    DeadLetters(Show),
    /// Forget events that were given up
    Drop(Handle),
    /// Send events that were given up once more
    Redeliver(Handle),
    /// Go on where the host stopped by itself, or try at once what waits to be tried again
    Resume(Show),
    Rotate(Rotate),
}

#[derive(Debug, Args)]
struct Show {
    /// The subscription
    name: String,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
struct Handle {
    /// The subscription
    name: String,

    /// Positions of the events; all dead letters if there is none
    positions: Vec<u64>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// Give it another secret; for a day, the one before signs as well
#[derive(Debug, Args)]
struct Rotate {
    /// The subscription
    name: String,

    /// `whsec_` and 24 to 64 bytes in base64; one is made and shown if it is left out
    #[arg(long, env = "RUNTIMECLOUD_WEBHOOK_SECRET", hide_env_values = true)]
    secret: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Subscription {
    async fn run(self) -> Result<(), Failure> {
        match self.what {
            What::DeadLetters(show) => show.dead_letters().await,
            What::Drop(handle) => handle.run(Deed::Drop).await,
            What::Redeliver(handle) => handle.run(Deed::Redeliver).await,
            What::Resume(show) => show.resume().await,
            What::Rotate(rotate) => rotate.run().await,
        }
    }
}

/// A new secret, told this once.
pub fn new_secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    let secret = format!("whsec_{}", STANDARD.encode(bytes));
    note(&format!("its secret, shown this once: {secret}"));
    Ok(secret)
}

impl Show {
    async fn dead_letters(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let letters = all_letters(&session, &self.name).await?;
        if self.output.is_json() {
            return Ok(self.output.json(&letters.iter().map(letter_json).collect())?);
        }
        let rows = letters.iter().map(|it| {
            let failed_at = text::time(it.failed_at.as_ref());
            vec![
                it.position.to_string(),
                it.event_type.clone(),
                it.attempts.to_string(),
                if it.redelivering { "yes" } else { "no" }.to_owned(),
                failed_at.as_str().unwrap_or("-").to_owned(),
                it.failure.clone(),
            ]
        });
        let headers = &["POSITION", "TYPE", "ATTEMPTS", "REDELIVERING", "FAILED", "WHY"];
        Ok(self.output.table(headers, rows.collect())?)
    }

    async fn resume(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("resume event subscription `{}`", self.name));
        let options = Some(write_once(0));
        let request = ResumeEventSubscriptionRequest { key: self.name, options };
        let resumed = session.subscriptions().resume(request).await.map_err(failure)?;
        let resumed = Resource::from(resumed.into_inner());
        let said = if self.output.is_json() {
            self.output.json(&resumed.json())
        } else {
            self.output.line(&format!("{} resumed", resumed.title()))
        };
        said.map_err(Failure::unheard)
    }
}

async fn all_letters(session: &Session, key: &str) -> Result<Vec<DeadLetter>, Failure> {
    let failure = session.failure(format!("list dead letters of `{key}`"));
    let mut request =
        ListDeadLettersRequest { key: key.to_owned(), ..ListDeadLettersRequest::default() };
    let mut letters = Vec::new();
    loop {
        let page = session.subscriptions().list_dead_letters(request.clone()).await;
        let page = page.map_err(&failure)?.into_inner();
        letters.extend(page.dead_letters);
        if page.next_page_token.is_empty() {
            return Ok(letters);
        }
        request.page_token = page.next_page_token;
    }
}

fn letter_json(it: &DeadLetter) -> Value {
    json!({
        "position": it.position,
        "event_id": it.event_id,
        "event_type": it.event_type,
        "event": serde_json::from_str(&it.body).unwrap_or(Value::Null),
        "attempts": it.attempts,
        "redelivering": it.redelivering,
        "failed_at": text::time(it.failed_at.as_ref()),
        "failure": it.failure,
    })
}

#[derive(Debug, Clone, Copy)]
enum Deed {
    Drop,
    Redeliver,
}

impl Handle {
    async fn run(self, deed: Deed) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("change dead letters of `{}`", self.name));
        let request = DeadLettersRequest { key: self.name, positions: self.positions };
        let mut subscriptions = session.subscriptions();
        let (answer, done) = match deed {
            Deed::Drop => (subscriptions.drop_dead_letters(request).await, "dropped"),
            Deed::Redeliver => {
                (subscriptions.redeliver_dead_letters(request).await, "to be sent again")
            }
        };
        let number = answer.map_err(failure)?.into_inner().dead_letters;
        let said = if self.output.is_json() {
            self.output.json(&json!({ "dead_letters": number }))
        } else {
            self.output.line(&format!("{number} dead letters {done}"))
        };
        said.map_err(Failure::unheard)
    }
}

impl Rotate {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let failure = session.failure(format!("rotate the secret of `{}`", self.name));
        let key = self.name.clone();
        let now = session.subscriptions().get(GetRequest { key }).await.map_err(&failure)?;
        let now = now.into_inner();
        let secret = match self.secret {
            Some(secret) => secret,
            None => new_secret().map_err(|error| {
                Failure::new(crate::cli::failure::Exit::Failed, error.to_string())
            })?,
        };
        let metadata = now.metadata.unwrap_or_default();
        let mut spec = now.spec.unwrap_or_default();
        spec.secret = secret;
        let request = UpdateEventSubscriptionRequest {
            key: self.name,
            labels: metadata.labels,
            spec: Some(spec),
            options: Some(write_once(metadata.revision)),
        };
        let rotated = session.subscriptions().update(request).await.map_err(failure)?;
        let rotated = Resource::from(rotated.into_inner());
        let said = if self.output.is_json() {
            self.output.json(&rotated.json())
        } else {
            self.output.line(&format!("{} has another secret", rotated.title()))
        };
        said.map_err(Failure::unheard)
    }
}
