//! Scenarios as files: commands to an in-memory host, and what it says.
//! `UPDATE=1 cargo test -p host --test cases` writes what it says now.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

#[expect(dead_code, reason = "shared with other tests")]
mod sim;

use std::path::Path;

#[expect(clippy::needless_pass_by_value, reason = "the harness hands over the text")]
fn scenario(path: &Path, text: String) -> datatest_stable::Result<()> {
    let now = sim::script::run_file(&text);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, now)?;
        return Ok(());
    }
    similar_lines(&text, &now)
}

/// Names the first line that differs.
fn similar_lines(expected: &str, now: &str) -> datatest_stable::Result<()> {
    let lines = expected.lines().zip(now.lines()).enumerate();
    for (number, (expected, now)) in lines {
        if expected != now {
            return Err(
                format!("line {}: expected\n  {expected}\nand got\n  {now}", number + 1).into()
            );
        }
    }
    if expected != now {
        return Err(format!("the file ends too early or late; now it is\n{now}").into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = scenario, root = "tests/scenarios", pattern = r".*\.txt$" },
}
