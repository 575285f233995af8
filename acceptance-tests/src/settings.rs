//! The environment variables that steer the suite. Nothing else reads the environment.

use std::{env, path::PathBuf};

/// Versions of Terraform to run, in `RUNTIMECLOUD_TERRAFORM_VERSIONS`, separated by spaces.
pub fn terraform_versions() -> Vec<String> {
    let versions = variable("RUNTIMECLOUD_TERRAFORM_VERSIONS");
    let versions = versions.as_deref().unwrap_or("1.6.6 1.11.4 1.15.5");
    versions.split_whitespace().map(str::to_owned).collect()
}

/// The OpenTofu command, in `RUNTIMECLOUD_TOFU`; else `tofu` on PATH.
pub fn tofu() -> Option<PathBuf> {
    if let Some(named) = variable("RUNTIMECLOUD_TOFU") {
        return Some(named.into());
    }
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join("tofu")).find(|tofu| tofu.is_file())
}

/// How many trials run side by side, in `RUNTIMECLOUD_TRIALS`; else two for each processor, since
/// half of a trial is waiting.
pub fn trials_at_a_time() -> usize {
    let given = variable("RUNTIMECLOUD_TRIALS").and_then(|trials| trials.parse().ok());
    given.unwrap_or_else(|| 2 * std::thread::available_parallelism().map_or(1, usize::from))
}

/// A folder of ready binaries to test as they are, in `RUNTIMECLOUD_BIN_DIR`.
pub fn binaries() -> Option<PathBuf> {
    variable("RUNTIMECLOUD_BIN_DIR").map(PathBuf::from)
}

/// What the kill test's random choices begin with, in `RUNTIMECLOUD_KILL_SEED`.
pub fn kill_seed() -> Option<u64> {
    variable("RUNTIMECLOUD_KILL_SEED")?.parse().ok()
}

/// How often the kill test kills, in `RUNTIMECLOUD_KILLS`.
pub fn kills() -> usize {
    variable("RUNTIMECLOUD_KILLS").and_then(|kills| kills.parse().ok()).unwrap_or(50)
}

/// How many configurations of each type of resources are tried, in `RUNTIMECLOUD_CONFIGURATIONS`.
pub fn configurations() -> u64 {
    variable("RUNTIMECLOUD_CONFIGURATIONS").and_then(|count| count.parse().ok()).unwrap_or(100)
}

/// What the random configurations begin with, in `RUNTIMECLOUD_SEED`.
pub fn seed() -> Option<u64> {
    variable("RUNTIMECLOUD_SEED")?.parse().ok()
}

/// Names of inherited variables that would change what the programs under test do.
pub fn foreign() -> Vec<String> {
    env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("TF_") || name.starts_with("RUNTIMECLOUD_"))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "the suite's one reader of the environment")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
