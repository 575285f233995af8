//! `driftgate`: reads arguments, calls the library, prints, and ends with an exit code.
//!
//! Only here are standard streams, the environment and the terminal looked at. Reports go to
//! standard output or `--output`, everything else to standard error.

mod cli;

use anyhow::Context;
use clap::{CommandFactory, Parser};
use cli::{Check, Cli, ColorChoice, Command, Input, Propose};
use driftgate::{
    Checked, Configuration, Limits, Written, check_file, check_stream,
    exit_code::ExitCode,
    explain, formats,
    formats::{Color, Style, visible},
    gate, propose,
};
use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::Path,
};

fn main() -> std::process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no failure.
            drop(error.print());
            let code = if error.use_stderr() { ExitCode::Error } else { ExitCode::Clean };
            return code.into();
        }
    };
    match run(cli) {
        Ok(code) => code.into(),
        Err(error) if is_closed_pipe(&error) => ExitCode::Error.into(),
        Err(error) => {
            drop(writeln!(io::stderr(), "driftgate: {error:#}"));
            ExitCode::Error.into()
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Check(arguments) => check(&arguments),
        Command::Propose(arguments) => adopt(&arguments),
        Command::Explain { topic } => explain(topic.as_deref()),
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "driftgate", &mut script);
            print(&script)?;
            Ok(ExitCode::Clean)
        }
    }
}

fn check(arguments: &Check) -> anyhow::Result<ExitCode> {
    let Checked { mut report, secrets } = read(&arguments.input)?;
    if let Some(root) = &arguments.config_dir {
        propose(&mut report, &load(root)?, &secrets);
    }
    let format = formats::find(&arguments.format).context("the format is not known")?;
    let text = (format.render)(&report, style(arguments));
    match &arguments.output {
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("failed to write the report to {}", path.display()))?,
        None => print(text.as_bytes())?,
    }
    Ok(gate::exit_code(&report, arguments.fail_on))
}

fn adopt(arguments: &Propose) -> anyhow::Result<ExitCode> {
    let Checked { mut report, secrets } = read(&arguments.input)?;
    let root = &arguments.config_dir;
    let edited = propose(&mut report, &load(root)?, &secrets);
    let mut remarks = io::stderr().lock();
    for finding in &report.findings {
        for refusal in finding.proposals.iter().flat_map(|proposal| &proposal.refusals) {
            let place = refusal.place.as_ref();
            let place = place.map(|it| format!(" ({}:{})", it.file, it.line)).unwrap_or_default();
            let (address, path) = (&finding.address, &refusal.path);
            let remark = format!("left alone: {address} {path}: {}{place}", refusal.reason);
            writeln!(remarks, "{}", visible(&remark))?;
        }
    }
    for warning in &report.warnings {
        writeln!(remarks, "warning: {}", visible(warning))?;
    }
    if arguments.write {
        let Written(files) = Written::write(root, &edited)
            .with_context(|| format!("failed to edit the files in {}", root.display()))?;
        for file in files {
            writeln!(remarks, "edited {}", visible(&file))?;
        }
    } else {
        print(report.patch.unwrap_or_default().as_bytes())?;
    }
    Ok(ExitCode::Clean)
}

fn explain(wanted: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    for topic in explain::topics() {
        if wanted.is_none_or(|wanted| wanted == topic.name) {
            out.push_str(&format!("{} ({})\n", topic.name, topic.group));
            for line in topic.meaning.lines() {
                out.push_str(&format!("    {line}\n"));
            }
        }
    }
    if out.is_empty() {
        anyhow::bail!("nothing is called so; `driftgate explain` lists everything that is");
    }
    print(out.as_bytes())?;
    Ok(ExitCode::Clean)
}

fn read(input: &Input) -> anyhow::Result<Checked> {
    let limits = Limits { entry_bytes_max: input.max_entry, ..Limits::STANDARD };
    if input.plan == Path::new("-") {
        return check_stream(io::stdin().lock(), limits).context("failed to read standard input");
    }
    let context = || format!("failed to read {}", input.plan.display());
    let file = File::open(&input.plan).with_context(context)?;
    // A pipe or a device has a name too, but cannot be read twice.
    if file.metadata().with_context(context)?.is_file() {
        check_file(file, limits).with_context(context)
    } else {
        check_stream(file, limits).with_context(context)
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
    Style { width: width(to_terminal), color }
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

/// Whoever read our output has gone: nobody is left to tell.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let source = error.root_cause().downcast_ref::<io::Error>();
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
