//! `logs`: what workers print.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use clap::Args;
use futures_util::stream::{BoxStream, SelectAll, StreamExt};
use proto::runtimecloud::v1::LogsRequest;
use serde_json::json;
use tonic::Status;

use crate::cli::{
    Action,
    client::Filter,
    connection::{Connect, Session},
    failure::Failure,
    output::Output,
    wait::is_not_found,
};

/// How often a followed pool is asked for new workers.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Show what a worker prints, or all workers of a pool
///
/// Lines of several workers are preceded by the end of the worker's id. With `--output json` each line
/// is an object on a line of its own.
#[derive(Debug, Args)]
pub struct Logs {
    /// A worker's id, or a pool
    #[arg(value_name = "WORKER|ENVIRONMENT/POOL")]
    key: String,

    /// Go on with what is printed from now on
    #[arg(long, short = 'f')]
    follow: bool,

    /// Begin with at most so many of the last lines, of each worker
    #[arg(long, value_name = "LINES")]
    tail: Option<u32>,

    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    connect: Connect,
}

/// What a worker said: a piece of its output, or its end.
type Said = (String, Result<Option<Vec<u8>>, Status>);

impl Action for Logs {
    async fn run(self) -> Result<(), Failure> {
        let session = self.connect.open().await?;
        if self.tail == Some(0) && !self.follow {
            return Ok(());
        }
        if self.key.starts_with("worker_") {
            return self.one(&session).await;
        }
        self.pool(&session).await
    }
}

impl Logs {
    async fn one(&self, session: &Session) -> Result<(), Failure> {
        let failure = session.failure(format!("read the output of worker `{}`", self.key));
        let mut pieces = self.open(session, &self.key).await.map_err(&failure)?;
        let mut lines = Lines::new(self.key.clone());
        while let Some((_, said)) = pieces.next().await {
            let Some(piece) = said.map_err(&failure)? else { break };
            if self.output.is_json() {
                self.print(lines.add(&piece), Prefix::None)?;
            } else {
                let mut stdout = io::stdout();
                stdout.write_all(&piece)?;
                stdout.flush()?;
            }
        }
        self.print(lines.end(), Prefix::None)
    }

    async fn pool(&self, session: &Session) -> Result<(), Failure> {
        let failure = session.failure(format!("read the output of worker pool `{}`", self.key));
        let filter = Filter { parent: self.key.clone(), ..Filter::default() };
        let mut known = BTreeSet::new();
        let mut all: SelectAll<BoxStream<'static, Said>> = SelectAll::new();
        let mut lines: Vec<Lines> = Vec::new();
        let mut look = tokio::time::interval(LOOK_AGAIN);
        loop {
            tokio::select! {
                _ = look.tick(), if self.follow || known.is_empty() => {
                    let workers = match session.list_workers(&filter).await {
                        // The pool is gone, and with it its workers.
                        Err(status) if is_not_found(&status) && !known.is_empty() => return Ok(()),
                        result => result.map_err(&failure)?,
                    };
                    for worker in workers {
                        if known.insert(worker.id.clone()) {
                            match self.open(session, &worker.id).await {
                                Ok(pieces) => all.push(pieces),
                                // It is gone since it was listed.
                                Err(status) if is_not_found(&status) => continue,
                                Err(status) => return Err(failure(status)),
                            }
                            lines.push(Lines::new(worker.id));
                        }
                    }
                    if all.is_empty() && !self.follow {
                        return Ok(());
                    }
                }
                Some((id, said)) = all.next() => {
                    let Some(lines) = lines.iter_mut().find(|lines| lines.worker == id) else { continue };
                    match said {
                        Ok(Some(piece)) => self.print(lines.add(&piece), Prefix::Worker)?,
                        Ok(None) => self.print(lines.end(), Prefix::Worker)?,
                        // It is not started yet, or gone: the list of the pool knows.
                        Err(status) if is_not_found(&status) => if self.follow {
                            known.remove(&id);
                        },
                        Err(status) => return Err(failure(status)),
                    }
                }
                else => return Ok(()),
            }
        }
    }

    /// The pieces of a worker's output, and its end.
    async fn open(&self, session: &Session, id: &str) -> Result<BoxStream<'static, Said>, Status> {
        let request = LogsRequest {
            key: id.to_owned(),
            follow: self.follow,
            // On the wire 0 means all.
            tail_lines: self.tail.map_or(0, |lines| lines.max(1)),
        };
        let pieces = session.workers().logs(request).await?.into_inner();
        let (id, end) = (id.to_owned(), (id.to_owned(), Ok(None)));
        let said = pieces.map(move |piece| (id.clone(), piece.map(|piece| Some(piece.data))));
        Ok(said.chain(futures_util::stream::iter([end])).boxed())
    }

    fn print(&self, (worker, lines): (&str, Vec<String>), prefix: Prefix) -> Result<(), Failure> {
        let mut stdout = io::stdout();
        for line in lines {
            match prefix {
                _ if self.output.is_json() => {
                    self.output.json_line(&json!({"worker": worker, "line": line}))?;
                }
                Prefix::Worker => writeln!(stdout, "{} | {line}", short(worker))?,
                Prefix::None => writeln!(stdout, "{line}")?,
            }
        }
        Ok(stdout.flush()?)
    }
}

#[derive(Clone, Copy)]
enum Prefix {
    None,
    Worker,
}

/// The random end of a worker's id, which tells it from its fellows.
fn short(worker: &str) -> &str {
    worker.get(worker.len().saturating_sub(12)..).unwrap_or(worker)
}

/// Puts pieces together to lines.
struct Lines {
    worker: String,
    rest: Vec<u8>,
}

impl Lines {
    fn new(worker: String) -> Self {
        Self { worker, rest: Vec::new() }
    }

    fn add(&mut self, piece: &[u8]) -> (&str, Vec<String>) {
        self.rest.extend_from_slice(piece);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        let lines = String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect();
        (&self.worker, lines)
    }

    /// What is left without a newline.
    fn end(&mut self) -> (&str, Vec<String>) {
        let rest = std::mem::take(&mut self.rest);
        let lines = String::from_utf8_lossy(&rest).lines().map(str::to_owned).collect();
        (&self.worker, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_whole_lines() {
        let mut lines = Lines::new("worker_x".to_owned());
        assert_eq!(lines.add(b"one\ntw").1, ["one"]);
        assert_eq!(lines.add(b"o").1, [""; 0]);
        assert_eq!(lines.add(b"\n\nthree").1, ["two", ""]);
        assert_eq!(lines.end().1, ["three"]);
        assert_eq!(lines.end().1, [""; 0]);
    }
}
