//! One file for each sub-command, and what several of them do: read a plan, load a configuration,
//! print.

pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod completion;
pub(crate) mod diff;
mod engine;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod ignores;
mod inputs;
mod judging;
pub(crate) mod man;
pub(crate) mod policies;
pub(crate) mod propose;
mod reports;
pub(crate) mod state;

use crate::{cli::Input, progress::Progress};
use anyhow::Context as _;
use driftgate::{
    Checked, Configuration, Options, ReadError, check_file, check_stream, check_with_previous,
};
use std::{
    fs::File,
    io::{self, IsTerminal as _, Write},
    path::Path,
    time::Duration,
};

fn read(input: &Input, options: impl Into<Options>) -> anyhow::Result<Checked> {
    let options = inputs::with_schemas(options.into(), input.schemas.as_deref())?;
    if let Some(previous) = &input.previous_state {
        let plan = inputs::open(&input.plan, options.limits)?;
        let state = inputs::open(previous, options.limits)?;
        return inputs::named(check_with_previous(plan, state, &options), &input.plan, previous);
    }
    if input.plan == Path::new("-") {
        let reader = watched(io::stdin().lock(), None, input);
        return check_stream(reader, options).context("failed to read standard input");
    }
    let context = || format!("failed to read {}", input.plan.display());
    let file = File::open(&input.plan).with_context(context)?;
    let metadata = file.metadata().with_context(context)?;
    // A pipe or a device has a name too, but cannot be read twice.
    if metadata.is_file() {
        check_file(watched(file, Some(metadata.len()), input), options).with_context(context)
    } else {
        check_stream(watched(file, None, input), options).with_context(context)
    }
}

/// With progress, when somebody is there to see it.
fn watched<R>(
    reader: R,
    total: Option<u64>,
    input: &Input,
) -> Progress<R, impl Write, impl FnMut() -> Duration> {
    let screen = (!input.quiet && io::stderr().is_terminal()).then(io::stderr);
    let begin = jiff::Timestamp::now();
    let clock = move || jiff::Timestamp::now().duration_since(begin).unsigned_abs();
    Progress::new(reader, total, screen, clock)
}

/// A plan of which nothing can be known is reported as that; other errors stay errors.
fn unread(error: anyhow::Error) -> anyhow::Result<Checked> {
    let Some(checked) = error.downcast_ref::<ReadError>().and_then(Checked::unread) else {
        return Err(error);
    };
    writeln!(io::stderr(), "driftgate: {error:#}")?;
    Ok(checked)
}

fn load(root: &Path, schemas: Option<&Path>) -> anyhow::Result<Configuration> {
    let configuration = Configuration::load(root)
        .with_context(|| format!("failed to read the configuration in {}", root.display()))?;
    let options = inputs::with_schemas(Options::default(), schemas)?;
    Ok(configuration.with_schemas(options.schemas))
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("failed to write the output")
}
