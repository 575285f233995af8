//! `driftgate state`: a state against what is real, as a newer state or the engine itself tells.

use super::{
    engine::{self, Engine},
    inputs::{named, open, with_schemas},
    judging::Settings,
    reports,
};
use crate::cli::State;
use anyhow::{Context as _, bail};
use driftgate::{
    Checked, Options, check_file, check_with_previous, compare_with_live, exit_code::ExitCode,
};
use std::{fs::File, path::Path, time::Duration};

pub(crate) fn run(arguments: &State) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&arguments.judging)?;
    let options = settings.options(arguments.reading.limits());
    let options = with_schemas(options, arguments.reading.schemas.as_deref())?;
    let (mut checked, judged) = match (&arguments.state, &arguments.live, &arguments.config_dir) {
        (Some(state), Some(live), None) => {
            let (first, second) = (open(state, options.limits)?, open(live, options.limits)?);
            (named(compare_with_live(first, second, &options), state, live)?, live.as_path())
        }
        (state, None, Some(root)) => {
            let checked = ask_engine(arguments, state.as_deref(), root, &options)?;
            (checked, root.as_path())
        }
        (_, None, None) => bail!(
            "what is real is missing: give a newer state (--live FILE), or the folder of the \
             configuration (--config-dir DIR), where the engine is asked"
        ),
        (None, Some(_), _) => bail!("a state is missing: `driftgate state STATE --live NEWER`"),
        (Some(_), Some(_), Some(_)) => {
            bail!("--live and --config-dir both say what is real; give one of them")
        }
    };
    let history = settings.judge(&mut checked, judged)?;
    reports::write(&checked.report, &arguments.printing, arguments.config_dir.as_deref())?;
    if let Some(history) = history {
        history.write()?;
    }
    Ok(settings.gate.exit_code(&checked.report))
}

/// Lets the engine look at what is real, without writing anything.
fn ask_engine(
    arguments: &State,
    state: Option<&Path>,
    root: &Path,
    options: &Options,
) -> anyhow::Result<Checked> {
    let folder = tempfile::tempdir().context("failed to make a folder for the plan")?;
    // A bare name is looked for on PATH; a path is one from here, not from the folder.
    let program = if arguments.terraform.components().count() > 1 {
        std::path::absolute(&arguments.terraform).context("failed to find the engine")?
    } else {
        arguments.terraform.clone()
    };
    let engine =
        Engine { program: &program, root, timeout: Duration::from_secs(arguments.timeout) };
    let plan = engine::refresh_only_plan(&engine, folder.path(), &arguments.plan_arguments)?;
    let file = File::open(&plan).context("failed to read the plan that was made")?;
    match state {
        None => check_file(file, options.clone()).context("failed to read the plan that was made"),
        Some(state) => {
            named(check_with_previous(file, open(state, options.limits)?, options), &plan, state)
        }
    }
}
