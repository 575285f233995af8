//! `docs/cli.md` says what the program says of itself. `UPDATE=1` writes its reference anew.

use std::{env, fs, path::Path};

use clap::Command;
use host::cli;

const MARK: &str = "<!-- From here on written by `UPDATE=1 cargo test -p host docs`. -->\n";

#[test]
fn the_reference_of_the_command_line_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let text = fs::read_to_string(&path).unwrap();
    let (by_hand, written) = text.split_once(MARK).expect("the mark is there");
    let mut reference = String::new();
    for sub in cli::command().get_subcommands().filter(|sub| sub.get_name() != "help") {
        describe("runtimecloud", sub, &mut reference);
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{by_hand}{MARK}{reference}")).unwrap();
    } else {
        assert!(written == reference, "docs/cli.md is stale: UPDATE=1 cargo test -p host docs");
    }
}

fn describe(parent: &str, command: &Command, reference: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    // What is set where the test runs does not belong into a document.
    let mut shown = command
        .clone()
        .bin_name(&name)
        .term_width(88)
        .disable_help_subcommand(true)
        .mut_args(|arg| arg.hide_env_values(true));
    let shown = shown.render_long_help().to_string();
    let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
    let level = "#".repeat(name.split(' ').count());
    reference.push_str(&format!(
        "\n{level} `{name}`\n\n```text\n{}\n```\n",
        lines.join("\n").trim_end()
    ));
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        describe(&name, sub, reference);
    }
}
