//! `gitlab-terraform`: for GitLab's `artifacts:reports:terraform`, the line of counts on a merge
//! request.
//!
//! A replacement counts as a creation and a deletion, as GitLab's own recipe counts it. The undoing
//! of drift is among the changes: apply does it.

use super::{Format, Layout, Style, json_text};
use crate::{
    action::Action,
    report::{PlannedNote, Report},
};
use serde_json::json;

pub(super) const FORMAT: Format =
    Format { name: "gitlab-terraform", summary: "Terraform report of GitLab", render };

fn render(report: &Report, _style: &Style) -> String {
    let (mut create, mut update, mut delete) = (0_usize, 0_usize, 0_usize);
    let planned = report.planned.iter().filter(|it| it.note != Some(PlannedNote::Output));
    let drifted = report.findings.iter().chain(report.suppressed.iter().map(|it| &it.finding));
    let actions = planned.map(|it| &it.action).chain(drifted.filter_map(|it| it.action.as_ref()));
    for action in actions {
        match action {
            Action::Create | Action::ForgetAndCreate => create += 1,
            Action::Update => update += 1,
            Action::Delete => delete += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                create += 1;
                delete += 1;
            }
            Action::NoOp
            | Action::Read
            | Action::Forget
            | Action::Open
            | Action::Invoke
            | Action::Other(_) => {}
        }
    }
    let counts = json!({ "create": create, "update": update, "delete": delete });
    json_text(&counts, Layout::Compact) + "\n"
}
