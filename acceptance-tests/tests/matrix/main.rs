//! Every story, case and example with every command line of the matrix.
//!
//! A leg that can not run on this machine is counted as ignored, and named in the summary.

mod bad_input;
mod drift;
mod examples;
mod life;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Arc, Mutex},
};

use acceptance_tests::{
    case::Case,
    cli::{self, Cli, Leg},
    folders, repository,
};
use anyhow::Result;
use libtest_mimic::{Arguments, Trial};

/// Something to try with one command line.
type Story = Box<dyn Fn(&Cli) -> Result<()> + Send>;

/// A story of its own, in code: what holds, and how that is tried.
type CodedStory = (&'static str, fn(&Cli) -> Result<()>);

/// How many trials of each leg passed, and how many failed.
type Tally = Arc<Mutex<BTreeMap<String, (usize, usize)>>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let legs = cli::matrix();
    let tally = Tally::default();
    let trials = legs.iter().flat_map(|leg| trials(leg, &tally)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        // Nothing can be done about an output that is closed.
        drop(io::stdout().write_all(summary(&legs, &tally).as_bytes()));
    }
    conclusion.exit_code()
}

/// The name and body of each trial that one command line goes through.
fn stories() -> Vec<(String, Story)> {
    let code = [bad_input::STORIES, drift::STORIES, life::STORIES].concat();
    let code = code.into_iter().map(|(name, story)| (name.to_owned(), Box::new(story) as Story));
    let cases = folders(&repository().join("acceptance-tests/cases")).into_iter().map(|dir| {
        let name = format!("case::{}", dir.file_name().unwrap_or_default().display());
        (name, Box::new(move |cli: &Cli| Case::read(&dir)?.run(cli)) as Story)
    });
    code.chain(cases).chain(examples::stories()).collect()
}

fn trials(leg: &Leg, tally: &Tally) -> Vec<Trial> {
    let trial = |(name, story): (String, Story)| {
        let (at, tally) = (leg.clone(), tally.clone());
        let body = move || {
            let outcome = at.cli().and_then(|cli| story(&cli));
            if let Ok(mut tally) = tally.lock() {
                let (passed, failed) = tally.entry(at.name).or_default();
                *if outcome.is_ok() { passed } else { failed } += 1;
            }
            outcome.map_err(|error| format!("{error:#}").into())
        };
        Trial::test(format!("{}::{name}", leg.name), body)
            .with_ignored_flag(leg.skipped().is_some())
    };
    stories().into_iter().map(trial).collect()
}

fn summary(legs: &[Leg], tally: &Tally) -> String {
    let tally = tally.lock().map(|tally| tally.clone()).unwrap_or_default();
    let mut text = String::from("command lines of the matrix:\n");
    for leg in legs {
        let outcome = match (leg.skipped(), tally.get(&leg.name)) {
            (Some(why), _) => format!("skipped: {why}"),
            (None, Some((passed, failed))) => format!("ran: {passed} passed, {failed} failed"),
            (None, None) => "not asked for".to_owned(),
        };
        writeln!(text, "  {:<18} {outcome}", leg.name).unwrap_or_default();
    }
    text
}
