//! Every story, case and example with every command line of the matrix.
//!
//! A leg that can not run on this machine is counted as ignored, and so is a trial that needs a
//! feature which a command line does not have; the summary tells of both.

mod access;
mod actions;
mod bad_input;
mod drift;
mod examples;
mod install;
mod interruption;
mod leases;
mod life;
mod looking;
mod parallel;
mod proposals;
mod query;
mod story;
mod verdicts;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Arc, Mutex},
};

use acceptance_tests::{
    case::Case,
    cli::{self, Leg},
    feature::Release,
    folders, repository, settings,
};
use anyhow::{Context, Result};
use libtest_mimic::{Arguments, Trial};

use crate::story::Told;

/// What became of the trials of each leg, by its name.
type Tally = Arc<Mutex<BTreeMap<String, Counts>>>;

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    passed: usize,
    failed: usize,
    /// Trials that need what the command line does not have.
    not_for_it: usize,
}

fn main() -> Result<ExitCode> {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert_with(settings::trials_at_a_time);
    let legs = cli::matrix()?;
    let tally = Tally::default();
    let mut trials = Vec::new();
    for leg in &legs {
        trials.extend(trials_of(leg, &tally)?);
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        // Nothing can be done about an output that is closed.
        drop(io::stdout().write_all(summary(&legs, &tally).as_bytes()));
    }
    Ok(conclusion.exit_code())
}

/// Each trial that a command line goes through.
fn stories(release: Option<Release>) -> Result<Vec<Told>> {
    let coded = [
        access::STORIES,
        actions::STORIES,
        bad_input::STORIES,
        drift::STORIES,
        install::STORIES,
        interruption::STORIES,
        leases::STORIES,
        life::STORIES,
        looking::STORIES,
        parallel::STORIES,
        query::STORIES,
    ]
    .concat();
    let mut told: Vec<Told> = coded.into_iter().map(|story| story.told(release)).collect();
    for dir in folders(&repository().join("acceptance-tests/cases")) {
        let case = Case::read(&dir).with_context(|| format!("in {}", dir.display()))?;
        told.push(Told {
            name: format!("case::{}", dir.file_name().unwrap_or_default().display()),
            lacks: release.and_then(|release| case.lacks(release)),
            story: Box::new(move |cli| case.run(cli)),
        });
    }
    told.extend(examples::stories(release));
    told.extend(proposals::stories());
    told.extend(verdicts::stories(release));
    Ok(told)
}

fn trials_of(leg: &Leg, tally: &Tally) -> Result<Vec<Trial>> {
    let trial = |told: Told| {
        let (at, counts) = (leg.clone(), tally.clone());
        if told.lacks.is_some() {
            count(&counts, &at.name, |counts| counts.not_for_it += 1);
        }
        let ignored = told.lacks.is_some() || leg.skipped().is_some();
        let name = match &told.lacks {
            Some(feature) => format!("{}::{} (needs {feature})", leg.name, told.name),
            None => format!("{}::{}", leg.name, told.name),
        };
        let body = move || {
            let outcome = at.cli().and_then(|cli| (told.story)(&cli));
            count(&counts, &at.name, |counts| {
                *if outcome.is_ok() { &mut counts.passed } else { &mut counts.failed } += 1;
            });
            outcome.map_err(|error| format!("{error:#}").into())
        };
        Trial::test(name, body).with_ignored_flag(ignored)
    };
    Ok(stories(leg.release())?.into_iter().map(trial).collect())
}

fn count(tally: &Tally, leg: &str, change: impl FnOnce(&mut Counts)) {
    if let Ok(mut tally) = tally.lock() {
        change(tally.entry(leg.to_owned()).or_default());
    }
}

fn summary(legs: &[Leg], tally: &Tally) -> String {
    let tally = tally.lock().map(|tally| tally.clone()).unwrap_or_default();
    let mut text = String::from("command lines of the matrix:\n");
    for leg in legs {
        let counts = tally.get(&leg.name).copied().unwrap_or_default();
        let Counts { passed, failed, not_for_it } = counts;
        let outcome = match leg.skipped() {
            Some(why) => format!("skipped: {why}"),
            None if passed + failed == 0 => "not asked for".to_owned(),
            None => format!("ran: {passed} passed, {failed} failed, {not_for_it} not for it"),
        };
        writeln!(text, "  {:<18} {outcome}", leg.name).unwrap_or_default();
    }
    text
}
