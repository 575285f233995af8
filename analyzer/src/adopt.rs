//! Adoption: writing what is real into the configuration.
//!
//! - Only literals are edited, byte by byte where they stand; see `edit` and `layout`.
//! - A block that stands for several objects is edited only when all of them have changed alike.
//! - What cannot be written is refused with its reason, its file and its line.

mod comments;
mod configuration;
mod edit;
mod hidden;
mod layout;
mod literal;
mod patch;
mod tree;
mod write;

pub use configuration::Configuration;
pub use write::{Written, replace_file};

use crate::{
    fate::Fate,
    path::Path,
    proposal::{Proposal, ProposalKind, Refusal, Risk},
    redact::Secrets,
    report::{Attribute, BlockAddress, Finding, Outside, Place, Report, Shown},
};
use configuration::{Module, Repetition, SourceFile};
use std::collections::BTreeMap;

/// Texts of files after edits, by path.
type Edited = BTreeMap<String, String>;

/// Adds to each finding the proposal to adopt it, and to the report the patch of all of them.
/// The new texts of all changed files are returned for [`Written`].
pub fn propose(report: &mut Report, configuration: &Configuration, secrets: &Secrets) -> Edited {
    let mut all = Edited::new();
    if report.documents > 1 {
        report.warnings.push("patches are proposed for one plan at a time".to_owned());
        return all;
    }
    let mut siblings: BTreeMap<&BlockAddress, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        siblings.entry(&finding.block).or_default().push(finding);
    }
    let adoptions: Vec<(Option<Proposal>, Option<Place>)> = report
        .findings
        .iter()
        .map(|finding| {
            let mut own = Edited::new();
            let siblings = siblings.get(&finding.block).map_or(&[][..], Vec::as_slice);
            let adoption = Adoption { siblings, configuration, finding };
            let mut refusals = adoption.edit(&mut own);
            for refusal in &mut refusals {
                // A reason may name a key of a map.
                refusal.reason = secrets.text(&refusal.reason);
            }
            adoption.edit(&mut all);
            let place = adoption.place();
            (adoption.proposal(&own, refusals, secrets), place)
        })
        .collect();
    for (finding, (proposal, place)) in report.findings.iter_mut().zip(adoptions) {
        finding.declared = place;
        finding.proposals.extend(proposal);
        finding.proposals.sort_by_key(|proposal| proposal.kind);
    }
    let mut patch = String::new();
    for (path, new) in &all {
        match configuration.diff(path, new, secrets) {
            Ok(diff) => patch.push_str(&diff),
            Err(reason) => report
                .warnings
                .push(format!("the patch leaves out {path}: {reason}; `propose --write` edits it")),
        }
    }
    report.patch = Some(patch);
    all
}

/// One finding on its way into the configuration.
struct Adoption<'a> {
    /// All findings of the same block, this one included.
    siblings: &'a [&'a Finding],
    configuration: &'a Configuration,
    finding: &'a Finding,
}

impl<'a> Adoption<'a> {
    /// Carries out on `edited` what can be adopted; the rest is refused.
    fn edit(&self, edited: &mut Edited) -> Vec<Refusal> {
        let wanted = self.finding.attributes.iter().filter(|it| it.fate != Fate::Absorbed);
        wanted
            .filter_map(|attribute| {
                let (reason, place) = self.adopt(attribute, edited).err()?;
                Some(Refusal { path: attribute.path.clone(), reason, place })
            })
            .collect()
    }

    fn adopt(
        &self,
        attribute: &Attribute,
        edited: &mut Edited,
    ) -> Result<(), (String, Option<Place>)> {
        let plain = |reason: &str| (reason.to_owned(), None);
        let value = literal::writable(&attribute.after)
            .ok_or_else(|| plain("it is sensitive, so it is never written"))?;
        if attribute.desired == Some(Shown::Unknown) {
            return Err(plain("the provider decides it at apply"));
        }
        let files = self.files().map_err(|reason| (reason, None))?;
        self.shared_alike(attribute, files)?;
        let file = self.file_of(files, attribute).map_err(|reason| (reason, None))?;
        let desired = attribute.desired.as_ref().and_then(literal::writable);
        let target = edit::Target {
            resource_type: &self.finding.block.resource_type,
            name: &self.finding.block.name,
            steps: &attribute.steps.0,
            value: &value,
            desired: desired.as_ref(),
        };
        let text = edited.get(&file.path).unwrap_or(&file.text);
        match edit::set(text, &target) {
            Ok(new) => {
                edited.insert(file.path.clone(), new);
                Ok(())
            }
            Err(refused) => Err((refused.reason, Some(file.place(refused.at)))),
        }
    }

    /// The files of the finding's module.
    fn files(&self) -> Result<&'a [SourceFile], String> {
        let modules = &self.finding.block.modules;
        match self.configuration.modules.get(modules) {
            Some(Module::Local { folder, .. }) => Ok(&self.configuration.folders[folder]),
            Some(Module::Closed(reason)) => Err(reason.clone()),
            None => Err("its module is not called in this configuration".to_owned()),
        }
    }

    /// The file to edit: an override that sets the attribute wins over the block itself.
    fn file_of(
        &self,
        files: &'a [SourceFile],
        attribute: &Attribute,
    ) -> Result<&'a SourceFile, String> {
        let BlockAddress { resource_type, name, .. } = &self.finding.block;
        let block = |file: &&SourceFile| {
            file.body.as_ref().is_ok_and(|body| edit::resource(body, resource_type, name).is_some())
        };
        let first = attribute.steps.0.first();
        let sets = |file: &&SourceFile| {
            let found = file.body.as_ref().ok();
            let found = found.and_then(|body| edit::resource(body, resource_type, name));
            matches!((found, first), (Some(block), Some(crate::path::Step::Key(key)))
                if block.body.has_attribute(key) || block.body.has_blocks(key))
        };
        if let Some(over) = files.iter().filter(|it| it.is_override()).rfind(sets) {
            return Ok(over);
        }
        let mut declaring = files.iter().filter(|it| !it.is_override()).filter(block);
        match (declaring.next(), declaring.next()) {
            (Some(file), None) => Ok(file),
            (Some(_), Some(file)) => {
                Err(format!("the block is declared twice, again in {}", file.path))
            }
            (None, _) => Err(match files.iter().find_map(SourceFile::problem) {
                Some(problem) => format!("the block was not found, but {problem}"),
                None => "the block is not in the configuration".to_owned(),
            }),
        }
    }

    /// Refuses unless the block stands for one object, or all of its objects changed alike.
    fn shared_alike(
        &self,
        attribute: &Attribute,
        files: &[SourceFile],
    ) -> Result<(), (String, Option<Place>)> {
        let block = &self.finding.block;
        let declared = files.iter().find_map(|file| {
            Some((
                file,
                edit::resource(file.body.as_ref().ok()?, &block.resource_type, &block.name)?,
            ))
        });
        let Some((file, declared)) = declared else { return Ok(()) };
        let place = || {
            let span = hcl_edit::Span::span(declared);
            Some(file.place(span.map_or(0, |span| span.start)))
        };
        let module = self.configuration.modules.get(&block.modules);
        let Some(Module::Local { folder, repetition }) = module else { return Ok(()) };
        let calls = self.configuration.modules.values();
        let callers = calls
            .filter(|it| matches!(it, Module::Local { folder: other, .. } if other == folder))
            .count();
        if callers > 1 {
            return Err((format!("its module is called {callers} times"), place()));
        }
        if Repetition::of(declared).max(*repetition) == Repetition::Once {
            return Ok(());
        }
        let alike = self
            .siblings
            .iter()
            .filter(|it| {
                it.outside == Outside::Changed && has(it, &attribute.steps, &attribute.after)
            })
            .count();
        match block.instances {
            0 => Err(("the block may stand for several objects".to_owned(), place())),
            instances if alike == instances => Ok(()),
            instances => Err((
                format!("the block stands for {instances} objects, and {alike} changed like this"),
                place(),
            )),
        }
    }

    fn place(&self) -> Option<Place> {
        let BlockAddress { resource_type, name, .. } = &self.finding.block;
        self.files().ok()?.iter().filter(|file| !file.is_override()).find_map(|file| {
            let block = edit::resource(file.body.as_ref().ok()?, resource_type, name)?;
            Some(file.place(hcl_edit::Span::span(block)?.start))
        })
    }

    fn proposal(
        &self,
        own: &Edited,
        mut refusals: Vec<Refusal>,
        secrets: &Secrets,
    ) -> Option<Proposal> {
        if self.finding.outside == Outside::Deleted {
            let summary = "to accept that it is gone, take the resource block out of the \
                           configuration";
            return self.finding.is_actionable().then(|| {
                Proposal::new(ProposalKind::Adopt, Risk::Low, summary.to_owned(), Vec::new())
            });
        }
        let mut diffs = String::new();
        for (path, new) in own {
            match self.configuration.diff(path, new, secrets) {
                Ok(diff) => diffs.push_str(&diff),
                Err(reason) => refusals.push(Refusal {
                    path: path.clone(),
                    reason: format!("{reason}, so no patch is shown; `propose --write` edits it"),
                    place: None,
                }),
            }
        }
        if diffs.is_empty() && refusals.is_empty() {
            return None;
        }
        let summary = match (diffs.is_empty(), refusals.is_empty(), self.finding.fate) {
            (true, _, _) => "cannot be written into the configuration",
            (false, false, _) => "write a part of what is real into the configuration",
            (false, true, Fate::Conflict) => {
                "write what is real into the configuration, in place of the change that waits there"
            }
            (false, true, _) => "write what is real into the configuration",
        };
        let mut proposal =
            Proposal::new(ProposalKind::Adopt, Risk::Low, summary.to_owned(), Vec::new());
        proposal.diff = Some(diffs).filter(|diffs| !diffs.is_empty());
        proposal.refusals = refusals;
        Some(proposal)
    }
}

fn has(finding: &Finding, steps: &Path, after: &Shown) -> bool {
    finding.attributes.iter().any(|it| it.steps == *steps && it.after == *after)
}

impl Configuration {
    fn file(&self, path: &str) -> Option<&SourceFile> {
        self.folders.values().flatten().find(|file| file.path == path)
    }

    fn diff(&self, path: &str, new: &str, secrets: &Secrets) -> Result<String, String> {
        let old = self.file(path).map_or("", |file| file.text.as_str());
        patch::unified(path, old, new, secrets)
    }
}

impl SourceFile {
    fn place(&self, at: usize) -> Place {
        let line = self.text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1;
        Place { file: self.path.clone(), line }
    }

    fn problem(&self) -> Option<String> {
        let reason = self.body.as_ref().err()?;
        Some(format!("{} was left out: {reason}", self.path))
    }
}
