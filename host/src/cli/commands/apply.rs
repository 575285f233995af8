//! `apply`: brings the host to what files declare.

use std::path::PathBuf;

use clap::Args;
use proto::runtimecloud::v1::WriteOptions;
use serde_json::{Map, Value, json};
use tonic::{Code, Status};

use crate::cli::{
    Action,
    changes::{self, Change},
    client::write_once,
    connection::{Connect, Session},
    declarations,
    failure::Failure,
    kinds::{Desired, Resource},
    note,
    output::Output,
    wait::{Wait, is_not_found},
};

/// Create what files declare, or change what is there to match
///
/// A file holds blocks of HCL (`environment "dev" { … }`) or documents of JSON. All of it is checked
/// before anything is done. What is left out of a declaration has its default.
#[derive(Debug, Args)]
pub struct Apply {
    /// Files to read: `-` is standard input, a folder stands for all `.hcl` and `.json` files in it
    #[arg(short = 'f', long = "file", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// What was done with one declaration.
pub enum Outcome {
    Created,
    Changed(Vec<Change>),
    Unchanged,
}

impl Action for Apply {
    async fn run(self) -> Result<(), Failure> {
        let declared = declarations::read(&self.files)?;
        let session = self.connect.open().await?;
        let (mut done, mut results, mut failed) = (Vec::new(), Vec::new(), None);
        for declaration in &declared.all {
            let desired = &declaration.desired;
            match session.apply(desired, self.dry_run).await {
                Ok((resource, outcome)) => {
                    if self.output.is_json() {
                        results.push(outcome_json(desired, &outcome));
                    } else {
                        self.output.line(&outcome_text(desired, &outcome, self.dry_run))?;
                    }
                    done.push(resource);
                }
                Err(status) => {
                    let attempt = format!("apply {}", desired.title());
                    let failure = declared.locate(declaration, session.failure(attempt)(status));
                    // The first one is the result; the others are told on the way.
                    match &failed {
                        None => failed = Some(failure),
                        Some(_) => note(&format!("error: {failure}")),
                    }
                }
            }
        }
        if self.output.is_json() {
            self.output.json(&Value::Array(results))?;
        }
        if let Some(failure) = failed {
            return Err(failure);
        }
        if self.wait.wait && !self.dry_run {
            for resource in &done {
                session.wait_until_ready(resource, self.wait.timeout).await?;
            }
        }
        Ok(())
    }
}

impl Session {
    /// Creates or changes, and starts over when somebody else changes it at the same time.
    async fn apply(&self, desired: &Desired, dry_run: bool) -> Result<(Resource, Outcome), Status> {
        const TRIES: usize = 5;
        let options = |revision| WriteOptions { dry_run, ..write_once(revision) };
        let mut tried = 0;
        loop {
            tried += 1;
            let result = match self.get(desired.kind, &desired.key).await {
                Err(status) if is_not_found(&status) => {
                    self.create(desired, options(0)).await.map(|made| (made, Outcome::Created))
                }
                Err(status) => return Err(status),
                Ok(there) => {
                    let changes = compare(&there, desired);
                    if changes.is_empty() {
                        return Ok((there, Outcome::Unchanged));
                    }
                    let changed = self.update(desired, options(there.metadata.revision)).await;
                    changed.map(|changed| (changed, Outcome::Changed(changes)))
                }
            };
            match result {
                Err(status) if is_race(&status) && tried < TRIES => {}
                result => return result,
            }
        }
    }
}

fn is_race(status: &Status) -> bool {
    matches!(status.code(), Code::Aborted | Code::AlreadyExists)
}

fn compare(there: &Resource, desired: &Desired) -> Vec<Change> {
    let with_labels = |spec: Map<String, Value>, labels: &dyn Fn() -> Value| {
        let mut all = spec;
        all.insert("labels".to_owned(), labels());
        all
    };
    let before = with_labels(there.spec.clone(), &|| json!(there.metadata.labels));
    let after = with_labels(desired.spec.show(), &|| json!(desired.labels));
    changes::between(&before, &after)
}

fn outcome_text(desired: &Desired, outcome: &Outcome, dry_run: bool) -> String {
    let title = desired.title();
    let would = if dry_run { "would be " } else { "" };
    match outcome {
        Outcome::Created => format!("{title} {would}created"),
        Outcome::Changed(changes) => {
            let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
            format!("{title} {would}changed: {}", changes.join(", "))
        }
        Outcome::Unchanged => format!("{title} unchanged"),
    }
}

fn outcome_json(desired: &Desired, outcome: &Outcome) -> Value {
    let (result, changes) = match outcome {
        Outcome::Created => ("created", vec![]),
        Outcome::Changed(changes) => ("changed", changes.iter().map(Change::json).collect()),
        Outcome::Unchanged => ("unchanged", vec![]),
    };
    json!({
        "kind": desired.kind.code(),
        "name": desired.key,
        "result": result,
        "changes": changes,
    })
}
