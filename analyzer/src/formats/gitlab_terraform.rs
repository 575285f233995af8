//! `gitlab-terraform`: for GitLab's `artifacts:reports:terraform`, the line of counts on a merge
//! request.
//!
//! A replacement counts as a creation and a deletion, as GitLab's own recipe counts it. The undoing
//! of drift is among the changes: apply does it.

use super::{Format, Layout, Style, json_text};
use crate::{action::Work, report::Report};
use serde_json::json;

pub(super) const FORMAT: Format =
    Format { name: "gitlab-terraform", summary: "Terraform report of GitLab", render };

fn render(report: &Report, _style: &Style) -> String {
    let mut work = report.counts.work;
    let drifted = report.findings.iter().chain(report.suppressed.iter().map(|it| &it.finding));
    drifted.filter_map(|finding| finding.action.as_ref()).for_each(|action| work.add(action));
    let Work { create, update, delete } = work;
    let counts = json!({ "create": create, "update": update, "delete": delete });
    json_text(&counts, Layout::Compact) + "\n"
}
