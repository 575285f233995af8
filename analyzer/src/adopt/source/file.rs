//! `file(...)`: the whole text of another file, when nothing else reads it.

use super::{
    super::{
        change::{Act, Change},
        configuration::file_path,
        document,
        draft::Denied,
        node::{Kind, Node},
        trail::{Next, Stop},
    },
    Source,
};
use crate::{diff::alike, value::Value};

pub(super) const SOURCE: Source = Source {
    name: "file",
    follow: |stop| match &stop.node.kind {
        Kind::Call { function, arguments } if function == "file" && arguments.len() == 1 => {
            Some(follow(stop, &arguments[0]))
        }
        _ => None,
    },
};

fn follow(stop: &Stop<'_>, argument: &Node) -> Result<Next, Denied> {
    let folder = stop.draft.folder(&stop.trail.calls).map_err(|reason| stop.denied(reason))?;
    let path = file_path(folder, &argument.kind)
        .ok_or_else(|| stop.denied("it is read from a file whose name is computed"))?;
    let file = stop.draft.file(&path);
    let file = file.ok_or_else(|| stop.denied("it is read from a file that is not there"))?;
    let readers = readers(stop, &path);
    if readers > 1 {
        return Err(stop.denied(format!("the file it is read from is read {readers} times")));
    }
    let Some(Value::String(wanted)) = &stop.trail.wanted else {
        return Err(stop.denied("it is read from a file, which holds texts only"));
    };
    let old = Value::String(file.text.to_string());
    if stop.trail.desired.as_ref().is_some_and(|it| !alike(Some(it), Some(&old))) {
        return Err(stop.denied("the file it is read from says something else than the plan"));
    }
    let text = document::edit(&file.text, wanted).unwrap_or_else(|| wanted.clone());
    let means = Value::String(wanted.clone());
    let change = Change { at: Vec::new(), act: Act::Rewrite { text, means } };
    Ok(Next::Edit(vec![(path, change)]))
}

/// How often the configuration reads a file.
fn readers(stop: &Stop<'_>, path: &str) -> usize {
    let mut readers = 0;
    for folder in stop.draft.base.folders.keys() {
        for body in stop.draft.files(folder).filter_map(|file| file.body.as_ref().ok()) {
            body.walk(&mut |node| {
                if let Kind::Call { arguments, .. } = &node.kind {
                    let paths = arguments.iter().filter_map(|it| file_path(folder, &it.kind));
                    readers += paths.filter(|it| it == path).count();
                }
            });
        }
    }
    readers
}
