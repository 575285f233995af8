//! `dotenv`: variables for later jobs, such as GitLab's `artifacts:reports:dotenv` takes.

use super::{Format, Style, facts};
use crate::report::Report;

pub(super) const FORMAT: Format =
    Format { name: "dotenv", summary: "variables for later jobs, one a line", render };

fn render(report: &Report, _style: &Style) -> String {
    let facts = facts::facts(report).into_iter();
    facts.map(|(name, value)| format!("DRIFTGATE_{}={value}\n", name.to_uppercase())).collect()
}
