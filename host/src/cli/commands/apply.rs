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
        let (mut done, mut results, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        let mut heard = Ok(());
        let mut manner = if self.dry_run { Manner::Checked } else { Manner::Real };
        for declaration in &declared.all {
            let desired = &declaration.desired;
            match session.apply(desired, manner).await {
                Ok((resource, outcome)) => {
                    if matches!((manner, &outcome), (Manner::Checked, Outcome::Created)) {
                        manner = Manner::Unchecked;
                    }
                    if self.output.is_json() {
                        results.push(outcome_json(desired, &outcome));
                    } else {
                        let text = outcome_text(desired, &outcome, self.dry_run);
                        heard = heard.and(self.output.line(&text));
                    }
                    done.extend(resource);
                }
                Err(status) => {
                    let attempt = format!("apply {}", desired.title());
                    failures.push(declared.locate(declaration, session.failure(attempt)(status)));
                }
            }
        }
        if self.output.is_json() {
            heard = self.output.json(&Value::Array(results));
        }
        if let Some(last) = failures.pop() {
            let exit = failures.first().map_or(last.exit, |first| first.exit);
            failures.iter().for_each(|failure| note(&format!("error: {failure}")));
            return Err(Failure { exit, ..last });
        }
        if self.wait.wait && !self.dry_run {
            for resource in &done {
                session.wait_until_ready(resource, self.wait.timeout).await?;
            }
        }
        heard.map_err(Failure::unheard)
    }
}

/// How a declaration is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Real,
    /// The host checks it, and changes nothing.
    Checked,
    /// Not even that: it may need something that would have been created before it.
    Unchecked,
}

impl Session {
    /// Creates or changes, and starts over when somebody else changes it at the same time.
    async fn apply(
        &self,
        desired: &Desired,
        manner: Manner,
    ) -> Result<(Option<Resource>, Outcome), Status> {
        const TRIES: usize = 5;
        let mut tried = 0;
        loop {
            tried += 1;
            let (revision, outcome) = match self.get(desired.kind, &desired.key).await {
                Err(status) if is_not_found(&status) => (0, Outcome::Created),
                Ok(there) if there.has_ended() => (0, Outcome::Created),
                Err(status) => return Err(status),
                Ok(there) => {
                    let changes = compare(&there, desired);
                    // What is being deleted is not what is wanted, however equal: the host refuses.
                    if changes.is_empty() && there.metadata.deleting_since.is_none() {
                        return Ok((Some(there), Outcome::Unchanged));
                    }
                    (there.metadata.revision, Outcome::Changed(changes))
                }
            };
            let options =
                WriteOptions { dry_run: manner == Manner::Checked, ..write_once(revision) };
            let written = match (manner, &outcome) {
                (Manner::Unchecked, _) => return Ok((None, outcome)),
                (_, Outcome::Created) => self.create(desired, options).await,
                (_, Outcome::Changed(_) | Outcome::Unchanged) => {
                    self.update(desired, options).await
                }
            };
            match written {
                Err(status) if is_race(&status) && tried < TRIES => {}
                result => return result.map(|resource| (Some(resource), outcome)),
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
