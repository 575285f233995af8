//! Inputs that are read more than once, and what is read beside them.

use super::judging::shown;
use anyhow::{Context as _, bail};
use driftgate::{Checked, CompareError, Limits, Options, read_schemas};
use std::{
    fs::File,
    io::{self, Cursor, Read, Seek},
    path::Path,
    sync::Arc,
};

/// A file, or what a pipe gave.
pub(crate) trait Rereadable: Read + Seek {}

impl<T: Read + Seek> Rereadable for T {}

/// Opens a file. What comes from a pipe is kept within a bound, since it cannot be read again.
pub(crate) fn open(path: &Path, limits: Limits) -> anyhow::Result<Box<dyn Rereadable>> {
    if path == Path::new("-") {
        return keep(io::stdin().lock(), limits).context("failed to read standard input");
    }
    let context = || format!("failed to read {}", shown(path));
    let file = File::open(path).with_context(context)?;
    if file.metadata().with_context(context)?.is_file() {
        Ok(Box::new(file))
    } else {
        keep(file, limits).with_context(context)
    }
}

fn keep(reader: impl Read, limits: Limits) -> anyhow::Result<Box<dyn Rereadable>> {
    let mut bytes = Vec::new();
    reader.take(limits.held_bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limits.held_bytes_max {
        bail!(
            "a pipe gives more than {} bytes, and it is to be read twice; save it to a file and \
             give its name",
            limits.held_bytes_max
        );
    }
    Ok(Box::new(Cursor::new(bytes)))
}

/// The options with the schemas in a file.
pub(crate) fn with_schemas(options: Options, file: Option<&Path>) -> anyhow::Result<Options> {
    let Some(path) = file else { return Ok(options) };
    let context = || format!("failed to read the provider schemas in {}", shown(path));
    let file = File::open(path).with_context(context)?;
    let schemas = read_schemas(file, options.limits).with_context(context)?;
    Ok(Options { schemas: Some(Arc::new(schemas)), ..options })
}

/// Names the input that was in the way.
pub(crate) fn named(
    outcome: Result<Checked, CompareError>,
    first: &Path,
    second: &Path,
) -> anyhow::Result<Checked> {
    let name = |path: &Path| format!("failed to read {}", shown(path));
    outcome.map_err(|error| match error {
        CompareError::First(source) => anyhow::Error::new(source).context(name(first)),
        CompareError::Second(source) => anyhow::Error::new(source).context(name(second)),
        other @ (CompareError::Kinds | CompareError::Lineage(..)) => other.into(),
    })
}
