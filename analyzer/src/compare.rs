//! Two states or two plans: what differs between them.
//!
//! - The first input is read once to know its objects by digest, the second once to find those that
//!   are other, and the first again for their values. So memory grows with what differs.
//! - Noise, masks and secrets are those of a check; what is secret in one input is hidden in what
//!   the other one says too.

mod pairing;
mod plans;

pub(crate) use pairing::{Difference, Found};

use crate::{
    Checked, Options,
    analysis::{Plans, Rereading, report_of_states},
    read::{ReadError, WrongKind, read_prior_state, read_state},
    state::Info,
};
use pairing::{Pairing, Scope};
use std::io::{self, Read, Seek};
use thiserror::Error;

/// Why two inputs could not be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The first input, or the only plan.
    #[error("failed to read the first input")]
    First(#[source] ReadError),
    #[error("failed to read the second input")]
    Second(#[source] ReadError),
    #[error("one of the two is a state and the other a plan; compare like with like")]
    Kinds,
    #[error(
        "the two states are of different workspaces (their lineages are {0} and {1}), so one says \
         nothing of the other; to see what differs nevertheless, use `driftgate diff`"
    )]
    Lineage(String, String),
}

/// What differs between two states, of any format each, or between two plans.
pub fn compare(
    mut first: impl Read + Seek,
    mut second: impl Read + Seek,
    options: &Options,
) -> Result<Checked, CompareError> {
    match pair_states(&mut first, &mut second, Scope::Everything, options) {
        Err(CompareError::First(ReadError::Kind(WrongKind::Plan))) => {
            rewind(&mut first).map_err(CompareError::First)?;
            compare_plans(first, second, options)
        }
        outcome => outcome.map(|pair| report_of_states(pair.found, &pair.infos[1], pair.warnings)),
    }
}

/// What was changed outside, according to a newer state of the same workspace.
pub fn compare_with_live(
    first: impl Read + Seek,
    live: impl Read,
    options: &Options,
) -> Result<Checked, CompareError> {
    let pair = pair_states(first, live, Scope::Drift, options)?;
    if let [Some(left), Some(right)] = pair.infos.each_ref().map(|info| info.lineage.clone())
        && left != right
    {
        let [left, right] = [left, right].map(|text| text.escape_debug().take(60).collect());
        return Err(CompareError::Lineage(left, right));
    }
    Ok(report_of_states(pair.found, &pair.infos[1], pair.warnings))
}

/// Checks a plan with what a previous state knew: for plans that hold no drift themselves, because
/// their version writes none or because they were made without a refresh.
pub fn check_with_previous(
    mut plan: impl Read + Seek,
    mut previous: impl Read + Seek,
    options: &Options,
) -> Result<Checked, CompareError> {
    let mut pairing = Pairing::new(Scope::Drift, options);
    read_state(&mut previous, options.limits, &mut pairing).map_err(CompareError::Second)?;
    pairing.begin_second();
    read_prior_state(&mut plan, options.limits, &mut pairing).map_err(CompareError::First)?;
    if pairing.begin_first_again() {
        rewind(&mut previous).map_err(CompareError::Second)?;
        read_state(&mut previous, options.limits, &mut pairing).map_err(CompareError::Second)?;
    }
    rewind(&mut plan).map_err(CompareError::First)?;
    let mut plans = Plans::new(options.clone(), Rereading::Possible).with_drift(pairing.finish());
    plans.read_file(&mut plan).map_err(CompareError::First)?;
    Ok(plans.finish())
}

/// What two states make together.
struct Pair {
    found: Found,
    infos: [Info; 2],
    warnings: Vec<String>,
}

fn pair_states(
    mut first: impl Read + Seek,
    second: impl Read,
    scope: Scope,
    options: &Options,
) -> Result<Pair, CompareError> {
    let mut pairing = Pairing::new(scope, options);
    let left = read_state(&mut first, options.limits, &mut pairing).map_err(CompareError::First)?;
    pairing.begin_second();
    let right = match read_state(second, options.limits, &mut pairing) {
        Err(ReadError::Kind(WrongKind::Plan)) => return Err(CompareError::Kinds),
        outcome => outcome.map_err(CompareError::Second)?,
    };
    if pairing.begin_first_again() {
        rewind(&mut first).map_err(CompareError::First)?;
        read_state(&mut first, options.limits, &mut pairing).map_err(CompareError::First)?;
    }
    let (found, infos) = (pairing.finish(), [left, right]);
    let warnings = warnings(&infos, &found);
    Ok(Pair { found, infos, warnings })
}

fn warnings(infos: &[Info; 2], found: &Found) -> Vec<String> {
    let [left, right] = infos;
    let mut warnings = Vec::new();
    let mut warn = |text: String| warnings.push(text);
    match (&left.lineage, &right.lineage) {
        (Some(one), Some(other)) if one != other => warn(
            "the two states have different lineages: they are of different workspaces".to_owned(),
        ),
        (Some(_), Some(_)) if right.serial < left.serial => warn(format!(
            "the second state is the older one: its serial is {}, that of the first {}",
            right.serial.unwrap_or_default(),
            left.serial.unwrap_or_default()
        )),
        _ => {}
    }
    for (info, which) in infos.iter().zip(["first", "second"]) {
        if info.wrapped {
            warn(format!("other text surrounds the {which} state"));
        }
        if info.unknown > 0 {
            warn(format!(
                "the {which} state holds {} of a kind that this program does not know; they were \
                 not compared",
                if info.unknown == 1 {
                    "an entry".to_owned()
                } else {
                    format!("{} entries", info.unknown)
                }
            ));
        }
    }
    if found.doubles > 0 {
        warn(format!(
            "addresses stand twice in a state ({} times); only the first object of each was \
             compared",
            found.doubles
        ));
    }
    if found.without_masks && !found.differences.is_empty() {
        warn(
            "parts of the states do not say what is sensitive; values are hidden by their names \
             there"
                .to_owned(),
        );
    }
    warnings
}

fn compare_plans(
    mut first: impl Read + Seek,
    mut second: impl Read + Seek,
    options: &Options,
) -> Result<Checked, CompareError> {
    let mut left = Plans::new(options.clone(), Rereading::Possible);
    left.read_file(&mut first).map_err(CompareError::First)?;
    let mut right = Plans::new(options.clone(), Rereading::Possible);
    right.read_file(&mut second).map_err(|error| match error {
        ReadError::Kind(WrongKind::RawState | WrongKind::StateJson) => CompareError::Kinds,
        error => CompareError::Second(error),
    })?;
    let mut pairing = Pairing::new(Scope::Everything, options);
    let read =
        |input: &mut dyn Read, pairing: &mut Pairing| plans::read(input, options.limits, pairing);
    rewind(&mut first)
        .and_then(|()| read(&mut first, &mut pairing))
        .map_err(CompareError::First)?;
    pairing.begin_second();
    rewind(&mut second)
        .and_then(|()| read(&mut second, &mut pairing))
        .map_err(CompareError::Second)?;
    if pairing.begin_first_again() {
        rewind(&mut first)
            .and_then(|()| read(&mut first, &mut pairing))
            .map_err(CompareError::First)?;
    }
    Ok(plans::report(left, right, pairing.finish()))
}

fn rewind(input: &mut impl Seek) -> Result<(), ReadError> {
    let lost = |source: io::Error| ReadError::Io { offset: Default::default(), source };
    input.rewind().map_err(lost)
}
