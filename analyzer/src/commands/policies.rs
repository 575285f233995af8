//! `driftgate policies`: the built-in policies.

use super::print;
use driftgate::{exit_code::ExitCode, policy::LIBRARY};

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    for policy in LIBRARY {
        out.push_str(&format!(
            "{} (each {}, {}): {}\n",
            policy.name,
            policy.each.name(),
            policy.severity.name(),
            policy.summary
        ));
        for (name, default, meaning) in policy.params {
            let default = default.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(&format!("    params.{name}: {meaning}; {default} if not given\n"));
        }
        for line in policy.deny.lines() {
            out.push_str(&format!("    | {line}\n"));
        }
    }
    print(out.as_bytes())?;
    Ok(ExitCode::Clean)
}
