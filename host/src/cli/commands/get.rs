//! `get`: shows what there is.

use clap::Args;
use jiff::Timestamp;
use proto::runtimecloud::v1::GetRequest;

use crate::cli::{
    Action,
    client::Filter,
    commands::pair,
    connection::{Connect, Session},
    failure::Failure,
    kinds::{self, Declared, Kind, Resource},
    output::Output,
};

/// Show all things of a kind, or one
#[derive(Debug, Args)]
pub struct Get {
    /// What kind of thing: any of its names, such as `worker_pool`, `worker_pools` or `pool`
    #[arg(value_parser = Kind::parse)]
    kind: Kind,

    /// Name or id of one thing; the name of a pool or a lease is `ENVIRONMENT/NAME`
    key: Option<String>,

    /// Only things with this label
    #[arg(long = "label", short = 'l', value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "key")]
    labels: Vec<(String, String)>,

    /// Only pools and leases of this environment, workers of this pool, or tokens of this service
    /// account
    #[arg(long = "in", value_name = "KEY", conflicts_with = "key")]
    parent: Option<String>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

impl Action for Get {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        let filter = Filter {
            labels: self.labels.into_iter().collect(),
            parent: self.parent.unwrap_or_default(),
        };
        match (self.kind, self.key) {
            (Kind::Declared(kind), key) => {
                show_declared(&session, self.output, (kind, key), &filter).await
            }
            (Kind::Worker, Some(key)) => show_worker(&session, self.output, key).await,
            (Kind::Worker, None) => show_workers(&session, self.output, &filter).await,
            (Kind::Token, key) => show_tokens(&session, self.output, (key, &filter)).await,
        }
    }
}

async fn show_declared(
    session: &Session,
    output: Output,
    (kind, key): (Declared, Option<String>),
    filter: &Filter,
) -> Result<(), Failure> {
    let resources = if let Some(key) = &key {
        let attempt = format!("get {kind} `{key}`");
        vec![session.get(kind, key).await.map_err(session.failure(attempt))?]
    } else {
        let attempt = format!("list {kind}s");
        session.list(kind, filter).await.map_err(session.failure(attempt))?
    };
    if output.is_json() {
        return Ok(output.json(&match &resources[..] {
            [one] if key.is_some() => one.json(),
            all => all.iter().map(Resource::json).collect(),
        })?);
    }
    let now = Timestamp::now();
    let rows = resources.iter().map(|resource| resource.row(now)).collect();
    Ok(output.table(Resource::headers(kind), rows)?)
}

async fn show_worker(session: &Session, output: Output, key: String) -> Result<(), Failure> {
    let failure = session.failure(format!("get worker `{key}`"));
    let worker = session.workers().get(GetRequest { key }).await.map_err(failure)?.into_inner();
    if output.is_json() {
        return Ok(output.json(&kinds::worker::json(&worker))?);
    }
    let row = kinds::worker::row(&worker, Timestamp::now());
    Ok(output.table(kinds::worker::HEADERS, vec![row])?)
}

/// Workers of a pool, or all.
pub async fn show_workers(
    session: &Session,
    output: Output,
    filter: &Filter,
) -> Result<(), Failure> {
    let attempt = match &*filter.parent {
        "" => "list workers".to_owned(),
        pool => format!("list workers of `{pool}`"),
    };
    let workers = session.list_workers(filter).await.map_err(session.failure(attempt))?;
    if output.is_json() {
        return Ok(output.json(&workers.iter().map(kinds::worker::json).collect())?);
    }
    let now = Timestamp::now();
    let rows = workers.iter().map(|worker| kinds::worker::row(worker, now)).collect();
    Ok(output.table(kinds::worker::HEADERS, rows)?)
}

/// All tokens, or one. Their secrets are not among what can be shown.
pub async fn show_tokens(
    session: &Session,
    output: Output,
    (key, filter): (Option<String>, &Filter),
) -> Result<(), Failure> {
    let tokens = if let Some(key) = key.clone() {
        let failure = session.failure(format!("get token `{key}`"));
        vec![session.tokens().get(GetRequest { key }).await.map_err(failure)?.into_inner()]
    } else {
        session.list_tokens(filter).await.map_err(session.failure("list tokens"))?
    };
    if output.is_json() {
        return Ok(output.json(&match &tokens[..] {
            [one] if key.is_some() => kinds::token::json(one),
            all => all.iter().map(kinds::token::json).collect(),
        })?);
    }
    let now = Timestamp::now();
    let rows = tokens.iter().map(|token| kinds::token::row(token, now)).collect();
    Ok(output.table(kinds::token::HEADERS, rows)?)
}
