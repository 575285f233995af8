//! A `removed` block: the object stays as it is, and nobody manages it any more.
//!
//! The address in such a block has no keys, so one of several instances is dropped by command.

use super::{
    super::{
        change::{Act, Change, NewBlock, NewValue},
        draft::{Denied, Draft},
    },
    Case, Remedy, whole,
};
use crate::{
    action::Action,
    proposal::{ProposalKind, Risk},
    report::{BlockAddress, Finding, Outside},
    value::Value,
};

pub(super) const REMEDY: Remedy = Remedy {
    kind: ProposalKind::Remove,
    applies: |case| {
        case.finding.outside == Outside::Changed
            && case.finding.deposed.is_empty()
            && case.finding.is_actionable()
    },
    edit: |case, draft| whole(draft, |draft| edit(case, draft)),
    describe,
};

fn describe(case: &Case<'_>) -> (Risk, String, Vec<String>) {
    let summary = "if nobody is to manage it any more, drop it from the state and leave the object \
                   as it is (`propose --kind remove` edits the configuration)";
    let command = if is_instance(case.finding) || !case.since(1, 7) {
        case.command(&format!("state rm {}", case.target()))
    } else {
        case.command(&format!("apply -target={}", case.target()))
    };
    (Risk::Low, summary.to_owned(), vec![command])
}

/// True for one of several instances, of which the others stay.
fn is_instance(finding: &Finding) -> bool {
    finding.address.ends_with(']')
}

fn edit(case: &Case<'_>, draft: &mut Draft<'_>) -> Result<(), Denied> {
    let declared = case.declared(draft);
    if is_instance(case.finding) || declared.as_ref().is_ok_and(|_| !case.shared(draft).is_empty())
    {
        let is_going = case.finding.action == Some(Action::Delete);
        let reason = if is_going {
            "it is one of several instances, which `state rm` drops alone"
        } else {
            "it is one of several instances: take it out of count or for_each, then drop it with \
             `state rm`"
        };
        return Err(Denied::new(reason, declared.ok().map(|it| it.place())));
    }
    if declared.is_ok() {
        take_out(case, draft)?;
    } else if case.finding.action != Some(Action::Delete) {
        declared?;
    }
    if !case.since(1, 7) {
        return Ok(());
    }
    let mut address = case.address()?;
    address.key = None;
    address.modules.iter_mut().for_each(|call| call.key = None);
    let destroy = ("destroy".to_owned(), NewValue::Value(Value::Bool(false)));
    let lifecycle =
        NewBlock { kind: "lifecycle".to_owned(), entries: vec![destroy], blocks: Vec::new() };
    let block = NewBlock {
        kind: "removed".to_owned(),
        entries: vec![("from".to_owned(), NewValue::Code(address.to_string()))],
        // OpenTofu never destroys what such a block names.
        blocks: if case.plan.opentofu { Vec::new() } else { vec![lifecycle] },
    };
    case.add_to_root(draft, block)
}

/// Takes the resource's block out of its file, unless something else speaks of it.
pub(super) fn take_out(case: &Case<'_>, draft: &mut Draft<'_>) -> Result<(), Denied> {
    let BlockAddress { modules, resource_type, name, .. } = &case.finding.block;
    let declared = case.declared(draft)?;
    let place = declared.place();
    if !case.shared(draft).is_empty() {
        let reason = "the block stands for several objects: take its key out of count or for_each";
        return Err(Denied::new(reason, Some(place)));
    }
    let folder = draft.folder(modules).map_err(|reason| Denied::new(reason, None))?;
    let callers = draft.callers(folder);
    if callers > 1 {
        return Err(Denied::new(format!("its module is called {callers} times"), Some(place)));
    }
    if draft.blocks(folder, "resource", &[resource_type, name]).len() > 1 {
        return Err(Denied::new("an override file speaks of it too", Some(place)));
    }
    let own = Some((declared.file.path.as_str(), &declared.block.range));
    let uses = draft.uses(folder, (resource_type, name), own);
    if let Some(place) = uses.first() {
        return Err(Denied::new("something else refers to it", Some(place.clone())));
    }
    let (path, at) = (declared.file.path.clone(), declared.location());
    draft.apply(&path, &Change { at, act: Act::RemoveBlock })
}
