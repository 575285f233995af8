//! What is printed: tables for people, JSON for programs.

use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use rustix::termios::tcgetwinsize;
use serde_json::Value;

use crate::cli::text;

/// How results are printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct Output {
    /// How to print results
    #[arg(long, short, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
}

impl Output {
    pub fn is_json(self) -> bool {
        self.output == Format::Json
    }

    /// One JSON value, over several lines.
    pub fn json(self, value: &Value) -> io::Result<()> {
        writeln!(io::stdout(), "{value:#}")
    }

    /// One JSON value of many, on a line of its own.
    pub fn json_line(self, value: &Value) -> io::Result<()> {
        writeln!(io::stdout(), "{value}")
    }

    pub fn line(self, text: &str) -> io::Result<()> {
        writeln!(io::stdout(), "{text}")
    }

    pub fn table(self, headers: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        let width = stdout_width();
        io::stdout().write_all(table(headers, rows, width).as_bytes())
    }
}

/// Columns of the terminal; absent when nobody looks.
pub fn stdout_width() -> Option<u16> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    tcgetwinsize(stdout).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}

/// Columns side by side, without lines between them; cells wrap only where a width is given.
pub fn table(headers: &[&str], rows: Vec<Vec<String>>, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(headers.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| text::harmless(cell)).collect::<Vec<_>>());
    }
    if let Some(width) = width {
        table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut printed = String::new();
    for line in table.lines() {
        printed.push_str(line.trim_end());
        printed.push('\n');
    }
    printed
}

/// Whether colours may be used on standard error: on a terminal, unless `NO_COLOR` is set.
pub fn stderr_has_colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![
            row(["dev/web", "3/3", "Ready"]),
            row(["production/api", "0/10", "CommandNotFound, that is to say it is not there"]),
            row(["x\u{1b}[31m", "", "-"]),
        ]
    }

    #[test]
    fn columns_are_aligned_and_lines_end_with_text() {
        insta::assert_snapshot!(table(&["NAME", "READY", "STATUS"], rows(), None), @r"
    NAME            READY  STATUS
    dev/web         3/3    Ready
    production/api  0/10   CommandNotFound, that is to say it is not there
    x�[31m                 -
    ");
    }

    #[test]
    fn a_narrow_terminal_wraps_cells() {
        let printed = table(&["NAME", "READY", "STATUS"], rows(), Some(40));
        assert!(printed.lines().all(|line| line.chars().count() <= 40), "{printed}");
    }
}
