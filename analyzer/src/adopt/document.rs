//! A JSON document inside a text: edited where it differs, its form kept.

use super::{
    change::{self, Act, Change},
    file::{SourceFile, Syntax},
    node::Segment,
};
use crate::{
    diff::diff,
    path::{Path, Step},
    read::text::embedded,
    value::Value,
};

/// The text with its document made to say what `wanted` does; `None` when either is no JSON
/// object, or when it holds what would be read as a template.
pub(super) fn edit(text: &str, wanted: &str) -> Option<String> {
    let template = |text: &str| text.contains("${") || text.contains("%{");
    if template(text) || template(wanted) {
        return None;
    }
    let (now, wanted) = (embedded(text)?, embedded(wanted)?);
    let (Value::Object(_), Value::Object(_)) = (&now, &wanted) else { return None };
    let mut file = SourceFile::new(String::new(), text.to_owned(), Syntax::JsonVariables);
    let changes = diff(&now, &wanted).into_iter().rev().filter(|it| it.noise.is_none());
    for difference in changes {
        let act = match difference.after {
            Some(value) => Act::Set { value, desired: None },
            None => Act::Remove,
        };
        file = change::apply(&file, &Change { at: segments(&difference.path), act }).ok()?;
    }
    Some(file.text.to_string())
}

fn segments(path: &Path) -> Vec<Segment> {
    let segment = |step: &Step| match step {
        Step::Key(key) => Segment::Name(key.clone()),
        Step::Index(index) => Segment::Index(*index),
    };
    path.0.iter().map(segment).collect()
}
