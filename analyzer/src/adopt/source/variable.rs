//! `var.x`: the argument of the module call, the file of variables that wins, or the default.

use super::{
    super::{
        draft::{Declared, Denied},
        file::SourceFile,
        node::{Kind, Location, Pick, Reference, Segment},
        trail::{Next, Stop, Trail},
    },
    Source,
    local::shared,
};
use crate::path::Step;

pub(super) const SOURCE: Source = Source {
    name: "variable",
    follow: |stop| {
        let Kind::Reference(reference) = &stop.node.kind else { return None };
        (reference.root == "var").then(|| follow(stop, reference))
    },
};

fn follow(stop: &Stop<'_>, reference: &Reference) -> Result<Next, Denied> {
    let Some((Pick::Step(Step::Key(name)), rest)) = reference.picks.split_first() else {
        return Err(stop.denied("it is set by a reference"));
    };
    let folder = stop.draft.folder(&stop.trail.calls).map_err(|reason| stop.denied(reason))?;
    let variable = stop.draft.declaration(folder, "variable", &[name]).ok();
    let variable =
        variable.ok_or_else(|| stop.denied(format!("var.{name} is not declared once")))?;
    let own = Some((variable.file.path.as_str(), &variable.block.range));
    let uses = stop.draft.uses(folder, ("var", name), own).len();
    if uses > 1 {
        return Err(stop.denied(format!("var.{name}, which sets it, is used {uses} times")));
    }
    let hidden = ["sensitive", "ephemeral"].into_iter().any(|mark| {
        let entry = variable.block.body.entry(mark);
        entry.is_some_and(|it| !matches!(it.value.kind, Kind::Bool(false)))
    });
    if hidden {
        return Err(stop.denied(format!("var.{name}, which sets it, is sensitive")));
    }
    let steps = stop.steps_of(rest).ok_or_else(|| stop.denied("it is set by a reference"))?;
    let shared = shared(stop, rest);
    let (calls, level, (file, at)) = given(stop, name, &variable)?;
    let file = file.to_owned();
    Ok(Next::Follow(vec![Trail { calls, file, steps, shared, level, ..stop.onward(at) }]))
}

/// In which module, at which level of instances, and where the value is given.
type Given<'a> = (Vec<String>, Option<usize>, (&'a str, Location));

fn given<'a>(stop: &'a Stop<'_>, name: &str, variable: &Declared<'a>) -> Result<Given<'a>, Denied> {
    let calls = &stop.trail.calls;
    if let Some((call, outer)) = calls.split_last() {
        let folder = stop.draft.folder(outer).map_err(|reason| stop.denied(reason))?;
        let blocks = stop.draft.blocks(folder, "module", &[call]);
        if let Some(block) = blocks.iter().rfind(|it| it.block.body.entry(name).is_some()) {
            let at = [block.location(), vec![Segment::Name(name.to_owned())]].concat();
            return Ok((outer.to_vec(), Some(outer.len()), (&block.file.path, at)));
        }
    } else if let Some(file) = winner(stop, name)? {
        return Ok((Vec::new(), None, (&file.path, vec![Segment::Name(name.to_owned())])));
    }
    if variable.block.body.entry("default").is_none() {
        let reason = format!("var.{name}, which sets it, has no default and stands in no file");
        return Err(stop.denied(reason));
    }
    let at = [variable.location(), vec![Segment::Name("default".to_owned())]].concat();
    Ok((calls.clone(), None, (&variable.file.path, at)))
}

/// The file of variables that wins: those with `auto` in their names over the others, the last by
/// name over the ones before.
fn winner<'a>(stop: &'a Stop<'_>, name: &str) -> Result<Option<&'a SourceFile>, Denied> {
    let mut files: Vec<&SourceFile> =
        stop.draft.files("").filter(|file| file.syntax.is_variables()).collect();
    files.sort_by_key(|file| {
        let is_auto = file.name().contains(".auto.tfvars");
        (is_auto, if is_auto { file.name() } else { "" }, file.syntax.is_json())
    });
    for file in files.into_iter().rev() {
        match &file.body {
            Ok(body) if body.entry(name).is_some() => return Ok(Some(file)),
            Ok(_) => {}
            Err(_) => {
                let reason = file.problem().unwrap_or_default();
                return Err(stop.denied(format!("it may be set in a file of variables: {reason}")));
            }
        }
    }
    Ok(None)
}
