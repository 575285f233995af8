//! An `import` block: the object exists, made again under another id.

use super::{
    super::{
        change::{NewBlock, NewValue},
        draft::{Denied, Draft},
    },
    Case, Remedy, whole,
};
use crate::{
    action::Action,
    proposal::{ProposalKind, Risk},
    report::Outside,
    value::Value,
};

pub(super) const REMEDY: Remedy = Remedy {
    kind: ProposalKind::Import,
    applies: |case| {
        case.finding.outside == Outside::Deleted
            && matches!(case.finding.action, None | Some(Action::Create))
    },
    edit: |case, draft| whole(draft, |draft| edit(case, draft)),
    describe,
};

fn describe(case: &Case<'_>) -> (Risk, String, Vec<String>) {
    let target = case.target();
    let forget = case.command(&format!("apply -refresh-only -target={target}"));
    let summary = "if it was made again outside under another id, take that object over";
    let mut commands = Vec::new();
    if let Some(id) = case.id {
        // What is still in the state is not imported.
        commands.push(forget);
        if case.since(1, 5) {
            commands.push(case.command(&format!("apply -target={target}")));
        } else {
            let id = crate::proposal::quote(id);
            commands.push(case.command(&format!("import {target} {id}")));
        }
    }
    (Risk::Low, summary.to_owned(), commands)
}

fn edit(case: &Case<'_>, draft: &mut Draft<'_>) -> Result<(), Denied> {
    let id = case.id.ok_or_else(|| {
        Denied::new("only somebody who looks can tell the new id: give it with --id", None)
    })?;
    if !case.since(1, 5) {
        return Err(Denied::new("import blocks take version 1.5: import it by command", None));
    }
    case.declared(draft)?;
    let entries = vec![
        ("to".to_owned(), NewValue::Code(case.address()?.to_string())),
        ("id".to_owned(), NewValue::Value(Value::String(id.to_owned()))),
    ];
    let block = NewBlock { kind: "import".to_owned(), entries, blocks: Vec::new() };
    case.add_to_root(draft, block)
}
