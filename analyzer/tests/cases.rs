//! Every case in every format: `tests/cases/<case>/expected.<format>` is what `driftgate check`
//! prints for `plan.json`, with the `config` folder when there is one.
//!
//! `UPDATE=1` writes what is printed now; a new case or format gets its files by
//! `UPDATE=1 cargo test -p analyzer every_case_is_complete` first.

#[path = "it/case.rs"]
mod case;

use std::path::Path;

fn prints_what_is_expected(expected: &Path) -> datatest_stable::Result<()> {
    let folder = expected.parent().ok_or("a case has a folder")?;
    let format = expected.extension().and_then(|it| it.to_str()).ok_or("a format")?;
    let printed = case::render(folder, format)?;
    if case::is_update() {
        std::fs::write(expected, &printed)?;
    }
    let wanted = std::fs::read_to_string(expected)?;
    if printed != wanted {
        let diff = similar::TextDiff::from_lines(&wanted, &printed);
        return Err(format!("{}", diff.unified_diff().header("expected", "printed")).into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = prints_what_is_expected, root = "tests/cases", pattern = r"expected\.[a-z]+$" },
}
