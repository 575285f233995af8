//! Where reports go: standard output or a file, copies in other formats, and what GitHub Actions
//! keeps for a step.

use super::print;
use crate::cli::{Copy, Printing};
use anyhow::Context as _;
use driftgate::{
    Report,
    formats::{self, Color, Format, Style},
};
use std::{
    fs::{self, OpenOptions},
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

/// Writes all that was asked for. `root` is the folder of the root module, when there is one.
pub(crate) fn write(
    report: &Report,
    printing: &Printing,
    root: Option<&Path>,
) -> anyhow::Result<()> {
    let style = style(printing, root);
    let format = find(&printing.format)?;
    put((format.render)(report, &style), printing.output.as_deref())?;
    // Copies go into files, whatever standard output is.
    let style = Style { width: Style::default().width, color: Color::Off, ..style };
    for Copy { format, file } in &printing.reports {
        put((find(format)?.render)(report, &style), file.as_deref())?;
    }
    if let Some(file) = &printing.summary {
        let file = named(file.as_deref(), "GITHUB_STEP_SUMMARY", "--summary")?;
        append(&file, &formats::step_summary(report))?;
    }
    if let Some(file) = &printing.outputs {
        let file = named(file.as_deref(), "GITHUB_OUTPUT", "--outputs")?;
        append(&file, &formats::github_outputs(report, &delimiter()?))?;
    }
    Ok(())
}

fn find(name: &str) -> anyhow::Result<&'static Format> {
    formats::find(name).context("the format is not known")
}

fn put(text: String, file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else { return print(text.as_bytes()) };
    fs::write(file, text)
        .with_context(|| format!("failed to write the report to {}", file.display()))
}

/// The file that was given, or the one that a variable names.
fn named(file: Option<&Path>, variable: &str, option: &str) -> anyhow::Result<PathBuf> {
    if let Some(file) = file {
        return Ok(file.to_owned());
    }
    let found = std::env::var_os(variable).filter(|value| !value.is_empty());
    let found = found.with_context(|| {
        format!("{variable} is not set; outside of GitHub Actions give a file: {option}=FILE")
    });
    found.map(PathBuf::from)
}

/// Other steps of the job may have written into the file before.
fn append(file: &Path, text: &str) -> anyhow::Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("failed to append to {}", file.display()))
}

/// A text that nobody can have foreseen.
fn delimiter() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the system gives no random bytes")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn style(printing: &Printing, root: Option<&Path>) -> Style {
    let to_terminal = printing.output.is_none() && io::stdout().is_terminal();
    let color = printing.color.decide(to_terminal);
    Style {
        width: width(to_terminal),
        color,
        comment_bytes_max: printing.comment_max,
        folder: root.map(folder).unwrap_or_default(),
        now: Some(jiff::Timestamp::now().as_second()),
    }
}

/// `COLUMNS`, the terminal's width, or a hundred.
fn width(to_terminal: bool) -> usize {
    let asked = std::env::var_os("COLUMNS").and_then(|text| text.to_str()?.parse().ok());
    let seen = || terminal_size::terminal_size().filter(|_| to_terminal);
    let seen = || seen().map(|(terminal_size::Width(columns), _)| usize::from(columns));
    asked.or_else(seen).filter(|width| *width >= 40).unwrap_or(100)
}

/// The folder inside its repository; outside of any, inside the working directory.
fn folder(root: &Path) -> String {
    let Ok(root) = root.canonicalize() else { return String::new() };
    let repository = root.ancestors().find(|ancestor| ancestor.join(".git").exists());
    let repository = repository.map(Path::to_owned).or_else(|| std::env::current_dir().ok());
    let inner = repository.and_then(|it| root.strip_prefix(it).ok().map(Path::to_owned));
    let inner = inner.unwrap_or_default();
    let steps = inner.components().map(|step| step.as_os_str().to_string_lossy().into_owned());
    steps.collect::<Vec<_>>().join("/")
}
