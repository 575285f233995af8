//! What can be written into a configuration about a finding: each kind is one file and one line
//! here.

mod accept;
mod ignore;
mod import;
mod moved;
mod remove;

use super::{
    change::{Act, Change, NewBlock},
    draft::{Declared, Denied, Draft},
    file::Syntax,
    node::Segment,
};
use crate::{
    address::Address,
    proposal::{ProposalKind, Refusal, Risk},
    redact::PLACEHOLDER,
    report::{BlockAddress, Finding, PlanInfo, Planned},
};

/// One kind of edit.
pub(super) struct Remedy {
    pub(super) kind: ProposalKind,
    /// True for findings about which it makes sense.
    pub(super) applies: fn(&Case<'_>) -> bool,
    /// Carries out on the draft what can be done; the rest is refused.
    pub(super) edit: fn(&Case<'_>, &mut Draft<'_>) -> Vec<Refusal>,
    /// What it does, how risky that is, and what to run when the files are edited.
    pub(super) describe: fn(&Case<'_>) -> (Risk, String, Vec<String>),
}

/// All of them, sorted by name.
pub(super) const REMEDIES: &[Remedy] =
    &[accept::REMEDY, ignore::REMEDY, import::REMEDY, moved::REMEDY, remove::REMEDY];

/// One finding and what is known beside it.
pub(super) struct Case<'a> {
    /// All findings of the same block, this one included.
    pub(super) siblings: &'a [&'a Finding],
    pub(super) finding: &'a Finding,
    pub(super) plan: &'a PlanInfo,
    pub(super) planned: &'a [Planned],
    /// The id of the object to import, when somebody said.
    pub(super) id: Option<&'a str>,
}

impl<'a> Case<'a> {
    pub(super) fn declared<'d>(&self, draft: &'d Draft<'_>) -> Result<Declared<'d>, Denied> {
        let BlockAddress { modules, resource_type, name, .. } = &self.finding.block;
        let plain = |reason| Denied::new(reason, None);
        let folder = draft.folder(modules).map_err(plain)?;
        draft.declaration(folder, "resource", &[resource_type, name]).map_err(plain)
    }

    /// The address, unless a part of it is hidden.
    pub(super) fn address(&self) -> Result<Address, Denied> {
        let text = &self.finding.address;
        let parsed = Address::parse(text).ok().filter(|_| !text.contains(PLACEHOLDER));
        parsed.ok_or_else(|| Denied::new("its address is not known", None))
    }

    /// The module calls on the way, and the block itself, that stand for several objects.
    pub(super) fn shared(&self, draft: &Draft<'_>) -> Vec<usize> {
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

    /// True when the engine that made the plan is at least of that version, or does not say.
    pub(super) fn since(&self, major: u32, minor: u32) -> bool {
        let Some(version) = &self.plan.tool_version else { return true };
        let mut numbers = version.split(['.', '-', '+']).map_while(|part| part.parse().ok());
        let known: (Option<u32>, Option<u32>) = (numbers.next(), numbers.next());
        known >= (Some(major), Some(minor))
    }

    pub(super) fn command(&self, words: &str) -> String {
        format!("{} {words}", self.plan.command())
    }

    pub(super) fn target(&self) -> String {
        crate::proposal::quote(&self.finding.address)
    }

    /// Adds a block to the root module: beside the resource if it is declared there.
    pub(super) fn add_to_root(&self, draft: &mut Draft<'_>, block: NewBlock) -> Result<(), Denied> {
        let own = self.declared(draft).ok().map(|it| it.file.path.clone());
        let own = own.filter(|path| !path.contains('/'));
        let mut files: Vec<(bool, bool, &str)> = draft
            .files("")
            .filter(|it| matches!(it.syntax, Syntax::Native | Syntax::Json) && it.body.is_ok())
            .filter(|it| !it.is_override())
            .map(|it| (it.syntax.is_json(), it.name() != "main.tf", it.path.as_str()))
            .collect();
        files.sort_unstable();
        let first = files.first().map(|(_, _, path)| (*path).to_owned());
        let path = own
            .or(first)
            .ok_or_else(|| Denied::new("the root module has no file to write it into", None))?;
        let body = draft.file(&path).and_then(|file| file.body.as_ref().ok());
        let count = body.map_or(0, |body| body.blocks.len());
        let at = vec![Segment::Block(count)];
        draft.apply(&path, &Change { at, act: Act::AddBlock(block) })
    }
}

/// The refusal of a whole finding.
fn refuse(denied: Denied) -> Vec<Refusal> {
    vec![Refusal { path: String::new(), reason: denied.reason, place: denied.place, instead: None }]
}

/// All or nothing: what `edit` does stays only when it says that it is whole.
fn whole(
    draft: &mut Draft<'_>,
    edit: impl FnOnce(&mut Draft<'_>) -> Result<(), Denied>,
) -> Vec<Refusal> {
    let mut tried = draft.clone();
    match edit(&mut tried) {
        Ok(()) => {
            *draft = tried;
            Vec::new()
        }
        Err(denied) => refuse(denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_sorted_by_name() {
        assert!(REMEDIES.is_sorted_by(|left, right| left.kind.name() < right.kind.name()));
    }
}
