//! A `moved` block: the object is to be destroyed only because its block has another name now.

use super::{
    super::{
        change::{NewBlock, NewValue},
        draft::{Denied, Draft},
    },
    Case, Remedy, whole,
};
use crate::{
    action::Action,
    address::{Address, Mode},
    proposal::{ProposalKind, Risk, quote},
    report::Outside,
};

pub(super) const REMEDY: Remedy = Remedy {
    kind: ProposalKind::Move,
    applies: |case| {
        case.finding.outside == Outside::Changed
            && case.finding.deposed.is_empty()
            && case.finding.action == Some(Action::Delete)
            && !candidates(case).is_empty()
    },
    edit: |case, draft| whole(draft, |draft| edit(case, draft)),
    describe,
};

fn describe(case: &Case<'_>) -> (Risk, String, Vec<String>) {
    let candidates = candidates(case);
    let [only] = candidates.as_slice() else {
        let names: Vec<String> = candidates.iter().map(ToString::to_string).collect();
        let summary =
            format!("if it only got another name, say which: it may be {}", names.join(" or "));
        return (Risk::Low, summary, Vec::new());
    };
    let summary = format!("if it only got another name, {only}, keep the object under that");
    let command = if case.since(1, 1) {
        case.command("plan")
    } else {
        case.command(&format!("state mv {} {}", case.target(), quote(&only.to_string())))
    };
    (Risk::Low, summary, vec![command])
}

/// Objects of the same type that the plan creates: those of the same block if there are any.
fn candidates(case: &Case<'_>) -> Vec<Address> {
    let Ok(own) = case.address() else { return Vec::new() };
    let created = case.planned.iter().filter(|it| it.action == Action::Create);
    let mut found: Vec<Address> = created
        .filter_map(|it| Address::parse(&it.address).ok())
        .filter(|it| it.mode == Mode::Managed && it.resource_type == own.resource_type)
        .collect();
    let same = |it: &Address| it.name == own.name && it.modules == own.modules;
    if found.iter().any(same) {
        found.retain(same);
    }
    found
}

fn edit(case: &Case<'_>, draft: &mut Draft<'_>) -> Result<(), Denied> {
    let candidates = candidates(case);
    let [to] = candidates.as_slice() else {
        return Err(Denied::new("several new objects may be it", None));
    };
    if !case.since(1, 1) {
        return Err(Denied::new("moved blocks take version 1.1: move it by command", None));
    }
    let entries = vec![
        ("from".to_owned(), NewValue::Code(case.address()?.to_string())),
        ("to".to_owned(), NewValue::Code(to.to_string())),
    ];
    let block = NewBlock { kind: "moved".to_owned(), entries, blocks: Vec::new() };
    case.add_to_root(draft, block)
}
