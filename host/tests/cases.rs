//! Scenarios as files: commands to an in-memory host, and what it says.
//! `UPDATE=1 cargo test -p host --test cases` writes what it says now.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

#[expect(dead_code, reason = "shared with other tests")]
mod sim;

use std::{fmt, path::Path};

/// A failure that the harness prints as it is, line by line.
struct Plain(String);

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Plain {}

#[expect(clippy::needless_pass_by_value, reason = "the harness hands over the text")]
fn scenario(path: &Path, text: String) -> datatest_stable::Result<()> {
    let now = sim::script::run_file(&text);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, now)?;
        return Ok(());
    }
    let Some(difference) = difference(&text, &now) else { return Ok(()) };
    let hint = "if that is right, `UPDATE=1 cargo test -p host --test cases` writes it";
    Err(Plain(format!("{difference}\n{hint}")).into())
}

/// Names the first line that differs.
fn difference(expected: &str, now: &str) -> Option<String> {
    let mut lines = expected.lines().zip(now.lines()).enumerate();
    if let Some((number, (expected, now))) = lines.find(|(_, (expected, now))| expected != now) {
        let number = number + 1;
        return Some(format!("line {number}: expected\n  {expected}\nand got\n  {now}"));
    }
    (expected != now).then(|| format!("the file ends too early or late; now it is\n{now}"))
}

datatest_stable::harness! {
    { test = scenario, root = "tests/scenarios", pattern = r".*\.txt$" },
}
