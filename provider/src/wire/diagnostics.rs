//! Messages and paths as messages of the protocol.

use crate::framework::{Diagnostics, Path, Severity, Step};
use proto::tfplugin6::{
    AttributePath, Diagnostic,
    attribute_path::{self, step::Selector},
    diagnostic,
};

/// The messages, in their order.
pub fn diagnostics_to_proto(diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    diagnostics
        .iter()
        .map(|diagnostic| Diagnostic {
            severity: match diagnostic.severity {
                Severity::Error => diagnostic::Severity::Error.into(),
                Severity::Warning => diagnostic::Severity::Warning.into(),
            },
            summary: diagnostic.summary.clone(),
            detail: detail(&diagnostic.detail, &diagnostic.path),
            attribute: (!diagnostic.path.is_root())
                .then(|| path_to_proto(&place(&diagnostic.path))),
        })
        .collect()
}

/// The part of a path that the CLI can find in the configuration: a top-level argument, and one
/// element of it. Of a longer path it takes the last name for a top-level argument, and shows the
/// wrong line or none.
fn place(path: &Path) -> Path {
    let kept = match path.steps() {
        [_, Step::Index(_) | Step::Key(_), ..] => 2,
        _ => 1,
    };
    path.steps().iter().take(kept).fold(Path::root(), |place, step| place.join(step.clone()))
}

/// Says in words what the place does not show.
fn detail(detail: &str, path: &Path) -> String {
    let whole = path.to_string();
    if place(path) == *path || detail.contains(&format!("`{whole}`")) {
        return detail.to_owned();
    }
    format!("{detail}\n\nThis is about `{whole}`.")
}

/// The path, up to the first set: the protocol has no way into one.
pub fn path_to_proto(path: &Path) -> AttributePath {
    let selector = |step: &Step| match step {
        Step::Attribute(name) => Some(Selector::AttributeName(name.clone())),
        Step::Index(index) => Some(Selector::ElementKeyInt(i64::try_from(*index).ok()?)),
        Step::Key(key) => Some(Selector::ElementKeyString(key.clone())),
        Step::SetElement => None,
    };
    let steps = path
        .steps()
        .iter()
        .map_while(|step| Some(attribute_path::Step { selector: Some(selector(step)?) }));
    AttributePath { steps: steps.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cli_gets_a_place_that_it_finds_and_the_user_the_whole_path() {
        let limit = Path::attribute("limits").key("cpu");
        for (path, found, said) in [
            (Path::attribute("size"), "size", false),
            (limit.clone(), r#"limits["cpu"]"#, false),
            (limit.child("soft"), r#"limits["cpu"]"#, true),
            (Path::attributes(["worker", "command"]), "worker", true),
        ] {
            let (whole, place) = (path.to_string(), place(&path));
            assert_eq!(place.to_string(), found);
            let mut diagnostics = Diagnostics::new();
            diagnostics.error(path.clone(), "Wrong", "It is wrong.");
            diagnostics.error(path, "Wrong", format!("`{whole}` is wrong."));
            let [first, second] = diagnostics_to_proto(&diagnostics).try_into().unwrap();
            assert_eq!(first.attribute, Some(path_to_proto(&place)));
            assert_eq!(first.detail.contains(&format!("about `{whole}`")), said, "{first:?}");
            assert_eq!(second.detail, format!("`{whole}` is wrong."), "nothing is said twice");
        }
    }
}
