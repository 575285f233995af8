//! `terraform-provider-runtimecloud`: started by Terraform or OpenTofu, or by hand with `--debug`.

use provider::{plugin, provider::RuntimeCloud};
use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the CLI's wishes")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let destroys = || plugin::parent_destroys(&environment);
    let provider = RuntimeCloud::new(environment).destroying_when(destroys);
    plugin::run(provider, &arguments, &environment)
}
