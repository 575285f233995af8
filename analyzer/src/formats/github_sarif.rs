//! `github-sarif`: SARIF as GitHub's code scanning wants it.
//!
//! GitHub opens an alert for each result, whatever the log says of suppressions and baselines, and
//! closes it when the result is gone. So only what is open is in it, and the gravest first: GitHub
//! keeps 5,000 results.

use super::{
    Format, Style,
    sarif::{Audience, log},
};
use crate::report::Report;

pub(super) const FORMAT: Format =
    Format { name: "github-sarif", summary: "SARIF for GitHub's code scanning", render };

fn render(report: &Report, style: &Style) -> String {
    log(report, style, Audience::CodeScanning)
}
