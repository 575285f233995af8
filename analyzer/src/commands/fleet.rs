//! `driftgate fleet`: many plans, or the results of many jobs, and one report about all of them.
//!
//! Each core takes the next file when it is done with one, and keeps a digest of it: memory is
//! bounded by what the cores are reading, and grows with the drift only.

mod sources;

use super::{judging::Settings, print, read};
use crate::cli::{Fleet as Arguments, Input};
use anyhow::{Context as _, anyhow, ensure};
use driftgate::{
    ReadError, WrongKind,
    exit_code::ExitCode,
    fleet::{Digest, Fleet, Foreign, Member, Outcome, read_result},
    formats::{FLEET_FORMATS, Style},
};
use sources::{Item, Place};
use std::{
    fs,
    io::Read as _,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A result holds no plan, so it is small; more is something else.
const RESULT_BYTES_MAX: u64 = 256 * 1024 * 1024;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?.for_many();
    ensure!(
        arguments.judging.workspace.is_none() && arguments.judging.history.is_none(),
        "--workspace and --history are about one workspace; a fleet has many"
    );
    let items = sources::find(arguments)?;
    ensure!(
        !items.is_empty(),
        "there is no plan: files that end in `.json` or `.json.gz` are looked for"
    );
    let reader = Reader { arguments, settings: &settings };
    let foreign = if arguments.strict { Foreign::Unreadable } else { Foreign::Listed };
    let fleet = Fleet::new(reader.read_all(&items), &settings.gate, foreign);
    let format = FLEET_FORMATS.iter().find(|format| format.name == arguments.format);
    let style = Style {
        comment_bytes_max: arguments.comment_max,
        now: Some(jiff::Timestamp::now().as_second()),
        ..Style::default()
    };
    let text = (format.context("the format is not known")?.render)(&fleet, &style);
    match &arguments.output {
        Some(file) => fs::write(file, text)
            .with_context(|| format!("failed to write the report to {}", file.display()))?,
        None => print(text.as_bytes())?,
    }
    Ok(fleet.exit_code)
}

struct Reader<'a> {
    arguments: &'a Arguments,
    settings: &'a Settings,
}

impl Reader<'_> {
    /// Reads everything, on all cores.
    fn read_all(&self, items: &[Item]) -> Vec<Member> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let jobs = self.arguments.jobs.map_or(cores, NonZero::get).min(items.len());
        let next = AtomicUsize::new(0);
        let members = Mutex::new(Vec::with_capacity(items.len()));
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let member = self.member(item);
                        members.lock().unwrap_or_else(PoisonError::into_inner).push(member);
                    }
                });
            }
        });
        members.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// One bad file never takes the others with it.
    fn member(&self, item: &Item) -> Member {
        let read = || match &item.place {
            Place::Plan(path) => Ok((None, self.plan(path)?)),
            Place::Result(path) => result(path),
            Place::Lost(why) => Err(anyhow!("{why}")),
        };
        let read = catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| Err(anyhow!("reading it failed inside of driftgate: a bug")));
        match read {
            Ok((name, digest)) => {
                let name = name.unwrap_or_else(|| item.name.clone());
                Member { name, outcome: Outcome::Read(digest) }
            }
            Err(error) => Member { name: item.name.clone(), outcome: refusal(&error) },
        }
    }

    fn plan(&self, path: &Path) -> anyhow::Result<Digest> {
        let max_entry = self.arguments.max_entry;
        let plan = path.to_owned();
        let input = Input { plan, max_entry, quiet: true, schemas: None, previous_state: None };
        let mut checked = read(&input, self.settings.options(input.limits()))?;
        self.settings.judge(&mut checked, path)?;
        Ok(Digest::of(&checked.report))
    }
}

fn result(path: &Path) -> anyhow::Result<(Option<String>, Digest)> {
    let context = || format!("failed to read {}", path.display());
    let mut text = Vec::new();
    let file = fs::File::open(path).with_context(context)?;
    file.take(RESULT_BYTES_MAX + 1).read_to_end(&mut text).with_context(context)?;
    ensure!(text.len() as u64 <= RESULT_BYTES_MAX, "more than {RESULT_BYTES_MAX} bytes");
    let result = read_result(&text).with_context(context)?;
    Ok((result.workspace, result.digest))
}

/// What is sound but no plan is told from what may be a plan and cannot be read.
fn refusal(error: &anyhow::Error) -> Outcome {
    let why = format!("{error:#}");
    match error.downcast_ref::<ReadError>() {
        Some(ReadError::Kind(
            WrongKind::BackendStub
            | WrongKind::OtherJson
            | WrongKind::RawState
            | WrongKind::Schemas
            | WrongKind::StateJson,
        )) => Outcome::Foreign(why),
        _ => Outcome::Unreadable(why),
    }
}
