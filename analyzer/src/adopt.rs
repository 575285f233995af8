//! Adoption: writing what is real into the configuration.
//!
//! - An attribute is followed to the literal that sets it (`trail`, `source`), and that is edited
//!   byte by byte where it stands (`change`, `layout`).
//! - What stands for several objects is edited only when all of them have changed alike.
//! - What cannot be written is refused with its reason, its file and its line.

mod canonical;
mod change;
mod configuration;
mod document;
mod draft;
mod file;
mod folder;
mod hcl;
mod heredoc;
mod hidden;
mod json;
mod json_layout;
mod layout;
mod lexer;
mod lists;
mod literal;
mod node;
mod patch;
mod remedy;
mod source;
mod splice;
mod trail;
mod write;

#[cfg(test)]
#[path = "../tests/it/generated.rs"]
#[expect(dead_code, reason = "the tests from outside use the rest")]
mod generated;

pub use configuration::Configuration;
pub use write::{Written, replace_file};

use crate::{
    action::Action,
    proposal::{Proposal, ProposalKind, Refusal},
    redact::Secrets,
    report::{BlockAddress, Finding, Outside, Place, Report},
};
use draft::Draft;
use hidden::Marks;
use remedy::{Case, REMEDIES, Remedy};
use std::collections::BTreeMap;

/// Texts of files after edits, by path.
type Edited = BTreeMap<String, String>;

/// Adds to each finding what can be written into the configuration about it, and to the report
/// the patch of all adoptions. The new texts of all changed files are returned for [`Written`].
pub fn propose(report: &mut Report, configuration: &Configuration, secrets: &Secrets) -> Edited {
    propose_selected(report, configuration, secrets, &Selection::default())
}

/// As [`propose`], with the patch of what is selected.
pub fn propose_selected(
    report: &mut Report,
    configuration: &Configuration,
    secrets: &Secrets,
    selection: &Selection,
) -> Edited {
    let marks = configuration.marks(secrets);
    let mut all = Draft::new(configuration);
    if report.documents > 1 {
        report.warnings.push("patches are proposed for one plan at a time".to_owned());
        return all.into_texts();
    }
    let mut siblings: BTreeMap<&BlockAddress, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        siblings.entry(&finding.block).or_default().push(finding);
    }
    let pristine = Draft::new(configuration);
    let mut found = Vec::with_capacity(report.findings.len());
    for finding in &report.findings {
        let case = Case {
            siblings: siblings.get(&finding.block).map_or(&[][..], Vec::as_slice),
            finding,
            plan: &report.plan,
            planned: &report.planned,
            id: selection.id.as_deref(),
        };
        let remedies = REMEDIES.iter().filter(|remedy| (remedy.applies)(&case));
        let mut proposals = Vec::new();
        for remedy in remedies {
            let is_selected = remedy.kind == selection.kind;
            let proposal = proposal(remedy, &case, configuration, &marks);
            proposals.extend(proposal.filter(|it| is_selected || is_worth_a_word(it)));
            if is_selected && selection.takes(finding) {
                (remedy.edit)(&case, &mut all);
            }
        }
        let place = case.declared(&pristine).ok().map(|it| it.place());
        let places: Vec<Option<Place>> =
            finding.attributes.iter().map(|it| case.place(it, &pristine)).collect();
        found.push((proposals, place, places));
    }
    for (finding, (proposals, place, places)) in report.findings.iter_mut().zip(found) {
        finding.declared = place;
        for (attribute, place) in finding.attributes.iter_mut().zip(places) {
            attribute.declared = place;
        }
        // Words about an edit give way to the edit.
        finding.proposals.retain(|old| !proposals.iter().any(|new| new.kind == old.kind));
        finding.proposals.extend(proposals);
        finding.proposals.sort_by_key(|proposal| proposal.kind);
    }
    let mut patch = String::new();
    for (path, diff) in all.diffs(&marks) {
        match diff {
            Ok(diff) => patch.push_str(&diff),
            Err(reason) => report
                .warnings
                .push(format!("the patch leaves out {path}: {reason}; `propose --write` edits it")),
        }
    }
    report.patch = Some(patch);
    all.into_texts()
}

/// False for what cannot be done and nobody asked for.
fn is_worth_a_word(proposal: &Proposal) -> bool {
    match proposal.kind {
        ProposalKind::Ignore => proposal.refusals.is_empty(),
        ProposalKind::Remove => proposal.refusals.is_empty() || !proposal.commands.is_empty(),
        _ => true,
    }
}

/// Which findings are edited, and how.
#[derive(Clone, Debug)]
pub struct Selection {
    /// A kind that edits files.
    pub kind: ProposalKind,
    /// The addresses of the findings; empty for all.
    pub only: Vec<String>,
    /// The id of the object to import.
    pub id: Option<String>,
}

impl Default for Selection {
    fn default() -> Self {
        Self { kind: ProposalKind::Adopt, only: Vec::new(), id: None }
    }
}

impl Selection {
    /// True when a finding is to be edited.
    pub fn takes(&self, finding: &Finding) -> bool {
        self.only.is_empty() || self.only.contains(&finding.address)
    }
}

/// What an edit of one finding comes to; `None` when there is nothing to say.
fn proposal(
    remedy: &Remedy,
    case: &Case<'_>,
    configuration: &Configuration,
    marks: &Marks<'_>,
) -> Option<Proposal> {
    let mut own = Draft::new(configuration);
    let mut refusals = (remedy.edit)(case, &mut own);
    for refusal in &mut refusals {
        // A reason may name a key of a map.
        refusal.reason = marks.secrets.text(&refusal.reason);
    }
    let mut diffs = String::new();
    for (path, diff) in own.diffs(marks) {
        match diff {
            Ok(diff) => diffs.push_str(&diff),
            Err(reason) => refusals.push(Refusal {
                path: path.clone(),
                reason: format!("{reason}, so no patch is shown; `propose --write` edits it"),
                place: None,
                instead: None,
            }),
        }
    }
    if diffs.is_empty() && refusals.is_empty() {
        return None;
    }
    let (risk, mut summary, commands) = (remedy.describe)(case);
    if remedy.kind == ProposalKind::Adopt && !refusals.is_empty() {
        summary = match (diffs.is_empty(), case.finding.outside) {
            (true, Outside::Changed) => "cannot be written into the configuration".to_owned(),
            (false, _) => "write a part of what is real into the configuration".to_owned(),
            (true, _) => summary,
        };
    }
    // What could not be edited leaves nothing to run, but for commands that need no edit.
    let alone = case.finding.action == Some(Action::Delete);
    let commands = if diffs.is_empty() && !alone { Vec::new() } else { commands };
    let mut proposal = Proposal::new(remedy.kind, risk, summary, commands);
    // That a block goes takes no diff to understand.
    let is_plain = remedy.kind == ProposalKind::Remove;
    proposal.diff = Some(diffs).filter(|diffs| !diffs.is_empty() && !is_plain);
    proposal.refusals = refusals;
    Some(proposal)
}

impl Configuration {
    /// What is sensitive in it.
    fn marks<'a>(&self, secrets: &'a Secrets) -> Marks<'a> {
        let root = self.folders.get("").map_or(&[][..], Vec::as_slice);
        Marks { secrets, variables: root.iter().flat_map(hidden::sensitive_variables).collect() }
    }
}
