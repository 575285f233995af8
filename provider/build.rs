//! Warns of a build whose provider would start slowly.

/// What keeps the start fast; set by the repository's `.cargo/config.toml`, which cargo finds by the
/// folder that it is run in.
const VARIABLE: &str = "AWS_LC_SYS_NO_JITTER_ENTROPY";

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    if std::env::var_os(VARIABLE).is_none() {
        println!(
            "cargo::warning=each start of this provider will take some 70 ms longer: build it within \
             the repository, or with {VARIABLE}=1 in the environment"
        );
    }
}
