//! One file for each sub-command, and what several of them do: read a plan, load a configuration,
//! print.

pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod completion;
pub(crate) mod explain;
pub(crate) mod ignores;
mod judging;
pub(crate) mod propose;

use crate::cli::{Check, ColorChoice, Input};
use anyhow::Context as _;
use driftgate::{
    Checked, Configuration, Options, check_file, check_stream,
    formats::{Color, Style},
};
use std::{
    fs::File,
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

fn read(input: &Input, options: impl Into<Options>) -> anyhow::Result<Checked> {
    let options = options.into();
    if input.plan == Path::new("-") {
        return check_stream(io::stdin().lock(), options).context("failed to read standard input");
    }
    let context = || format!("failed to read {}", input.plan.display());
    let file = File::open(&input.plan).with_context(context)?;
    // A pipe or a device has a name too, but cannot be read twice.
    if file.metadata().with_context(context)?.is_file() {
        check_file(file, options).with_context(context)
    } else {
        check_stream(file, options).with_context(context)
    }
}

fn load(root: &Path) -> anyhow::Result<Configuration> {
    Configuration::load(root)
        .with_context(|| format!("failed to read the configuration in {}", root.display()))
}

fn style(arguments: &Check) -> Style {
    let to_terminal = arguments.output.is_none() && io::stdout().is_terminal();
    let color = match arguments.color {
        ColorChoice::Always => Color::On,
        ColorChoice::Never => Color::Off,
        ColorChoice::Auto if to_terminal && !is_set("NO_COLOR") => Color::On,
        ColorChoice::Auto => Color::Off,
    };
    Style { width: width(to_terminal), color, ..Style::default() }
}

/// `COLUMNS`, the terminal's width, or a hundred.
fn width(to_terminal: bool) -> usize {
    let asked = std::env::var_os("COLUMNS").and_then(|text| text.to_str()?.parse().ok());
    let seen = || terminal_size::terminal_size().filter(|_| to_terminal);
    let seen = || seen().map(|(terminal_size::Width(columns), _)| usize::from(columns));
    asked.or_else(seen).filter(|width| *width >= 40).unwrap_or(100)
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("failed to write the output")
}
