//! The build script, as a program.

use std::process::Command;

#[test]
fn a_build_whose_provider_would_start_slowly_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
    let compiled =
        Command::new("rustc").args(["--edition=2024", source, "-o"]).arg(&script).status().unwrap();
    assert!(compiled.success());
    let warns = |set: bool| {
        let mut script = Command::new(&script);
        script.env_clear().envs(set.then_some(("AWS_LC_SYS_NO_JITTER_ENTROPY", "1")));
        let said = String::from_utf8(script.output().unwrap().stdout).unwrap();
        said.contains("cargo::warning=")
    };
    assert!(warns(false) && !warns(true));
    assert!(option_env!("AWS_LC_SYS_NO_JITTER_ENTROPY").is_some(), "the repository sets it");
}
