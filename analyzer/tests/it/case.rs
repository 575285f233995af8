//! A case: a folder with a plan, perhaps a configuration, and what each format makes of it.

use driftgate::{
    Checked, Configuration, Limits, check_file,
    formats::{self, Style},
    propose,
};
use std::{error::Error, fs::File, path::Path};

/// What `driftgate check` prints for a case.
pub(crate) fn render(folder: &Path, format: &str) -> Result<String, Box<dyn Error>> {
    let checked = check(folder)?;
    let format = formats::find(format).ok_or("the format is not in the table")?;
    Ok((format.render)(&checked.report, &Style::default()))
}

/// The report of a case, with proposals when it has a configuration.
pub(crate) fn check(folder: &Path) -> Result<Checked, Box<dyn Error>> {
    let mut checked = check_file(File::open(folder.join("plan.json"))?, Limits::STANDARD)?;
    let config = folder.join("config");
    if config.is_dir() {
        propose(&mut checked.report, &Configuration::load(&config)?, &checked.secrets);
    }
    Ok(checked)
}

/// True when expected files are to be written.
pub(crate) fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}
