//! A case: a folder with a plan, and what each format makes of it; perhaps with a configuration in
//! `config`, and with a `driftgate.toml` and a `baseline.json` by which it is judged on a fixed day.

use driftgate::{
    Checked, Configuration, Options,
    baseline::Baseline,
    check_file,
    config::Config,
    formats::{self, Style},
    judge::Judge,
    propose,
};
use std::{
    error::Error,
    fs::{self, File},
    path::Path,
    sync::Arc,
};

/// What `driftgate check` prints for a case.
pub(crate) fn render(folder: &Path, format: &str) -> Result<String, Box<dyn Error>> {
    let checked = check(folder)?;
    let format = formats::find(format).ok_or("the format is not in the table")?;
    Ok((format.render)(&checked.report, &Style::default()))
}

/// The report of a case, with proposals when it has a configuration.
pub(crate) fn check(folder: &Path) -> Result<Checked, Box<dyn Error>> {
    let config = match fs::read_to_string(folder.join("driftgate.toml")) {
        Ok(text) => Config::parse(&text)?,
        Err(_) => Config::default(),
    };
    let policies = config.policies().map_err(|faults| faults.join(", "))?.map(Arc::new);
    let options = Options { policies: policies.clone(), ..Options::default() };
    let mut checked = check_file(File::open(folder.join("plan.json"))?, options)?;
    if config != Config::default() {
        let baseline = fs::read_to_string(folder.join("baseline.json"))?;
        let baseline = Baseline::parse(&baseline)?;
        let judge = Judge {
            baseline: Some(&baseline),
            policies: policies.as_deref(),
            ..Judge::new(&config, "2026-06-01T12:00:00Z".parse()?)
        };
        judge.judge(&mut checked.report, &checked.secrets);
    }
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
