//! `ignore_changes`: somebody else is in charge of an attribute.

use super::{
    super::{
        change::{Act, Change, NewBlock, NewValue},
        draft::{Denied, Draft},
        literal::quote,
        node::{Body, Kind, Location, Node, Pick, Reference, Segment},
        trail,
    },
    Case, Remedy, whole,
};
use crate::{
    fate::Fate,
    path::{Step, is_identifier},
    proposal::{ProposalKind, Risk},
    report::{Finding, Outside},
};

pub(super) const REMEDY: Remedy = Remedy {
    kind: ProposalKind::Ignore,
    applies: |case| {
        let settled = case.finding.fate == Fate::Absorbed && !case.finding.one_way;
        !settled && case.finding.outside == Outside::Changed && !wanted(case.finding).is_empty()
    },
    edit: |case, draft| whole(draft, |draft| edit(case, draft)),
    describe,
};

fn describe(case: &Case<'_>) -> (Risk, String, Vec<String>) {
    let objects = match case.finding.block.instances {
        0 | 1 => String::new(),
        count => format!(" of all {count} objects of the block"),
    };
    let summary =
        format!("if something else is in charge of it, ignore its changes{objects} from now on");
    let command = case.command(&format!("apply -refresh-only -target={}", case.target()));
    (Risk::Low, summary, vec![command])
}

/// The attributes to ignore, each as steps from the resource.
fn wanted(finding: &Finding) -> Vec<&[Step]> {
    let attributes = finding.attributes.iter().filter(|it| it.fate != Fate::Absorbed);
    attributes.map(|it| it.steps.0.as_slice()).filter(|it| !it.is_empty()).collect()
}

fn edit(case: &Case<'_>, draft: &mut Draft<'_>) -> Result<(), Denied> {
    let block = &case.finding.block;
    let folder = draft.folder(&block.modules).map_err(|reason| Denied::new(reason, None))?;
    let labels = [block.resource_type.as_str(), block.name.as_str()];
    let own = case.declared(draft)?;
    let mut missing: Vec<String> = Vec::new();
    for steps in wanted(case.finding) {
        let path = written(&own.block.body, steps);
        let first = written(&own.block.body, &steps[..1]);
        let is_known = missing.contains(&path) || missing.contains(&first);
        if !is_known && !is_listed(lifecycle(&own.block.body).as_ref(), &path, &first) {
            missing.push(path);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let holder = trail::holder(draft, folder, ("resource", &labels), "lifecycle")?;
    let file = holder.file.path.clone();
    let body = &holder.block.body;
    let Some((inner, list)) = lifecycle(body) else {
        let value = NewValue::Codes(missing);
        let entries = vec![("ignore_changes".to_owned(), value)];
        let block = NewBlock { kind: "lifecycle".to_owned(), entries, blocks: Vec::new() };
        let at = [holder.location(), vec![Segment::Block(body.blocks.len())]].concat();
        return draft.apply(&file, &Change { at, act: Act::AddBlock(block) });
    };
    let mut at = [holder.location(), inner].concat();
    at.push(Segment::Name("ignore_changes".to_owned()));
    match list.map(|list| &list.kind) {
        None => draft.apply(&file, &Change { at, act: Act::Codes(missing) }),
        Some(Kind::List(_)) => {
            for path in missing {
                draft.apply(&file, &Change { at: at.clone(), act: Act::Append(path) })?;
            }
            Ok(())
        }
        Some(_) => Err(Denied::new("ignore_changes is no list", Some(holder.place()))),
    }
}

/// The lifecycle block in a body, and its list.
fn lifecycle(body: &Body) -> Option<(Location, Option<&Node>)> {
    if let Some(at) = body.position("lifecycle", &[]) {
        let entry = body.blocks[at].body.entry("ignore_changes");
        return Some((vec![Segment::Block(at)], entry.map(|it| &it.value)));
    }
    let mut at = vec![Segment::Name("lifecycle".to_owned())];
    let mut node = &body.entry("lifecycle")?.value;
    if let Kind::List(items) = &node.kind {
        at.push(Segment::Index(0));
        node = items.first()?;
    }
    let Kind::Object(entries) = &node.kind else { return None };
    let entry = super::super::node::named(entries, "ignore_changes");
    Some((at, entry.map(|it| &it.value)))
}

/// True when a list of ignored attributes has one of these, or everything.
fn is_listed(lifecycle: Option<&(Location, Option<&Node>)>, path: &str, first: &str) -> bool {
    let Some((_, Some(list))) = lifecycle else { return false };
    let says = |text: &str| text == "all" || text == path || text == first;
    let item = |node: &Node| match &node.kind {
        Kind::Reference(reference) => says(&spelled(reference)),
        Kind::Text(text) => says(text),
        _ => false,
    };
    match &list.kind {
        Kind::List(items) => items.iter().any(item),
        _ => item(list),
    }
}

fn spelled(reference: &Reference) -> String {
    let mut out = reference.root.clone();
    for pick in &reference.picks {
        match pick {
            Pick::Step(Step::Key(key)) => out.push_str(&format!("[{}]", quote(key))),
            Pick::Step(Step::Index(index)) => out.push_str(&format!("[{index}]")),
            Pick::EachKey | Pick::CountIndex => out.push_str("[*]"),
        }
    }
    out
}

/// A path as `ignore_changes` takes it: a key of a map by itself, of all else the attribute.
fn written(body: &Body, steps: &[Step]) -> String {
    let Some(Step::Key(first)) = steps.first() else { return String::new() };
    let is_map = || {
        let kind = body.entry(first).map(|entry| &entry.value.kind);
        match kind {
            Some(Kind::Object(_)) => true,
            Some(Kind::Call { function, .. }) => matches!(function.as_str(), "merge" | "tomap"),
            _ => false,
        }
    };
    match steps {
        [_, Step::Key(key)] if is_map() && is_identifier(first) => {
            format!("{first}[{}]", quote(key))
        }
        _ => first.clone(),
    }
}
