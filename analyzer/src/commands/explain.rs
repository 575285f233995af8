//! `driftgate explain`: the words of a report.

use super::print;
use driftgate::{exit_code::ExitCode, explain};

pub(crate) fn run(wanted: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    for topic in explain::topics() {
        if wanted.is_none_or(|wanted| wanted == topic.name) {
            out.push_str(&format!("{} ({})\n", topic.name, topic.group));
            for line in topic.meaning.lines() {
                out.push_str(&format!("    {line}\n"));
            }
        }
    }
    if out.is_empty() {
        anyhow::bail!("nothing is called so; `driftgate explain` lists everything that is");
    }
    print(out.as_bytes())?;
    Ok(ExitCode::Clean)
}
