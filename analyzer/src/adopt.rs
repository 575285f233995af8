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
mod source;
mod splice;
mod trail;
mod write;

pub use configuration::Configuration;
pub use write::{Written, replace_file};

use crate::{
    address::Address,
    fate::Fate,
    path::Step,
    proposal::{Proposal, ProposalKind, Refusal, Risk},
    redact::Secrets,
    report::{Attribute, BlockAddress, Finding, Outside, Place, Report, Shown},
    value::Value,
};
use draft::{Declared, Denied, Draft};
use hidden::Marks;
use node::{Kind, Node, Reference};
use std::collections::BTreeMap;
use trail::{Spot, Trail};

/// Texts of files after edits, by path.
type Edited = BTreeMap<String, String>;

/// Adds to each finding the proposal to adopt it, and to the report the patch of all of them.
/// The new texts of all changed files are returned for [`Written`].
pub fn propose(report: &mut Report, configuration: &Configuration, secrets: &Secrets) -> Edited {
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
    let mut adoptions = Vec::with_capacity(report.findings.len());
    for finding in &report.findings {
        let siblings = siblings.get(&finding.block).map_or(&[][..], Vec::as_slice);
        let adoption = Adoption { siblings, finding };
        let mut own = Draft::new(configuration);
        let mut refusals = adoption.edit(&mut own);
        for refusal in &mut refusals {
            // A reason may name a key of a map.
            refusal.reason = secrets.text(&refusal.reason);
        }
        adoption.edit(&mut all);
        let pristine = Draft::new(configuration);
        let place = adoption.declared(&pristine).map(|it| it.place());
        let places: Vec<Option<Place>> =
            finding.attributes.iter().map(|it| adoption.place(it, &pristine)).collect();
        adoptions.push((adoption.proposal(&own, refusals, &marks), place, places));
    }
    for (finding, (proposal, place, places)) in report.findings.iter_mut().zip(adoptions) {
        finding.declared = place;
        for (attribute, place) in finding.attributes.iter_mut().zip(places) {
            attribute.declared = place;
        }
        finding.proposals.extend(proposal);
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

/// One finding on its way into the configuration.
struct Adoption<'a> {
    /// All findings of the same block, this one included.
    siblings: &'a [&'a Finding],
    finding: &'a Finding,
}

impl<'a> Adoption<'a> {
    /// Carries out on `draft` what can be adopted; the rest is refused.
    fn edit(&self, draft: &mut Draft<'_>) -> Vec<Refusal> {
        let wanted = self.finding.attributes.iter().filter(|it| it.fate != Fate::Absorbed);
        wanted
            .filter_map(|attribute| {
                let Denied { reason, place } = self.adopt(attribute, draft).err()?;
                Some(Refusal { path: attribute.path.clone(), reason, place })
            })
            .collect()
    }

    fn adopt(&self, attribute: &Attribute, draft: &mut Draft<'_>) -> Result<(), Denied> {
        let value = literal::writable(&attribute.after)
            .ok_or_else(|| Denied::new("it is sensitive, so it is never written", None))?;
        if attribute.desired == Some(Shown::Unknown) {
            return Err(Denied::new("the provider decides it at apply", None));
        }
        if self.follows_from_tags(attribute)? || self.is_ignored(attribute, draft) {
            return Ok(());
        }
        let desired = attribute.desired.as_ref().and_then(literal::writable);
        let trail = self.trail(attribute, draft, (value, desired))?;
        let spots = trail::follow(draft, trail)?;
        for spot in &spots {
            self.stands_alone(spot, attribute, draft)?;
        }
        let mut tried = draft.clone();
        for (path, change) in spots.iter().flat_map(|spot| &spot.changes) {
            tried.apply(path, change)?;
        }
        *draft = tried;
        Ok(())
    }

    /// The way from the resource's block to the attribute.
    fn trail(
        &self,
        attribute: &Attribute,
        draft: &Draft<'_>,
        (value, desired): (Value, Option<Value>),
    ) -> Result<Trail, Denied> {
        let block = &self.finding.block;
        let steps = attribute.steps.0.clone();
        let Some(Step::Key(first)) = steps.first() else {
            return Err(Denied::new("it is no attribute of the resource", None));
        };
        let folder = draft.folder(&block.modules).map_err(|reason| Denied::new(reason, None))?;
        let labels = [block.resource_type.as_str(), block.name.as_str()];
        let holder = trail::holder(draft, folder, ("resource", &labels), first)?;
        let keys = match Address::parse(&self.finding.address) {
            Ok(address) => {
                let modules = address.modules.into_iter().map(|call| call.key);
                modules.chain([address.key]).collect()
            }
            Err(_) => vec![None; block.modules.len() + 1],
        };
        let is_element = matches!(steps.last(), Some(Step::Index(_)));
        Ok(Trail {
            calls: block.modules.clone(),
            file: holder.file.path.clone(),
            at: holder.location(),
            level: Some(block.modules.len()),
            shared: self.shared(draft),
            // Of a list an element stays, be it null; an attribute that is null is not set.
            wanted: Some(value).filter(|it| is_element || *it != Value::Null),
            steps,
            desired,
            keys,
            hops: 0,
        })
    }

    /// The module calls on the way, and the block itself, that stand for several objects.
    fn shared(&self, draft: &Draft<'_>) -> Vec<usize> {
        let block = &self.finding.block;
        let calls = (0..block.modules.len()).filter(|at| {
            let folder = draft.folder(&block.modules[..*at]).unwrap_or_default();
            let blocks = draft.blocks(folder, "module", &[&block.modules[*at]]);
            blocks.iter().any(Declared::is_repeated)
        });
        let folder = draft.folder(&block.modules).unwrap_or_default();
        let own = draft.blocks(folder, "resource", &[&block.resource_type, &block.name]);
        let own = own.iter().any(Declared::is_repeated).then_some(block.modules.len());
        calls.chain(own).collect()
    }

    /// Refuses unless the place sets the value of one object, or all of its objects changed alike.
    fn stands_alone(
        &self,
        spot: &Spot,
        attribute: &Attribute,
        draft: &Draft<'_>,
    ) -> Result<(), Denied> {
        for (path, _) in &spot.changes {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let callers = draft.callers(folder);
            if callers > 1 {
                let reason = format!("its module is called {callers} times");
                return Err(Denied::new(reason, self.declared(draft).map(|it| it.place())));
            }
        }
        if spot.trail.shared.is_empty() {
            return Ok(());
        }
        let alike = self
            .siblings
            .iter()
            .filter(|it| it.outside == Outside::Changed && has(it, attribute))
            .count();
        let place = self.declared(draft).map(|it| it.place());
        match self.finding.block.instances {
            0 => Err(Denied::new("the block may stand for several objects", place)),
            instances if alike == instances => Ok(()),
            instances => Err(Denied::new(
                format!("the block stands for {instances} objects, and {alike} changed like this"),
                place,
            )),
        }
    }

    /// Providers repeat `tags` in `tags_all`, together with tags of their own configuration.
    fn follows_from_tags(&self, attribute: &Attribute) -> Result<bool, Denied> {
        let Some((Step::Key(first), rest)) = attribute.steps.0.split_first() else {
            return Ok(false);
        };
        if first != "tags_all" {
            return Ok(false);
        }
        let has_tags = self.finding.attributes.iter().any(|it| {
            matches!(it.steps.0.split_first(), Some((Step::Key(name), same))
                if name == "tags" && (same == rest || same.is_empty() || rest.is_empty()))
        });
        match has_tags {
            true => Ok(true),
            false => Err(Denied::new("the provider's default_tags set it", None)),
        }
    }

    /// True when `ignore_changes` covers the attribute, and the plan does not say otherwise.
    fn is_ignored(&self, attribute: &Attribute, draft: &Draft<'_>) -> bool {
        let Some(Step::Key(first)) = attribute.steps.0.first() else { return false };
        let ignored = |node: &Node| match &node.kind {
            Kind::Reference(Reference { root, picks }) => {
                root == "all" || root == first && picks.is_empty()
            }
            Kind::Text(text) => text == "all" || text == first,
            _ => false,
        };
        let lifecycle = self.declared(draft);
        let lifecycle = lifecycle.as_ref().and_then(|it| it.block.body.block("lifecycle", &[]));
        let list = lifecycle.and_then(|it| it.body.entry("ignore_changes")).map(|it| &it.value);
        let covers = list.is_some_and(|list| match &list.kind {
            Kind::List(items) => items.iter().any(ignored),
            _ => ignored(list),
        });
        covers && attribute.fate == Fate::Undecidable
    }

    fn declared<'d>(&self, draft: &'d Draft<'_>) -> Option<Declared<'d>> {
        let BlockAddress { modules, resource_type, name, .. } = &self.finding.block;
        let folder = draft.folder(modules).ok()?;
        draft.declaration(folder, "resource", &[resource_type, name]).ok()
    }

    /// Where the configuration sets an attribute, when it does.
    fn place(&self, attribute: &Attribute, draft: &Draft<'_>) -> Option<Place> {
        let desired = attribute.desired.as_ref().and_then(literal::writable);
        // What would be written is no matter here.
        let value = literal::writable(&attribute.after).unwrap_or(Value::Bool(true));
        let trail = self.trail(attribute, draft, (value, desired)).ok()?;
        let Some(Step::Key(first)) = attribute.steps.0.first() else { return None };
        let body = &draft.file(&trail.file)?.body.as_ref().ok()?.block_at(&trail.at)?.body;
        if body.entry(first).is_none() && body.blocks_of(first).next().is_none() {
            return None;
        }
        match trail::follow(draft, trail) {
            Ok(spots) => spots.first()?.changes.iter().find_map(|(path, change)| {
                let file = draft.file(path)?;
                let found = file.body.as_ref().ok()?.find(&change.at)?;
                Some(file.place(found.range().start))
            }),
            Err(denied) => denied.place,
        }
    }

    fn proposal(
        &self,
        own: &Draft<'_>,
        mut refusals: Vec<Refusal>,
        marks: &Marks<'_>,
    ) -> Option<Proposal> {
        if self.finding.outside == Outside::Deleted {
            let summary = "to accept that it is gone, take the resource block out of the \
                           configuration";
            return self.finding.is_actionable().then(|| {
                Proposal::new(ProposalKind::Adopt, Risk::Low, summary.to_owned(), Vec::new())
            });
        }
        let mut diffs = String::new();
        for (path, diff) in own.diffs(marks) {
            match diff {
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

fn has(finding: &Finding, attribute: &Attribute) -> bool {
    let same = |it: &Attribute| it.steps == attribute.steps && it.after == attribute.after;
    finding.attributes.iter().any(same)
}

impl Configuration {
    /// What is sensitive in it.
    fn marks<'a>(&self, secrets: &'a Secrets) -> Marks<'a> {
        let root = self.folders.get("").map_or(&[][..], Vec::as_slice);
        Marks { secrets, variables: root.iter().flat_map(hidden::sensitive_variables).collect() }
    }
}
