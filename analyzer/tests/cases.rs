//! Every case in the formats it has: `tests/cases/<case>/expected.<format>` is what `driftgate
//! check` prints for `plan.json`, with the `config` folder when there is one.
//!
//! `UPDATE=1 cargo test -p analyzer` writes what is printed now, for new cases and formats too.

#[path = "it/case.rs"]
mod case;

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
        return Err(Plain(format!(
            "{}\nif that is right, `UPDATE=1 cargo test -p analyzer` writes it to {}",
            diff.unified_diff().header("expected", "printed"),
            expected.display()
        ))
        .into());
    }
    Ok(())
}

datatest_stable::harness! {
    { test = prints_what_is_expected, root = "tests/cases", pattern = r"expected\.[a-z-]+$" },
}
